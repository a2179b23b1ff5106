import TestSupport

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
#endif

@Suite("LoopbackOrigin", .timeLimit(.minutes(5)))
struct LoopbackOriginTests {
    @Test("A connection serves requests until the client asks it to end")
    func keepAlive() async throws {
        let origin = try await LoopbackOrigin { .ok("\($0.serial)".utf8).undated() }
        let client = try await RawClient(origin)
        for serial in 1...3 {
            try await client.request("/\(serial)")
            #expect(try await client.head() == "HTTP/1.1 200 OK\r\nContent-Length: 1")
            #expect(try await client.bytes(1) == "\(serial)")
        }
        try await client.request("/", "Connection: close")
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close")
        #expect(await client.rest() == ("4", .closed))
        #expect(origin.counters.connections == 1)
        #expect(origin.counters.requests == 4)
        #expect(origin.counters.bodyBytes == 4)
    }

    @Test("Answers pipelined requests in order")
    func pipelining() async throws {
        let origin = try await LoopbackOrigin { .ok($0.path.utf8).undated() }
        let client = try await RawClient(origin)
        try await client.send(
            "GET /a HTTP/1.1\r\nHost: o\r\n\r\n"
                + "GET /b HTTP/1.1\r\nHost: o\r\nConnection: close\r\n\r\n")
        _ = try await client.head()
        #expect(try await client.bytes(2) == "/a")
        _ = try await client.head()
        #expect(await client.rest() == ("/b", .closed))
    }

