"""An origin that speaks HTTP/2 over TLS by hand (RFC 9113). Each request gets the same answer.

usage: faulty_http2_origin.py PORT CERTIFICATE KEY ANSWER
"""

import socket
import ssl
import struct
import sys
import threading

DATA, HEADERS, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, CONTINUATION = 0, 1, 3, 4, 5, 6, 7, 9
END_STREAM, ACK, END_HEADERS = 1, 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def field(name, value):
    """A literal field without indexing, with a new name (RFC 7541 §6.2.2)."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def status(value):
    """The status, with the name from the static table."""
    return b"\x08" + bytes([len(value)]) + value


def answer(fault, stream):
    head = frame(HEADERS, END_HEADERS, stream, status(b"200") + field(b"cache-control", b"max-age=1000"))
    body = frame(DATA, END_STREAM, stream, b"body")
    early = status(b"103") + field(b"link", b"</a>")
    if fault.startswith("status="):
        return frame(HEADERS, END_HEADERS, stream, status(fault[7:].encode())) + body
    return {
        "whole": head + body,
        "trailers": head + frame(DATA, 0, stream, b"body")
        + frame(HEADERS, END_HEADERS | END_STREAM, stream, field(b"x-after", b"1")),
        "interim": frame(HEADERS, END_HEADERS, stream, early) + head + body,
        "interim-ends": frame(HEADERS, END_HEADERS | END_STREAM, stream, early),
        "no-status": frame(HEADERS, END_HEADERS, stream, field(b"x", b"y")) + body,
        "upper-case": frame(HEADERS, END_HEADERS, stream, status(b"200") + field(b"X-A", b"y")) + body,
        "bad-hpack": frame(HEADERS, END_HEADERS, stream, b"\xff" * 12),
        "bad-index": frame(HEADERS, END_HEADERS, stream, b"\xfe"),
        "push": frame(PUSH_PROMISE, END_HEADERS, stream, struct.pack(">I", 2) + b"\x82") + head + body,
        "data-first": body,
        "other-stream": frame(HEADERS, END_HEADERS, stream + 2, status(b"200")),
        "large-frame": frame(DATA, 0, stream, b"x" * 70_000),
        "reset": frame(RST_STREAM, 0, stream, struct.pack(">I", 2)),
        "reset-in-body": head + frame(DATA, 0, stream, b"bo") + frame(RST_STREAM, 0, stream, struct.pack(">I", 2)),
        "goaway": frame(GOAWAY, 0, 0, struct.pack(">II", 0, 2)),
        "goaway-in-body": head + frame(DATA, 0, stream, b"bo") + frame(GOAWAY, 0, 0, struct.pack(">II", stream, 2)),
        "closed": b"",
        "closed-in-body": head + frame(DATA, 0, stream, b"bo"),
        "short": frame(HEADERS, END_HEADERS, stream, status(b"200") + field(b"content-length", b"10")) + body,
        "long": frame(HEADERS, END_HEADERS, stream, status(b"200") + field(b"content-length", b"2")) + body,
        "endless-head": frame(HEADERS, 0, stream, status(b"200"))
        + frame(CONTINUATION, 0, stream, field(b"x", b"y" * 120) * 100) * 400,
        "garbage": b"\xff" * 100,
    }[fault]


def read(connection, count):
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve(connection):
    try:
        read(connection, 24)
        connection.sendall(frame(SETTINGS, 0, 0))
        while True:
            length, kind, flags, stream = struct.unpack(">IBBI", b"\0" + read(connection, 9))
            read(connection, length)
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0))
            elif kind == HEADERS:
                connection.sendall(answer(FAULT, stream))
                if FAULT.startswith(("closed", "goaway", "garbage", "bad")):
                    break
    except (EOFError, OSError):
        pass
    finally:
        connection.close()


PORT, CERTIFICATE, KEY, FAULT = sys.argv[1:]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
context.set_alpn_protocols(["h2"])
listener = socket.create_server(("127.0.0.1", int(PORT)), backlog=64)
while True:
    accepted, _ = listener.accept()

    def run(accepted=accepted):
        try:
            serve(context.wrap_socket(accepted, server_side=True))
        except OSError:
            accepted.close()

    threading.Thread(target=run, daemon=True).start()
