"""Python's diskcache, for the comparison. Reads one command per line, and answers each with microseconds per operation.

fill COUNT SIZE | put FIRST COUNT SIZE | get FIRST COUNT SIZE | open COUNT | evict COUNT SIZE
"""

import os
import shutil
import sys
import time

import diskcache

directory = sys.argv[1]
head = "Content-Type: image/jpeg\nCache-Control: public, max-age=31536000\n" * 4
unlimited = 1 << 50
filled = 0


def open_cache(path):
    return diskcache.Cache(path, eviction_policy="least-recently-used", size_limit=unlimited, cull_limit=0)


def url(number):
    return f"https://host{number % 997}.example.com/articles/2026/{number}/image-large.jpg?v={number % 7}"


def put(cache, numbers, size):
    pattern = bytes(i * 31 % 256 for i in range(256)) * (size // 256)
    bodies = [number.to_bytes(8, "little") + pattern[8:] for number in numbers]
    start = time.perf_counter()
    for number, body in zip(numbers, bodies):
        cache.set(url(number), body, tag=head)
    return time.perf_counter() - start


def get(cache, first, count):
    numbers = [number * 7919 % filled for number in range(first, first + count)]
    start = time.perf_counter()
    for number in numbers:
        body, tag = cache.get(url(number), tag=True)
        if body is None:
            sys.exit("a miss")
    return time.perf_counter() - start


def open_often(count):
    total = 0
    for _ in range(count):
        start = time.perf_counter()
        opened = open_cache(os.path.join(directory, "cache"))
        opened.close()
        total += time.perf_counter() - start
    return total


def evict(count, size):
    path = os.path.join(directory, "evict")
    shutil.rmtree(path, ignore_errors=True)
    victim = open_cache(path)
    put(victim, range(count), size)
    victim.reset("size_limit", victim.volume() // 2)
    start = time.perf_counter()
    removed = victim.cull()
    took = time.perf_counter() - start
    victim.close()
    return took / max(1, removed)


cache = open_cache(os.path.join(directory, "cache"))
for line in sys.stdin:
    command, *arguments = line.split()
    arguments = [int(argument) for argument in arguments]
    if command == "fill":
        filled = arguments[0]
        put(cache, range(filled), arguments[1])
        seconds = 0
    elif command == "put":
        first, count, size = arguments
        # Uses separate numbers, so that the filled entries stay unchanged.
        seconds = put(cache, range(10_000_000 + first, 10_000_000 + first + count), size) / count
    elif command == "get":
        seconds = get(cache, arguments[0], arguments[1]) / arguments[1]
    elif command == "open":
        seconds = open_often(arguments[0]) / arguments[0]
    elif command == "evict":
        seconds = evict(*arguments)
    else:
        sys.exit(f"unknown command {command}")
    print(seconds * 1e6, flush=True)
