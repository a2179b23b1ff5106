#!/usr/bin/env python3
"""Relays between machines and an engine: one delays all bytes, one kills the writer at a chosen write, one notes the writes.

    relay.py PORT HOST PORT MS     delays each direction by half of MS, without a limit of the rate
"""

import asyncio
import hashlib
import os
import signal
import socket
import sys
import threading


class Delayed(asyncio.Protocol):
    """One direction of a connection. Delays each chunk and the end."""

    def __init__(self, delay):
        self.delay = delay
        self.peer = None
        self.waiting = []

    def connection_made(self, transport):
        self.transport = transport

    def join(self, peer):
        self.peer = peer
        for data in self.waiting:
            self.forward(data)

    def data_received(self, data):
        if self.peer is None:
            self.waiting.append(data)
        else:
            self.forward(data)

    def forward(self, data):
        asyncio.get_running_loop().call_later(self.delay, self.write, data)

    def write(self, data):
        if not self.peer.is_closing():
            self.peer.write(data)

    def connection_lost(self, _):
        if self.peer is not None:
            asyncio.get_running_loop().call_later(self.delay, self.peer.close)


async def serve_delayed(port, host, target, milliseconds):
    loop = asyncio.get_running_loop()
    delay = milliseconds / 2000

    async def connect(client):
        try:
            transport, server = await loop.create_connection(lambda: Delayed(delay), host, target)
        except OSError:
            client.transport.close()
            return
        client.join(transport)
        server.join(client.transport)

    class Client(Delayed):
        def connection_made(self, transport):
            super().connection_made(transport)
            loop.create_task(connect(self))

    server = await loop.create_server(lambda: Client(delay), "127.0.0.1", port)
    await server.serve_forever()


class Relay:
    """Relays requests and their responses. A subclass sees each of them, and may end the connection."""

    def __init__(self, host, target):
        self.address = (host, target)
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            with client, socket.create_connection(self.address) as server:
                requests, responses = client.makefile("rb"), server.makefile("rb")
                while self.exchange(requests, responses, client, server):
                    pass
        except OSError:
            pass

    def exchange(self, requests, responses, client, server):
        """Relays one request and its response. Returns false at the end of the connection."""
        head, length = read_head(requests)
        if not head:
            return False
        body = requests.read(length)
        moment = self.before(head, body)
        if moment == "within":
            server.sendall(head + body[:len(body) // 2])
        if moment in ("before", "within"):
            self.interrupt()
            return False
        server.sendall(head + body)
        answer, length = read_head(responses)
        self.after(head, answer)
        if moment == "after":
            self.interrupt()
            return False
        if head.startswith(b"HEAD ") or answer.startswith((b"HTTP/1.1 204", b"HTTP/1.1 304")):
            length = 0
        client.sendall(answer + responses.read(length))
        return bool(answer) and b"connection: close" not in answer.lower()

    def before(self, head, body):
        """Sees a request. Returns the moment of its interruption, or `None`."""

    def after(self, head, answer):
        """Sees the head of a response, which is empty at the end of the connection."""


class KillingRelay(Relay):
    """Counts the PUT requests on all connections, and kills a process at the n-th: before, within or after it."""

    def __init__(self, host, target):
        self.victim, self.number, self.moment, self.count = None, 0, "", 0
        super().__init__(host, target)

    def plan(self, victim, number, moment):
        with self.lock:
            self.victim, self.number, self.moment = victim, number, moment
            self.count = 0

    def before(self, head, body):
        if not head.startswith(b"PUT "):
            return None
        with self.lock:
            self.count += 1
            return self.moment if self.victim and self.count == self.number else None

    def interrupt(self):
        os.kill(self.victim, signal.SIGKILL)


class NotingRelay(Relay):
    """Notes the digests of the bodies of PUT requests, and the paths of those that the engine has acknowledged."""

    def __init__(self, host, target):
        self.digests, self.acknowledged = {}, set()
        super().__init__(host, target)

    def before(self, head, body):
        if head.startswith(b"PUT "):
            with self.lock:
                self.digests.setdefault(path(head), set()).add(hashlib.sha256(body).digest())

    def after(self, head, answer):
        if head.startswith(b"PUT ") and answer.startswith(b"HTTP/1.1 2"):
            with self.lock:
                self.acknowledged.add(path(head))

    def record_count(self):
        """The number of acknowledged records."""
        with self.lock:
            return sum("/v2/resp/" in path for path in self.acknowledged)


def path(head):
    return head.split(b" ", 2)[1].decode()


def read_head(stream):
    head, length = b"", 0
    while True:
        line = stream.readline()
        if not line:
            return b"", 0
        head += line
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        if line == b"\r\n":
            return head, length


if __name__ == "__main__":
    asyncio.run(serve_delayed(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
