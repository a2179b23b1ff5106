"""Compares the bytes that clients send and receive with those that the origin receives and sends."""

import os
import re
import signal
import socket
import struct
import sys
import threading
import time

from wire_origin import Connection, Origin

port, proxy, proxy_pid = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
address = ("127.0.0.1", int(proxy.rsplit(":", 1)[1]))
host = b"Host: example.test\r\n"
origin = Origin(port)
tests = []


def test(function):
    tests.append(function)
    return function


def connect():
    connection = Connection(socket.create_connection(address))
    connection.socket.settimeout(10)
    return connection


def ask(request, head_only=False):
    connection = connect()
    connection.send(request)
    response = connection.read_response(head_only)
    connection.close()
    return response


def get(path, fields=b""):
    return ask(b"GET " + path + b" HTTP/1.1\r\n" + host + fields + b"\r\n")


def wait_for(path):
    while not origin.seen(path):
        time.sleep(0.01)


def ok(content, fields=b""):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%s\r\n%s" % (len(content), fields, content)


# RFC 9110 §6.6.1: a recipient adds the date of receipt to a response without Date.
DATE = b"Date: Sun, 06 Nov 1994 08:49:37 GMT"


def sent_by_origin(fields):
    """Returns the lines without Cache-Status (RFC 9211), the only field that the cache adds to a response with Date."""
    return fields[:-1] if fields[-1].startswith(b"Cache-Status: ") else fields


def lines_of(head):
    return head.split(b"\r\n")[1:-2]


@test
def fields_pass_unchanged_both_ways():
    sent = [
        b"Host: example.test", b"X-Second: 2", b"accept: text/plain", b"X-First: 1", b"x-second: two", b"Cookie: a=b",
        b"Cookie: c=d", "X-Text: na\u00efve".encode(), b"X-Empty:",
    ]
    answered = [
        b"X-B: 1", b"Set-Cookie: a=b; Path=/", b"date: Tue, 15 Nov 1994 08:12:31 GMT", b"SET-COOKIE: c=d",
        "X-Text: na\u00efve".encode(), b"x-a: 2", b"Content-Length: 2",
    ]
    origin.scripts[b"/fields?a=%2F&b"] = b"HTTP/1.1 200 OK\r\n" + b"\r\n".join(answered) + b"\r\n\r\nhi"
    status, fields, content = ask(b"GET /fields?a=%2F&b HTTP/1.1\r\n" + b"\r\n".join(sent) + b"\r\n\r\n")
    assert (status, content) == (200, b"hi"), (status, content)
    assert sent_by_origin(fields) == answered, fields
    (head,) = origin.seen(b"/fields")
    assert head.startswith(b"GET /fields?a=%2F&b HTTP/1.1\r\n"), head
    got = [line.replace(b"X-Empty: ", b"X-Empty:") for line in lines_of(head)]
    assert got == sent, got


@test
def hop_by_hop_fields_stay_on_their_hop():
    origin.scripts[b"/hop"] = ok(b"", b"Connection: keep-alive, X-Mine\r\nKeep-Alive: timeout=5\r\nX-Mine: 1\r\nX-Kept: 2\r\n" + DATE + b"\r\n")
    status, fields, _ = get(
        b"/hop", b"Connection: X-Theirs, close\r\nX-Theirs: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Other: 2\r\n"
        b"Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eA==\r\nKeep-Alive: 1\r\n")
    assert fields.pop() == b"Connection: close", fields
    assert status == 200 and sent_by_origin(fields) == [b"Content-Length: 0", b"X-Kept: 2", DATE], fields
    (head,) = origin.seen(b"/hop")
    names = {line.split(b":")[0].lower() for line in lines_of(head)} - {b"connection"}
    assert names == {b"host", b"x-other"}, names