    @Test("Serves connections concurrently")
    func concurrency() async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            await gate.wait()
            return .ok("x".utf8)
        }
        let clients = [try await RawClient(origin), try await RawClient(origin), try await RawClient(origin)]
        for client in clients { try await client.request() }
        await gate.reached(3)
        #expect(gate.waiters == 3)
        gate.open()
        for client in clients { #expect(try await client.head().hasPrefix("HTTP/1.1 200 OK")) }
        #expect(origin.counters.connections == 3)
    }

    @Test(
        "HEAD gets the head of GET and no body",
        arguments: [
            (OriginReply.Delivery.complete, "Content-Length: 4"),
            (.chunked(bytes: 1), "Transfer-Encoding: chunked"),
            (.declaring(length: 9), "Content-Length: 9"),
            (.resetting(afterBytes: 2), "Content-Length: 4"),
        ])
    func head(delivery: OriginReply.Delivery, framing: String) async throws {
        let origin = try await LoopbackOrigin { _ in .ok("body".utf8).delivered(delivery).undated() }
        let client = try await RawClient(origin)
        for _ in 1...2 {
            try await client.request(method: "HEAD")
            #expect(try await client.head() == "HTTP/1.1 200 OK\r\n\(framing)")
        }
        #expect(origin.counters.bodyBytes == 0)
    }

    @Test("204 and 304 have neither body nor length", arguments: [204, 304])
    func bodiless(code: Int) async throws {
        let status = HTTPResponse.Status(code: code)
        let origin = try await LoopbackOrigin { _ in .status(status, body: "body".utf8).undated() }
        let client = try await RawClient(origin)
        for _ in 1...2 {
            try await client.request()
            #expect(try await client.head() == "HTTP/1.1 \(code) \(status.reasonPhrase)")
        }
        #expect(origin.counters.notModified == (code == 304 ? 2 : 0))
    }

    @Test("Records requests with method, path, fields and body")
    func recording() async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let client = try await RawClient(origin)
        try await client.send(
            "POST /a?b=c HTTP/1.1\r\nHost: o\r\nX-Twice: 1\r\nX-Twice: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n")
        _ = try await client.head()
        let request = try #require(origin.requests.first)
        let name = try #require(HTTPField.Name("X-Twice"))
        #expect(request.serial == 1)
        #expect(request.method == .post)
        #expect(request.path == "/a?b=c")
        #expect(request.fields[values: name] == ["1", "2"])
        #expect(request.body == Array("hello".utf8))
        #expect(origin.requests(to: "/a?b=c") == [request])
        #expect(origin.requests(to: "/a") == [])

        origin.resetRequests()
        #expect(origin.requestCount == 0)
        try await client.request()
        _ = try await client.head()
        #expect(origin.requests.map(\.serial) == [2])
        #expect(origin.counters.requests == 2)
    }

    @Test("Refuses a body over the limit without keeping it; the connection continues")
    func bodyLimit() async throws {
        let origin = try await LoopbackOrigin(requestBodyLimit: 4) { .ok($0.body) }
        let client = try await RawClient(origin)
        try await client.send("PUT / HTTP/1.1\r\nHost: o\r\nContent-Length: 5\r\n\r\nhello")
        #expect(try await client.head().hasPrefix("HTTP/1.1 413 "))
        try await client.send("PUT / HTTP/1.1\r\nHost: o\r\nContent-Length: 4\r\n\r\nhell")
        #expect(try await client.head().hasPrefix("HTTP/1.1 200 "))
        #expect(try await client.bytes(4) == "hell")
        #expect(origin.requests.map(\.body.count) == [4, 4])
    }

    @Test("A client that sends Expect: 100-continue is told to continue")
    func expectContinue() async throws {
        let origin = try await LoopbackOrigin { .ok($0.body) }
        let client = try await RawClient(origin)
        try await client.request(method: "PUT", "Content-Length: 2", "Expect: 100-continue")
        #expect(try await client.head() == "HTTP/1.1 100 Continue")
        try await client.send("hi")
        #expect(try await client.head().hasPrefix("HTTP/1.1 200 "))
    }

    @Test("Date comes from the origin's clock, unless the reply has its own or omits it")
    func date() async throws {
        let origin = try await LoopbackOrigin(date: { OriginDate.text(secondsSince1970: 784_111_777) }) { request in
            switch request.path {
            case "/own": .status(.ok, fields: [.date: "yesterday"])
            case "/none": .ok().undated()
            default: .ok()
            }
        }
        let client = try await RawClient(origin)
        let head = "HTTP/1.1 200 OK"
        try await client.request("/")
        #expect(try await client.head() == "\(head)\r\nContent-Length: 0\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT")
        try await client.request("/own")
        #expect(try await client.head() == "\(head)\r\nDate: yesterday\r\nContent-Length: 0")
        try await client.request("/none")
        #expect(try await client.head() == "\(head)\r\nContent-Length: 0")
    }

    @Test("Invalid HTTP ends the connection")
    func malformedRequest() async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let client = try await RawClient(origin)
        try await client.send("no such thing\r\n\r\n")
        #expect(await client.rest() == ("", .closed))
        #expect(origin.requestCount == 0)
    }

    @Test("A reply is cancelled when its client disconnects")
    func clientLeaves() async throws {
        let (never, left) = (Gate(), Gate())
        let origin = try await LoopbackOrigin { _ in
            await never.wait()
            if Task.isCancelled { left.open() }
            return .ok()
        }
        let client = try await RawClient(origin)
        try await client.request()
        await never.reached(1)
        try await client.close()
        await left.wait()
    }

    @Test("Stopping ends every connection, also while a reply is pending, and accepts no more")
    func stop() async throws {
        let never = Gate()
        let origin = try await LoopbackOrigin { _ in
            await never.wait()
            return .ok()
        }
        let (waiting, idle) = (try await RawClient(origin), try await RawClient(origin))
        try await waiting.request()
        await never.reached(1)
        await eventually { origin.counters.connections == 2 }
        await origin.stop()
        await origin.stop()
        #expect(await waiting.rest().text == "")
        #expect(await idle.rest().text == "")
        // Connecting may succeed: another server may have taken the port.
        let late = try? await RawClient(origin)
        #expect(origin.counters.connections == 2)
        try await late?.close()
    }

    @Test("URLSession can use it", arguments: [OriginReply.Delivery.complete, .chunked(bytes: 1000), .closeDelimited])
    func urlSession(delivery: OriginReply.Delivery) async throws {
        let body = [UInt8](repeating: 7, count: 100_000)
        let origin = try await LoopbackOrigin { _ in .ok(body, contentType: "image/png").delivered(delivery) }
        let url = try #require(URL(string: origin.url("picture")))
        let (data, response) = try await URLSession.shared.data(from: url)
        #expect(data == Data(body))
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        #expect(response.mimeType == "image/png")
        #expect(origin.requests(to: "/picture").count == 1)
    }
}
