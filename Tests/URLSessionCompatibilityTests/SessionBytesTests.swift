import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSession's bytes(for:) on a cache", .timeLimit(.minutes(5))) struct SessionBytesTests {
    @Test("The response arrives before the body; its bytes and lines arrive while the origin sends them")
    func streaming() async throws {
        let (more, isFirst, isSecond) = (Gate(), FirstTime(), FirstTime())
        let transport = ScriptedTransport { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "max-age=60", .contentLength: "8"]),
                body: TransportBody { () async throws(TransportError) in
                    if isFirst.isFirst() { return Data("ab\nc".utf8) }
                    guard isSecond.isFirst() else { return nil }
                    await more.wait()
                    return Data("d\nef".utf8)
                })
        }
        let fixture = try SessionFixture(transport)
        let (bytes, response) = try await fixture.cache.bytes(for: .to("/a"))
        #expect(response.expectedContentLength == 8)
        var lines = bytes.lines.makeAsyncIterator()
        #expect(try await lines.next() == "ab")
        more.open()
        #expect(try await lines.next() == "cd")
        #expect(try await lines.next() == "ef")
        #expect(try await lines.next() == nil)
        #expect(try await lines.next() == nil)
        // The body was stored: another reader gets the whole body.
        var all: [UInt8] = []
        for try await byte in try await fixture.cache.bytes(for: .to("/a")).0 { all.append(byte) }
        #expect(all == Array("ab\ncd\nef".utf8))
        #expect(transport.requestCount == 1)
    }

    @Test("Bytes are decoded as they arrive", arguments: ["max-age=60", "no-store"])
    func codings(cacheControl: String) async throws {
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA="))
        let chunks = stride(from: 0, to: gzip.count, by: 5).map { Data(gzip[$0..<min($0 + 5, gzip.count)]) }
        let fixture = try SessionFixture { _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: cacheControl, .contentEncoding: "gzip"]),
                body: TransportBody(chunks: chunks))
        }
        for _ in 0..<2 {
            var all = Data()
            for try await byte in try await fixture.cache.bytes(for: .to("/a")).0 { all.append(byte) }
            #expect(all == Data("hello, hello, hello".utf8))
        }
    }

    @Test("A second reader of a body from the network gets an error and no bytes")
    func readers() async throws {
        let fixture = try SessionFixture { _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let (arriving, _) = try await fixture.cache.bytes(for: .to("/a"))
        for try await _ in arriving {}
        await expect(.unknown) { for try await _ in arriving {} }
    }

    @Test("The time between two reads does not count for the timeout")
    func idle() async throws {
        let fixture = try SessionFixture { _ in .reply(200, [.cacheControl: "no-store"], "ab", "cd") }
        var iterator = try await fixture.cache.bytes(for: .to("/a")).0.makeAsyncIterator()
        #expect(try await iterator.next() == UInt8(ascii: "a"))
        await eventually { fixture.sleeper.sleeperCount == 0 }
        fixture.sleeper.advance(by: .seconds(1_000))
        for byte in "bcd".utf8 { #expect(try await iterator.next() == byte) }
        #expect(try await iterator.next() == nil)
    }

    // MARK: Lines

    @Test(
        "Lines split like Foundation's, which omit empty lines",
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("a\r\nb\r\n", ["a", "b"]),
            ("a\rb", ["a", "b"]), ("\n\na\n\n\nb\n\n", ["a", "b"]), ("a\u{0B}b\u{0C}c", ["a", "b", "c"]),
            ("a\u{85}b", ["a", "b"]), ("a\u{2028}b\u{2029}c", ["a", "b", "c"]), ("aÄ b€\u{2027}c", ["aÄ b€\u{2027}c"]),
            ("\u{85}", []), ("data: 1\n\ndata: 2\n\n", ["data: 1", "data: 2"]),
        ] as [(String, [String])])
    func lines(text: String, expected: [String]) {
        for length in 1...4 {
            var splitter = LineSplitter()
            var lines: [String] = []
            var rest = Data(text.utf8)
            while !rest.isEmpty {
                splitter.append(Data(rest.prefix(length)))
                rest = rest.dropFirst(length)
                while let line = splitter.next() { lines.append(line) }
            }
            if let line = splitter.finish() { lines.append(line) }
            #expect(lines == expected, "in chunks of \(length)")
        }
    }

    @Test("Bytes that are not UTF-8, or an incomplete character, become U+FFFD")
    func malformed() {
        for bytes in [[0x61, 0xC2], [0x61, 0xE2], [0x61, 0xFF]] as [[UInt8]] {
            var splitter = LineSplitter()
            splitter.append(Data(bytes))
            #expect(splitter.next() == nil)
            #expect(splitter.finish() == "a\u{FFFD}")
        }
        var splitter = LineSplitter()
        splitter.append(Data([0x61, 0xE2, 0x80]))
        #expect(splitter.finish()?.first == "a")
        #expect(splitter.next() == nil)
        #expect(splitter.finish() == nil)
    }
}