@test
def pipelined_requests_are_answered_in_order():
    def slow(connection):
        time.sleep(0.2)
        connection.send(ok(b"first"))

    origin.scripts |= {b"/slow": slow, b"/quick": ok(b"second"), b"/third": ok(b"third")}
    connection = connect()
    connection.send(b"".join(b"GET %s HTTP/1.1\r\n%s\r\n" % (path, host) for path in (b"/slow", b"/quick", b"/third")))
    assert [connection.read_response()[2] for _ in range(3)] == [b"first", b"second", b"third"]
    connection.send(b"\r\n\r\nGET /quick HTTP/1.1\r\n" + host + b"\r\n")
    assert connection.read_response()[2] == b"second"
    assert len(origin.seen(b"/slow", b"/quick", b"/third")) == 4


@test
def a_client_of_http_1_0_receives_no_chunks():
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    origin.scripts |= {b"/chunked": chunked, b"/length": ok(b"abc")}
    for path, wanted in ((b"/chunked", b"abcde"), (b"/length", b"abc")):
        connection = connect()
        connection.send(b"GET " + path + b" HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        head, _, content = connection.read_to_end().partition(b"\r\n\r\n")
        assert content == wanted and b"chunked" not in head.lower(), (head, content)
    status, fields, content = get(b"/chunked")
    assert content == b"abcde" and b"Transfer-Encoding: chunked" in fields, fields


@test
def responses_without_content_end_with_their_head():
    dated = b"ETag: \"1\"\r\nContent-Length: 5\r\n"
    origin.scripts |= {
        b"/head": b"HTTP/1.1 200 OK\r\n" + dated + b"\r\n",
        b"/204": b"HTTP/1.1 204 No Content\r\nX-A: 1\r\n" + DATE + b"\r\n\r\n",
        b"/304": b"HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n",
    }
    connection = connect()
    connection.send(b"HEAD /head HTTP/1.1\r\n" + host + b"\r\n")
    status, fields, _ = connection.read_response(head_only=True)
    assert status == 200 and b"Content-Length: 5" in fields, fields
    connection.send(b"GET /204 HTTP/1.1\r\n" + host + b"\r\n")
    status, fields, _ = connection.read_response()
    assert status == 204 and sent_by_origin(fields) == [b"X-A: 1", DATE], fields
    connection.send(b"GET /304 HTTP/1.1\r\n" + host + b"If-None-Match: \"1\"\r\n\r\n")
    assert connection.read_response()[0] == 304
    connection.send(b"GET /204 HTTP/1.1\r\n" + host + b"\r\n")
    assert connection.read_response()[0] == 204


@test
def content_streams_to_the_origin_in_either_framing():
    arrived = []

    def counted(connection):
        head = origin.requests.queue[-1]
        length = re.search(rb"content-length: (\d+)", head, re.I)
        arrived.append(connection.read(int(length[1])) if length else connection.read_chunks())
        connection.send(ok(b"taken"))

    origin.scripts[b"/upload"] = counted
    body = os.urandom(3_000_000)
    known = b"POST /upload HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n" % (host, len(body))
    assert ask(known + body)[2] == b"taken"
    parts = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(body[i : i + 70_000]), body[i : i + 70_000])
                     for i in range(0, len(body), 70_000))
    unknown = b"PUT /upload HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n"
    connection = connect()
    connection.send(unknown + parts + b"0\r\nX-Trailer: 1\r\n\r\n" + b"POST /upload HTTP/1.1\r\n" + host
                    + b"Content-Length: 0\r\n\r\n")
    assert connection.read_response()[2] == b"taken" and connection.read_response()[2] == b"taken"
    assert arrived == [body, body, b""], [len(part) for part in arrived]
    heads = origin.seen(b"/upload")
    assert re.search(rb"content-length: 3000000\r", heads[0], re.I), heads[0]
    assert re.search(rb"content-length: 0\r", heads[2], re.I), heads[2]
    assert re.search(rb"transfer-encoding: chunked\r", heads[1], re.I), heads[1]


