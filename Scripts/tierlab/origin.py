#!/usr/bin/env python3
"""The origin of the lab: answers `/name?size=BYTES&delay=MS&vary=1` with bytes that follow from name, language and version.

    origin.py PORT

A body is a line with these three, repeated. `/_counts` tells the requests and the bytes since `/_reset`; `/_version?N` sets the
version of all responses. Each response is fresh for a day.
"""

import asyncio
import collections
import email.utils
import json
import sys


class Origin(asyncio.Protocol):
    version = "1"
    counts = collections.Counter()
    byte_count = 0

    def connection_made(self, transport):
        self.transport = transport
        self.buffer = b""

    def data_received(self, data):
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
            lines = head.decode("latin-1").split("\r\n")
            fields = dict((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines[1:]))
            self.answer(lines[0].split(" ")[1], fields)

    def answer(self, target, fields):
        name, _, query = target.partition("?")
        if name == "/_counts":
            return self.send(200, json.dumps({"requests": sum(Origin.counts.values()), "bytes": Origin.byte_count,
                                              "most": max(Origin.counts.values(), default=0)}).encode(), {})
        if name == "/_reset":
            Origin.counts.clear()
            Origin.byte_count = 0
            return self.send(200, b"", {})
        if name == "/_version":
            Origin.version = query
            return self.send(200, b"", {})
        options = dict(pair.split("=") for pair in query.split("&") if "=" in pair)
        size = int(options.get("size", 100))
        varies = options.get("vary") == "1"
        language = fields.get("accept-language", "") if varies else ""
        line = f"{name} {language} {Origin.version}\n".encode()
        body = (line * (size // len(line) + 1))[:size]
        extra = {"Cache-Control": "max-age=86400", "ETag": f'"{language}-{Origin.version}"', "X-Version": Origin.version}
        if varies:
            extra["Vary"] = "Accept-Language"
        status = 200
        if fields.get("if-none-match") == extra["ETag"]:
            status, body = 304, b""
        Origin.counts[target] += 1
        Origin.byte_count += len(body)
        delay = float(options.get("delay", 0)) / 1000
        if delay:
            asyncio.get_running_loop().call_later(delay, self.send, status, body, extra)
        else:
            self.send(status, body, extra)

    def send(self, status, body, fields):
        head = f"HTTP/1.1 {status} X\r\nDate: {email.utils.formatdate(usegmt=True)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        if status != 304:
            head += f"Content-Length: {len(body)}\r\n"
        self.transport.write(head.encode() + b"\r\n" + body)


async def main():
    server = await asyncio.get_running_loop().create_server(Origin, "0.0.0.0", int(sys.argv[1]), backlog=1000)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
