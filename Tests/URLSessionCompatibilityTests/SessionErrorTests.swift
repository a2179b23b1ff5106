import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Errors of URLSession's methods", .timeLimit(.minutes(5))) struct SessionErrorTests {
    @Test(
        "A transport failure becomes the URLError that URLSession throws",
        arguments: [
            (TransportError.Code.cannotConnect, URLError.Code.cannotConnectToHost), (.cannotFindHost, .cannotFindHost),
            (.connectionLost, .networkConnectionLost), (.truncated, .networkConnectionLost), (.timedOut, .timedOut),
            (.insecure, .secureConnectionFailed), (.malformedResponse, .cannotParseResponse), (.cancelled, .cancelled),
            (.unsupportedRequest, .unsupportedURL), (.other, .unknown),
        ])
    func transport(code: TransportError.Code, expected: URLError.Code) async throws {
        let fixture = try SessionFixture(
            ScriptedTransport { request, _ throws(TransportError) in
                if request.path == "/head" { throw TransportError(code) }
                return .reply(200, [:], "start", failure: TransportError(code))
            })
        for path in ["/head", "/body"] {
            await expect(expected, "data, \(path)") { _ = try await fixture.cache.data(for: .to(path)) }
            await expect(expected, "download, \(path)") { _ = try await fixture.cache.download(for: .to(path)) }
            await expect(expected, "bytes, \(path)") {
                for try await _ in try await fixture.cache.bytes(for: .to(path)).0 {}
            }
        }
    }

    @Test("The error contains the URL and the cache's error")
    func details() async throws {
        let fixture = try SessionFixture(
            ScriptedTransport { _, _ throws(TransportError) in throw TransportError(.cannotConnect, message: "why") })
        let error = await #expect(throws: URLError.self) { try await fixture.cache.data(for: .to("/a")) }
        #expect(error?.failingURL?.absoluteString == "https://example.com/a")
        let underlying = error?.userInfo[NSUnderlyingErrorKey] as? LoadError
        #expect(underlying == .transport(TransportError(.cannotConnect, message: "why"), url: "https://example.com/a"))
        #expect(error?.localizedDescription.contains("why") == true)
    }

    @Test(
        "URLs that cannot be loaded",
        arguments: [("ftp://a/", URLError.Code.unsupportedURL), ("file:///a", .unsupportedURL)])
    func urls(text: String, expected: URLError.Code) async throws {
        let fixture = try SessionFixture { _ in .reply(200) }
        let url = try #require(URL(string: text))
        await expect(expected) { _ = try await fixture.cache.data(from: url) }
        await expect(.badURL) {
            _ = try await fixture.cache.data(from: try #require(URL(string: "https://user:password@example.com/")))
        }
        var none = URLRequest.to("/a")
        none.url = nil
        await expect(.badURL) { [none] in _ = try await fixture.cache.data(for: none) }
    }

    @Test("Damaged codings, and bodies that are too long before or after decoding")
    func bodies() async throws {
        // 1,000 zeros.
        let bomb = try #require(Data(base64Encoded: "H4sIAAAAAAACA2NgGAWjYBQMdwAAgBcLBugDAAA="))
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA="))
        let transport = ScriptedTransport { request, _ in
            let body = request.path == "/cut" ? gzip.dropLast(4) : request.path == "/long" ? Data(count: 19) : bomb
            let fields: HTTPFields = request.path == "/long" ? [:] : [.contentEncoding: "gzip"]
            return TransportResponse(head: HTTPResponse(status: .ok, headerFields: fields), body: TransportBody(body))
        }
        let fixture = try SessionFixture(transport)
        for (path, limit, code) in [
            ("/cut", 1_000, URLError.Code.cannotDecodeContentData), ("/long", 18, .dataLengthExceedsMaximum),
            ("/bomb", bomb.count, .dataLengthExceedsMaximum),
        ] {
            fixture.cache.configuration.maxBodyBytes = Int64(limit)
            let file = fixture.file("file")
            await expect(code, "data, \(path)") { _ = try await fixture.cache.data(for: .to(path)) }
            await expect(code, "download, \(path)") { _ = try await fixture.cache.download(for: .to(path), to: file) }
            #expect(!FileManager.default.fileExists(atPath: file.path))
            await expect(code, "bytes, \(path)") {
                for try await _ in try await fixture.cache.bytes(for: .to(path)).0 {}
            }
        }
    }

    @Test("A timeout expires without a head or a further chunk within its time")
    func timeouts() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { request, _ in
            if request.path == "/head" {
                await gate.wait()
                return .reply(200)
            }
            let isFirst = FirstTime()
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: TransportBody { () async throws(TransportError) in
                    if isFirst.isFirst() { return Data("start".utf8) }
                    await gate.wait()
                    throw TransportError(.cancelled)
                })
        }
        let fixture = try SessionFixture(transport)
        for (path, number) in [("/head", 1), ("/body", 2)] {
            var request = URLRequest.to(path)
            request.timeoutInterval = 7
            let task = Task { [request] in try await fixture.cache.data(for: request) }
            await gate.reached(number)
            // The timers of the head, of the first chunk and of the second one, in this order.
            await eventually { fixture.sleeper.sleeperCount > 0 && fixture.sleeper.sleeps.last == .seconds(7) }
            if path == "/body" { await eventually { fixture.sleeper.sleeps.filter { $0 == .seconds(7) }.count >= 4 } }
            fixture.sleeper.advance(by: .seconds(6))
            fixture.sleeper.advance(by: .seconds(1))
            await expect(.timedOut, "\(path)") { _ = try await task.value }
        }
        gate.open()
    }

    @Test("RFC 9111 §4.2.4: after a timeout of the origin, a stored response answers if it may be served stale")
    func staleAfterTimeout() async throws {
        let (gate, isFirst) = (Gate(), FirstTime())
        let transport = ScriptedTransport { _, _ in
            if !isFirst.isFirst() { await gate.wait() }
            return .reply(200, [.cacheControl: "max-age=1"], "stored")
        }
        let fixture = try SessionFixture(transport)
        _ = try await fixture.cache.data(for: .to("/a"))
        fixture.clock.advance(by: 10)
        let task = Task { try await fixture.cache.data(for: .to("/a")).0 }
        await gate.reached(1)
        await eventually { fixture.sleeper.sleeperCount > 0 }
        fixture.sleeper.advance(by: .seconds(60))
        #expect(try await task.value == Data("stored".utf8))
        gate.open()
    }

    @Test("Cancelling the task ends the request immediately, before and after the head")
    func cancelling() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { request, _ in
            if request.path == "/head" { await gate.wait() }
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: TransportBody { () async throws(TransportError) in
                    await gate.wait()
                    throw TransportError(.cancelled)
                })
        }
        let fixture = try SessionFixture(transport)
        for (path, number) in [("/head", 1), ("/body", 2)] {
            let task = Task { try await fixture.cache.data(for: .to(path)) }
            await gate.reached(number)
            task.cancel()
            await expect(.cancelled, "\(path)") { _ = try await task.value }
        }
        gate.open()
        let before = transport.requestCount
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fixture.cache.data(for: .to("/a"))
        }
        await expect(.cancelled) { _ = try await cancelled.value }
        #expect(transport.requestCount == before)
    }

    @Test("RFC 9112 §9.3.1: a GET on a dead connection is retried once, a POST is not")
    func deadConnection() async throws {
        let isFirst = FirstTime()
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            if request.path == "/dead" || isFirst.isFirst() { throw TransportError(.connectionLost) }
            return .reply(200, [:], "here")
        }
        let fixture = try SessionFixture(transport)
        #expect(try await fixture.cache.data(for: .to("/a")).0 == Data("here".utf8))
        #expect(transport.requestCount == 2)
        await expect(.networkConnectionLost) { _ = try await fixture.cache.data(for: .to("/dead")) }
        #expect(transport.requestCount == 4)
        await expect(.networkConnectionLost) {
            _ = try await fixture.cache.data(for: .to("/dead", "POST", body: Data("a".utf8)))
        }
        #expect(transport.requestCount == 5)
    }

    #if Curl || canImport(Darwin)
    @Test("A real origin: a hit, an upload, and a port that refuses connections")
    func loopback() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("hello".utf8, cacheControl: "max-age=60") }
        let fixture = try SessionFixture(DefaultTransport())
        let url = try #require(URL(string: origin.url("/a")))
        for _ in 0..<2 { #expect(try await fixture.cache.data(from: url).0 == Data("hello".utf8)) }
        await origin.stop()
        let port = ClosedPort()
        await expect(.cannotConnectToHost) {
            _ = try await fixture.cache.data(from: try #require(URL(string: port.url("/"))))
        }
    }
    #endif
}