@test
def the_proxy_answers_expect_when_it_reads_content():
    def takes(connection):
        connection.send(ok(connection.read(5)))

    origin.scripts |= {b"/wanted": takes}
    connection = connect()
    head = b" HTTP/1.1\r\n" + host + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n"
    connection.send(b"POST /wanted" + head)
    assert connection.read_until(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.send(b"12345")
    assert connection.read_response()[2] == b"12345"
    # The proxy does not request content that it will not read. The connection ends, because the content may or may not
    # follow.
    connection.send(b"OPTIONS *" + head)
    status, fields, _ = connection.read_response()
    assert status == 501 and b"Connection: close" in fields and connection.read_to_end() == b""


@test
def interim_responses_reach_clients_of_http_1_1():
    interim = (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nX-Bytes: \xe9\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\nContent-Length: 0\r\n\r\n")
    released = threading.Event()

    def hints(connection):
        connection.send(interim)
        released.wait(10)
        connection.send(ok(b"page", b"Cache-Control: max-age=60\r\n"))

    origin.scripts |= {b"/hints": hints, b"/hints-1.0": interim + ok(b"page"), b"/next": ok(b"next")}
    connection = connect()
    connection.send(b"GET /hints HTTP/1.1\r\n" + host + b"\r\n")
    # They arrive immediately: the origin has not sent the final head.
    assert connection.read_response() == (103, [b"Link: </a.css>; rel=preload", b"X-Bytes: \xe9"], b"")
    assert connection.read_response() == (102, [], b"")
    released.set()
    status, _, content = connection.read_response()
    assert (status, content) == (200, b"page"), status
    # A hit has no interim responses, and the connection stays open.
    connection.send(b"GET /hints HTTP/1.1\r\n" + host + b"\r\nGET /next HTTP/1.1\r\n" + host + b"\r\n")
    assert connection.read_response()[::2] == (200, b"page") and connection.read_response()[::2] == (200, b"next")
    connection = connect()
    connection.send(b"GET /hints-1.0 HTTP/1.0\r\n\r\n")
    assert connection.read_to_end().startswith(b"HTTP/1.1 200 OK\r\n")


@test
def malformed_and_ambiguous_requests_are_rejected():
    post = b"POST /r HTTP/1.1\r\n" + host
    refused = {
        b"GET /r HTTP/1.1\r\n\r\n": 400,
        b"GET /r HTTP/1.1\r\n" + host + host + b"\r\n": 400,
        b"GET /r HTTP/2.0\r\n" + host + b"\r\n": 505,
        b"GET /r HTTP/1.1 \r\n" + host + b"\r\n": 400,
        b"GET  /r HTTP/1.1\r\n" + host + b"\r\n": 400,
        b"GET /r r HTTP/1.1\r\n" + host + b"\r\n": 400,
        b"GET /r#f HTTP/1.1\r\n" + host + b"\r\n": 400,
        b"GET r HTTP/1.1\r\n" + host + b"\r\n": 400,
        b"GET /r HTTP/1.1\n" + host + b"\r\n": 400,
        b"GET /r HTTP/1.1\r\n" + host + b"A : b\r\n\r\n": 400,
        b"GET /r HTTP/1.1\r\n" + host + b"A: b\r\n c\r\n\r\n": 400,
        b"GET /r HTTP/1.1\r\n" + host + b"A: b\0c\r\n\r\n": 400,
        b"GET /r HTTP/1.1\r\n" + host + b"A: b\x01c\r\n\r\n": 400,
        b"GET /r HTTP/1.1\r\n" + host + b"A: b\rc\r\n\r\n": 400,
        b"G(T /r HTTP/1.1\r\n" + host + b"\r\n": 400,
        post + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\n": 400,
        post + b"Content-Length: +1\r\n\r\n": 400,
        post + b"Content-Length: 1, 1\r\n\r\n": 400,
        post + b"Content-Length: 99999999999999999999\r\n\r\n": 400,
        post + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
        post + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
        post + b"Transfer-Encoding: gzip, chunked\r\n\r\n": 501,
        b"POST /r HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n": 400,
        b"CONNECT example.test:443 HTTP/1.1\r\n" + host + b"\r\n": 501,
        b"GET ftp://example.test/ HTTP/1.1\r\n" + host + b"\r\n": 501,
        b"GET http://u:p@example.test/ HTTP/1.1\r\n" + host + b"\r\n": 400,
        b"TRACE /r HTTP/1.1\r\n" + host + b"Max-Forwards: 0\r\n\r\n": 501,
        b"GET /r HTTP/1.1\r\n" + host + b"A: " + b"x" * 70_000 + b"\r\n\r\n": 431,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n": 400,
    }
    for request, wanted in refused.items():
        connection = connect()
        connection.send(request)
        status, fields, content = connection.read_response()
        assert status == wanted, (request[:80], status, wanted)
        assert connection.read_to_end() == b"" and b"Connection: close" in fields, request[:80]
    assert origin.seen(b"/r") == []
    for broken in (b"x\r\n", b"-1\r\n", b"5\r\nabcdefg", b"5\n12345\r\n", b"1 x\r\n", b"ffffffffffffffff\r\n"):
        origin.scripts[b"/r"] = lambda connection: connection.read_chunks()
        status, _, _ = ask(post + b"Transfer-Encoding: chunked\r\n\r\n" + broken)
        assert status == 400, (broken, status)
    origin.seen()


@test
def the_host_is_a_part_of_the_key():
    contents = iter([b"a", b"b"])
    origin.scripts[b"/hosts"] = lambda connection: connection.send(ok(next(contents), b"Cache-Control: max-age=60\r\n"))
    for name, content in [(b"a.test", b"a"), (b"b.test", b"b"), (b"A.test:80", b"a"), (b"b.test", b"b")]:
        assert ask(b"GET /hosts HTTP/1.1\r\nHost: " + name + b"\r\n\r\n")[2] == content, name
    assert ask(b"GET http://b.test/hosts HTTP/1.1\r\nHost: a.test\r\n\r\n")[2] == b"b"
    heads = origin.seen(b"/hosts")
    assert [re.search(rb"Host: (.*)\r", head)[1] for head in heads] == [b"a.test", b"b.test"], heads


@test
def an_absolute_target_names_its_origin():
    origin.scripts[b"/absolute?x"] = ok(b"here")
    target = b"http://127.0.0.1:%d/absolute?x" % port
    assert ask(b"GET " + target + b" HTTP/1.1\r\nHost: elsewhere\r\nA: b\r\n\r\n")[2] == b"here"
    (head,) = origin.seen(b"/absolute")
    assert head.startswith(b"GET /absolute?x HTTP/1.1\r\n") and b"Host: 127.0.0.1:%d\r\n" % port in head, head


@test
def a_disconnected_client_ends_the_request():
    ended = threading.Event()

    def hang(connection):
        if connection.socket.recv(1) == b"":
            ended.set()
        raise ConnectionResetError

    origin.scripts[b"/hang"] = hang
    connection = connect()
    connection.send(b"GET /hang HTTP/1.1\r\n" + host + b"\r\n")
    wait_for(b"/hang")
    connection.close()
    assert ended.wait(5), "the request to the origin continues"
    origin.seen()


@test
def only_a_safe_request_is_sent_once_more():
    def leave(connection):
        connection.close()
        raise ConnectionResetError

    origin.scripts |= {b"/leave": leave, b"/stay": ok(b"1")}
    # RFC 9110 §9.2.2. The second request uses a kept-alive connection, which the origin may have closed before.
    for method, count in ((b"GET", 3), (b"POST", 2), (b"DELETE", 2)):
        assert get(b"/stay")[2] == b"1"
        content = b"Content-Length: 3\r\n\r\nabc" if method == b"POST" else b"\r\n"
        status, _, _ = ask(method + b" /leave HTTP/1.1\r\n" + host + content)
        assert status == 502, status
        assert len(origin.seen(b"/leave", b"/stay")) == count, method


@test
def a_client_detects_a_truncated_response():
    def broken(head):
        def script(connection):
            connection.send(head + b"abc")
            time.sleep(0.1)
            connection.close()
            raise ConnectionResetError

        return script

    origin.scripts |= {
        b"/short": broken(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 10\r\n\r\n"),
        b"/chunk": broken(b"HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n"),
    }
    for path in (b"/short", b"/chunk"):
        for version in (b"1.1", b"1.0"):
            try:
                status, _, content = ask(b"GET " + path + b" HTTP/" + version + b"\r\n" + host + b"\r\n")
            except (EOFError, ConnectionResetError):
                continue
            assert False, (path, version, status, content)
    # The cache stored no part of these responses.
    assert len(origin.seen(b"/short", b"/chunk")) == 4


@test
def a_received_response_is_stored():
    fresh = b"Cache-Control: max-age=60\r\nDate: %s\r\n" % time.strftime(
        "%a, %d %b %Y %H:%M:%S GMT", time.gmtime()).encode()
    for number in range(50):
        path = b"/stored/%d" % number
        origin.scripts[path] = ok(b"x" * 1000, fresh)
        assert get(path)[2] == b"x" * 1000
        assert get(path)[2] == b"x" * 1000
    assert len(origin.seen(*(b"/stored/%d" % number for number in range(50)))) == 50


@test
def a_slow_reader_stops_the_sender():
    sent = {"down": 0, "up": 0}
    go_on = threading.Event()
    total = 64 << 20

    def down(connection):
        connection.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nCache-Control: no-store\r\n\r\n" % total)
        while sent["down"] < total:
            connection.send(b"x" * 65536)
            sent["down"] += 65536

    def up(connection):
        go_on.wait(10)
        connection.read(total)
        connection.send(ok(b"taken"))

    origin.scripts |= {b"/down": down, b"/up": up}
    connection = connect()
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
    connection.send(b"GET /down HTTP/1.1\r\n" + host + b"\r\n")
    time.sleep(1)
    assert sent["down"] < total / 2, f"{sent['down']} bytes sent to a client that reads none"
    assert len(connection.read_response()[2]) == total

    def upload(connection):
        connection.send(b"PUT /up HTTP/1.1\r\n" + host + b"Content-Length: %d\r\n\r\n" % total)
        while sent["up"] < total:
            connection.send(b"x" * 65536)
            sent["up"] += 65536

    connection = connect()
    uploading = threading.Thread(target=upload, args=(connection,), daemon=True)
    uploading.start()
    time.sleep(1)
    assert sent["up"] < total / 2, f"{sent['up']} bytes sent to an origin that reads none"
    go_on.set()
    assert connection.read_response()[2] == b"taken"
    origin.seen()


@test
def many_clients_connect_and_reset():
    origin.scripts[b"/many"] = ok(b"y" * 20_000, b"Cache-Control: no-store\r\n")

    def client(number):
        for turn in range(20):
            connection = connect()
            connection.send(b"GET /many HTTP/1.1\r\n" + host + b"\r\n")
            if (number + turn) % 3 == 0:
                linger = struct.pack("ii", 1, 0)
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            else:
                assert len(connection.read_response()[2]) == 20_000
            connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert get(b"/many")[0] == 200
    origin.seen()


@test
def the_end_waits_for_a_request_in_progress():
    go_on = threading.Event()

    def slow(connection):
        go_on.wait(10)
        connection.send(ok(b"whole"))

    origin.scripts[b"/end"] = slow
    idle, busy = connect(), connect()
    busy.send(b"GET /end HTTP/1.1\r\n" + host + b"\r\n")
    wait_for(b"/end")
    os.kill(proxy_pid, signal.SIGTERM)
    assert idle.read_to_end() == b""
    try:
        connect().read_until(b"x")
        assert False, "the proxy accepted a client"
    except OSError:
        pass
    go_on.set()
    status, fields, content = busy.read_response()
    assert (status, content) == (200, b"whole") and b"Connection: close" in fields, fields
    assert busy.read_to_end() == b""


for function in tests:
    began = time.monotonic()
    origin.seen()
    try:
        function()
    except BaseException:
        print(f"FAILED: {function.__name__.replace('_', ' ')}", flush=True)
        raise
    print(f"{function.__name__.replace('_', ' ')}: {time.monotonic() - began:.2f} s", flush=True)
