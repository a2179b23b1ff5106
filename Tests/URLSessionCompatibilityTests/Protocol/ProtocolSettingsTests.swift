#if Curl || canImport(Darwin)
import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("The configuration of a session with a cache", .timeLimit(.minutes(5))) struct ProtocolSettingsTests {
    @Test("Sessions of one process have different caches; equal configurations share a class")
    func severalCaches() async throws {
        var fixtures: [ProtocolFixture] = []
        for number in 0..<40 {
            fixtures.append(try await ProtocolFixture { _ in .ok("\(number)".utf8, cacheControl: "max-age=60") })
        }
        for (number, fixture) in fixtures.enumerated() {
            for _ in 0..<2 {
                #expect(try await fixture.session().data(for: fixture.request("/a")).0 == Data("\(number)".utf8))
            }
            #expect(fixture.origin.requestCount == 1)
        }
        let shared = try fixtures[0].request("/a")
        // Each cache asks the origin once for a URL that another cache has stored.
        for fixture in fixtures.dropFirst() { _ = try await fixture.session().data(for: shared) }
        #expect(fixtures[0].origin.requestCount == 40)

        let cache = fixtures[0].cache.cache
        let (first, second) = (URLSessionConfiguration.ephemeral, URLSessionConfiguration.ephemeral)
        first.httpCookieStorage = nil
        second.httpCookieStorage = nil
        let types = [first, first, second].map { $0.cached(by: cache).protocolClasses?.first }
        #expect(types[0] == types[1] && types[1] == types[2])
        second.httpAdditionalHeaders = ["A": "b"]
        #expect(second.cached(by: cache).protocolClasses?.first != types[0])
        #expect(first.cached(by: fixtures[1].cache.cache).protocolClasses?.first != types[0])
    }

    @Test("The original configuration is unchanged; the copy keeps its other protocol classes")
    func copy() async throws {
        let fixture = try await ProtocolFixture { _ in .ok() }
        let original = URLSessionConfiguration.default
        let count = original.protocolClasses?.count
        let copy = original.cached(by: fixture.cache.cache)
        #expect(original.protocolClasses?.count == count)
        #expect(copy.protocolClasses?.count == (count ?? 0) + 1)
        #expect(copy.urlCache == nil)
    }

    @Test(
        "The class loads http and https without credentials in the URL",
        arguments: [
            ("http://example.com/", true), ("HTTPS://example.com/a", true), ("ftp://example.com/", false),
            ("ws://example.com/", false), ("file:///a", false), ("data:,a", false), ("http://u:p@example.com/", false),
        ])
    func urls(url: String, isLoaded: Bool) async throws {
        let fixture = try await ProtocolFixture { _ in .ok() }
        let request = URLRequest(url: try #require(URL(string: url)))
        #expect(fixture.cache.cache.urlProtocol.canInit(with: request) == isLoaded)
    }

    @Test("The additional fields of a session select a response; those of a request take precedence")
    func fields() async throws {
        let fixture = try await ProtocolFixture { request in
            var reply = OriginReply.ok((request.fields[.accept] ?? "").utf8, cacheControl: "max-age=60")
            reply.fields[.vary] = "Accept"
            return reply
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Accept": "session"]
        let session = URLSession(configuration: configuration.cached(by: fixture.cache.cache))
        var request = try fixture.request("/a")
        for _ in 0..<2 { #expect(try await session.data(for: request).0 == Data("session".utf8)) }
        request.setValue("request", forHTTPHeaderField: "accept")
        #expect(try await session.data(for: request).0 == Data("request".utf8))
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("The cache policy and the timeout of a session count for requests without their own")
    func policyAndTimeout() async throws {
        let gate = Gate()
        let fixture = try await ProtocolFixture { request in
            if request.path == "/slow" { await gate.wait() }
            return .ok("body".utf8, cacheControl: "max-age=60")
        }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = 7
        let session = URLSession(configuration: configuration.cached(by: fixture.cache.cache))
        for _ in 0..<2 { _ = try await session.data(for: fixture.request("/a")) }
        #expect(fixture.origin.requestCount == 2)
        let slow = try fixture.request("/slow")
        let task = Task { try await session.data(for: slow) }
        await gate.reached(1)
        await eventually { fixture.cache.sleeper.sleeps.last == .seconds(7) && fixture.cache.sleeper.sleeperCount > 0 }
        fixture.cache.sleeper.advance(by: .seconds(7))
        await expect(.timedOut) { _ = try await task.value }
        gate.open()
    }

    @Test("Cookies are those of the session, also in redirects; a stored response sets none")
    func cookies() async throws {
        let fixture = try await ProtocolFixture { request in
            var reply = OriginReply.ok((request.fields[.cookie] ?? "").utf8, cacheControl: "max-age=60")
            switch request.path {
            case "/login":
                reply = OriginReply(status: .found, fields: [.location: "/home"])
                reply.fields.append(HTTPField(name: .setCookie, value: "a=1; Expires=Wed, 01 Jan 2125 00:00:00 GMT"))
                reply.fields.append(HTTPField(name: .setCookie, value: "b=2"))
            case "/stored": reply.fields[.setCookie] = "c=3"
            default: reply.fields[.cacheControl] = "no-store"
            }
            return reply
        }
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        let session = URLSession(configuration: configuration.cached(by: fixture.cache.cache))
        func cookies(_ path: String) async throws -> [String] {
            let (data, _) = try await session.data(for: fixture.request(path))
            return String(decoding: data, as: UTF8.self).split(separator: "; ").map { String($0) }.sorted()
        }
        #expect(try await cookies("/login") == ["a=1", "b=2"])
        _ = try await cookies("/stored")
        #expect(try await cookies("/home") == ["a=1", "b=2", "c=3"])
        for cookie in storage.cookies ?? [] where cookie.name == "c" { storage.deleteCookie(cookie) }
        _ = try await cookies("/stored")
        #expect(try await cookies("/home") == ["a=1", "b=2"])
        var request = try fixture.request("/home")
        request.httpShouldHandleCookies = false
        request.setValue("own=1", forHTTPHeaderField: "Cookie")
        #expect(
            try await URLSession(
                configuration: {
                    let none = URLSessionConfiguration.ephemeral
                    none.httpShouldSetCookies = false
                    return none.cached(by: fixture.cache.cache)
                }()
            ).data(for: request).0 == Data("own=1".utf8))
    }

    @Test("A class that is registered before the first session caches for URLSession.shared")
    func registered() async {
        await #expect(processExitsWith: .success) {
            let fixture = try await ProtocolFixture { _ in .ok("body".utf8, cacheControl: "max-age=60") }
            _ = URLProtocol.registerClass(fixture.cache.cache.urlProtocol)
            for _ in 0..<2 {
                let (data, _) = try await URLSession.shared.data(for: fixture.request("/a"))
                try #require(data == Data("body".utf8))
            }
            try #require(fixture.origin.requestCount == 1)
        }
    }

    @Test("The requests of a transport on a session with the same cache go to the origin")
    func ownTransport() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("body".utf8, cacheControl: "max-age=60") }
        let transport = SessionTransport()
        let fixture = try SessionFixture(transport)
        let session = URLSession(configuration: .ephemeral.cached(by: fixture.cache))
        transport.session.withLock { $0 = session }
        let url = try #require(URL(string: origin.url("/a")))
        for _ in 0..<2 { #expect(try await session.data(from: url).0 == Data("body".utf8)) }
        #expect(origin.requestCount == 1)
        fixture.store.close()
    }

    /// A transport on any session, as a program could write one.
    private final class SessionTransport: HTTPTransport {
        let session = Mutex<URLSession?>(nil)

        func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

        func send(
            _ request: HTTPRequest, content: RequestContent?,
            onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
        ) async throws(TransportError) -> TransportResponse {
            let url = URL(string: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")")
            guard let url, let session = session.withLock({ $0 }) else { throw TransportError(.unsupportedRequest) }
            var marked = URLRequest(url: url)
            if let copy = (marked as NSURLRequest).mutableCopy() as? NSMutableURLRequest {
                URLProtocol.setProperty(true, forKey: "CacheStore.isUncached", in: copy)
                marked = copy as URLRequest
            }
            guard let (data, response) = try? await session.data(for: marked),
                let response = response as? HTTPURLResponse
            else { throw TransportError(.other) }
            var fields = HTTPFields()
            fields[.cacheControl] = response.value(forHTTPHeaderField: "Cache-Control")
            let head = HTTPResponse(status: .init(code: response.statusCode), headerFields: fields)
            return TransportResponse(head: head, body: TransportBody(data))
        }
    }

    // MARK: Many tasks

    @Test("A thousand tasks at the same time: one request to the origin for each URL")
    func thousandTasks() async throws {
        let gate = Gate()
        let fixture = try await ProtocolFixture { request in
            await gate.wait()
            return .ok(request.path.utf8, cacheControl: "max-age=60")
        }
        let session = fixture.session()
        let requests = try (0..<1_000).map { try fixture.request("/\($0 % 20)") }
        try await withThrowingTaskGroup { group in
            for request in requests {
                group.addTask {
                    let (data, _) = try await session.data(for: request)
                    #expect(data == Data((request.url?.path ?? "").utf8))
                }
            }
            await gate.reached(1)
            gate.open()
            try await group.waitForAll()
        }
        #expect(fixture.origin.requestCount == 20)
    }
}
#endif
