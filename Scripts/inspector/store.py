"""Stores for the check of the inspector: one that two processes use, and one with a million entries."""

import contextlib
import gzip
import os
import re
import sqlite3
import struct
import subprocess
import threading
import zlib

MILLION = 1_000_000
HOSTILE = b"<html><script>document.title='hostile'; parent.hostile = 1</script><img src=x onerror='hostile=1'></html>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>parent.hostile = 1</script></svg>"


def png():
    """Returns a picture of 64 by 64 dots."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + bytes(value for x in range(64) for value in (x * 4, y * 4, 160)) for y in range(64))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 64, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def origin_response(path, fields):
    """Returns status, content type and body for a path of the origin."""
    number = int((re.findall(r"\d+", path) or [0])[-1])
    if path.startswith("/broken"):
        return 503, "text/plain", b"broken"
    if path.startswith("/hostile.svg"):
        return 200, "image/svg+xml", SVG
    if path.startswith("/hostile"):
        return 200, "text/html; charset=utf-8", HOSTILE
    if path.startswith("/language"):
        return 200, "text/plain", f"language {fields.get('Accept-Language')}".encode()
    if path.startswith("/never"):
        return 200, "text/plain", b"never stored"
    if path.startswith("/binary"):
        return 200, "application/octet-stream", bytes(range(256)) * 20
    if path.startswith("/coded"):
        return 200, "application/json", gzip.compress(b'{"list": [%s]}' % b", ".join([b'"coded"'] * 50), mtime=0)
    if path.startswith("/picture"):
        return 200, "image/png", png()
    if path.startswith("/data"):
        return 200, "application/json", b'{"number": %d, "list": [%s]}' % (number, b", ".join([b"1"] * (50 + 40 * number)))
    if path.startswith("/style"):
        return 200, "text/css", b"a { color: red }\n" * (200 + 30 * number)
    return 200, "text/html; charset=utf-8", b"<p>A page of text.</p>\n" * (40 + number * 17)


def origin_fields(path):
    """Returns the fields that decide about storing and freshness."""
    if path.startswith("/page"):
        return {"Cache-Control": "max-age=3600, stale-while-revalidate=600", "Set-Cookie": "session=secret; HttpOnly"}
    if path.startswith("/data"):
        return {"Cache-Control": "max-age=1"}
    if path.startswith("/language"):
        return {"Cache-Control": "max-age=600", "Vary": "Accept-Language"}
    if path.startswith("/never"):
        return {"Cache-Control": "no-store"}
    if path.startswith("/coded"):
        return {"Cache-Control": "max-age=600", "Content-Encoding": "gzip", "Vary": "Accept-Language"}
    if path.startswith("/hostile"):
        return {"Cache-Control": "max-age=600", "X-Markup": "<img src=x onerror=alert(1)>" * 300}
    return {"Cache-Control": "max-age=86400"}


def url(path):
    """Returns the address of a path of the origin, which uses a separate host for each kind of content."""
    host = {"data": "api.example.org", "broken": "api.example.org", "style": "static.example.net",
            "picture": "images.example.net"}.get(path.split("/")[1], "news.example.com")
    return f"http://{host}{path}"


def environment(proxy):
    """Returns the environment variables that route every host to the origin of the check."""
    return {**os.environ, "http_proxy": proxy, "no_proxy": ""}


def run(tool, proxy, *arguments):
    return subprocess.run([tool, *arguments], env=environment(proxy), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False)


def urls():
    paths = ([f"/page/{number}?edition=morning" for number in range(60)] + [f"/data/{number}" for number in range(20)]
             + [f"/style/{number}" for number in range(15)] + [f"/picture/{number}" for number in range(25)]
             + ["/hostile", "/hostile.svg"])
    return [url(path) for path in paths]


def long_url(number):
    """Returns one of many addresses that differ only near their end."""
    return url(f"/page/{number}?" + "&".join(f"parameter{index}=value" for index in range(9)) + f"&page={number}")


@contextlib.contextmanager
def used_by_two(tool, directory, proxy):
    """Fills a store, and loads through it with two concurrent processes until the end."""
    where = ("--store", directory)
    run(tool, proxy, "get", url("/page/0"), *where)
    run(tool, proxy, "record", "on", *where)
    run(tool, proxy, "get", *urls(), *where)
    for language in ("de", "en"):
        run(tool, proxy, "get", url("/language"), url("/coded"), "-H", f"Accept-Language: {language}", *where)
    run(tool, proxy, "get", *map(long_url, range(100, 104)), url("/binary"), *where)
    has_ended = threading.Event()

    def load(part):
        while not has_ended.wait(0.2):
            run(tool, proxy, "get", *urls()[part::2], url(f"/broken/{part}"), url("/never"), *where)
            # Again and again, so that the latest events contain a removal.
            if part == 0:
                run(tool, proxy, "get", url("/removed"), *where)
                run(tool, proxy, "remove", url("/removed"), *where)

    threads = [threading.Thread(target=load, args=(part,)) for part in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        has_ended.set()
        for thread in threads:
            thread.join()


@contextlib.contextmanager
def serving(tool, directory, proxy, *options):
    """Starts the inspector, and returns the address that it prints and the process."""
    process = subprocess.Popen([tool, "serve", "--store", directory, *filter(None, options)], stdout=subprocess.PIPE, text=True,
                               env=environment(proxy))
    try:
        line = process.stdout.readline()
        yield re.search(r"http://\S+", line)[0], process
        if process.poll() is not None:
            raise RuntimeError(f"the inspector ended by itself with {process.returncode}")
    finally:
        process.terminate()
        process.wait()


def fill_with_a_million(tool, directory, proxy):
    """Copies the row of one entry, because a million puts would take minutes."""
    run(tool, proxy, "get", url("/page/1"), "--store", directory)
    index = next(os.path.join(directory, name) for name in os.listdir(directory) if name.endswith(".sqlite"))
    with contextlib.closing(sqlite3.connect(index)) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(entry)")]
        replaced = {
            "id": "(SELECT last_id FROM total) + n", "url": "NULL", "host": "'host' || (n % 500) || '.example.com'",
            "key": "'https://host' || (n % 500) || '.example.com/articles/' || printf('%07d', n) || '/index.html'",
            "content_type": "iif(n % 3 = 0, 'image/png', iif(n % 3 = 1, 'text/html; charset=utf-8', 'application/json'))",
        }
        values = ", ".join(replaced.get(name, f"entry.{name}") for name in columns)
        first = connection.execute("SELECT last_id FROM total").fetchone()[0]
        # The triggers count each row; the newest id is set at the end, so that it stays the same for all rows.
        connection.execute(f"""
            WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < {MILLION})
            INSERT INTO entry ({", ".join(columns)}) SELECT {values} FROM number, (SELECT * FROM entry LIMIT 1) AS entry""")
        connection.execute("UPDATE total SET last_id = max(last_id, ?)", (first + MILLION,))
