import TestSupport

@Suite("OriginReply.Delivery", .timeLimit(.minutes(5)))
struct OriginDeliveryTests {
    @Test("chunked")
    func chunked() async throws {
        let client = try await client(of: .chunked(bytes: 4), body: "hello, world!")
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked")
        let framed = "4\r\nhell\r\n4\r\no, w\r\n4\r\norld\r\n1\r\n!\r\n0\r\n\r\n"
        #expect(try await client.bytes(framed.utf8.count) == framed)
        try await client.request()
        _ = try await client.head()
    }

    @Test("chunked, with a client that asks to close: sends the last chunk")
    func chunkedThenClosed() async throws {
        let client = try await client(of: .chunked(bytes: 9), body: "hello", "Connection: close")
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close")
        #expect(await client.rest() == ("5\r\nhello\r\n0\r\n\r\n", .closed))
    }

    @Test("chunked, without a body: only the last chunk")
    func chunkedEmpty() async throws {
        let client = try await client(of: .chunked(bytes: 4), body: "")
        _ = try await client.head()
        #expect(try await client.bytes(5) == "0\r\n\r\n")
    }

    @Test("closeDelimited")
    func closeDelimited() async throws {
        let client = try await client(of: .closeDelimited)
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nConnection: close")
        #expect(await client.rest() == ("hello", .closed))
    }

    @Test("declares more or fewer bytes than the body has", arguments: [9, 2])
    func declaring(length: Int) async throws {
        let client = try await client(of: .declaring(length: length))
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nConnection: close")
        #expect(await client.rest() == ("hello", .closed))
    }

    @Test("paced: each chunk waits for its turn, the head does not")
    func paced() async throws {
        let gate = Gate()
        let client = try await client(of: .paced(bytes: 2) { _ in await gate.wait() })
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nContent-Length: 5")
        for piece in ["he", "ll", "o"] {
            gate.admit()
            #expect(try await client.bytes(piece.count) == piece)
        }
        await gate.reached(3)
        try await client.request()
        _ = try await client.head()
    }

    @Test("stalling: some bytes, then nothing until the origin stops")
    func stalling() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("hello".utf8).delivered(.stalling(afterBytes: 3)).undated() }
        let client = try await RawClient(origin)
        try await client.request()
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nContent-Length: 5")
        #expect(try await client.bytes(3) == "hel")
        await origin.stop()
        #expect(await client.rest().text == "")
    }

    @Test("resetting: a reset without an orderly close", arguments: [0, 3])
    func resetting(bytes: Int) async throws {
        let origin = try await LoopbackOrigin { _ in
            .ok("hello".utf8).delivered(.resetting(afterBytes: bytes)).undated()
        }
        let client = try await RawClient(origin)
        try await client.request()
        let (text, ending) = await client.rest()
        #expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel".hasPrefix(text))
        #expect(ending == .reset)
        #expect(origin.counters.bodyBytes == bytes)
    }

    @Test("breakingOff: the bytes unchanged, then a reset")
    func breakingOff() async throws {
        let client = try await client(of: .breakingOff(Array("HTTP/1.1 200".utf8)))
        let (text, ending) = await client.rest()
        // The reset may overtake the bytes.
        #expect(["", "HTTP/1.1 200"].contains(text))
        #expect(ending == .reset)
    }

    @Test("resetBeforeHead")
    func resetBeforeHead() async throws {
        let client = try await client(of: .resetBeforeHead)
        #expect(await client.rest() == ("", .reset))
    }

    @Test("abortedChunked")
    func abortedChunked() async throws {
        let client = try await client(of: .abortedChunked(afterBytes: 3))
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close")
        #expect(await client.rest() == ("3\r\nhel\r\n", .closed))
    }

    @Test("garbage")
    func garbage() async throws {
        let client = try await client(of: .garbage(Array("SSH-2.0\r\n".utf8)))
        #expect(await client.rest() == ("SSH-2.0\r\n", .closed))
    }

    @Test("Fields of the reply are sent unchanged")
    func ownFields() async throws {
        let origin = try await LoopbackOrigin { _ in
            .status(.ok, fields: [.contentLength: "many", .connection: "close"], body: "hello".utf8).undated()
        }
        let client = try await RawClient(origin)
        try await client.request()
        #expect(try await client.head() == "HTTP/1.1 200 OK\r\nContent-Length: many\r\nConnection: close")
        #expect(await client.rest() == ("hello", .closed))
    }

    @Test("A client that does not read does not keep the origin from stopping")
    func slowClient() async throws {
        let body = [UInt8](repeating: 0, count: 64 << 20)
        let origin = try await LoopbackOrigin { _ in .ok(body).delivered(.paced(bytes: 1 << 20) { _ in }) }
        let client = try await RawClient(origin)
        try await client.request()
        _ = try await client.head()
        await origin.stop()
        #expect(origin.counters.bodyBytes <= body.count)
    }

    /// A client that has requested a body with this delivery. The client's connection retains the origin.
    private func client(
        of delivery: OriginReply.Delivery, body: String = "hello", _ fields: String...
    ) async throws -> RawClient {
        let origin = try await LoopbackOrigin { _ in .ok(body.utf8).delivered(delivery).undated() }
        let client = try await RawClient(origin)
        try await client.send((["GET / HTTP/1.1", "Host: origin"] + fields + ["", ""]).joined(separator: "\r\n"))
        return client
    }
}
