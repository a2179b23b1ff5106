#if Curl || canImport(Darwin)
import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects of a session with a cache", .timeLimit(.minutes(5))) struct ProtocolRedirectTests {
    private static func redirecting(_ request: OriginRequest) -> OriginReply {
        switch request.path {
        case "/old": OriginReply(status: .movedPermanently, fields: [.location: "/new?q", .cacheControl: "max-age=60"])
        case "/loop": OriginReply(status: .found, fields: [.location: "/loop"])
        case "/nowhere": OriginReply(status: .found, body: [UInt8]("nowhere".utf8))
        case "/file": OriginReply(status: .found, fields: [.location: "file:///etc/passwd"])
        default: .ok("here".utf8, cacheControl: "max-age=60")
        }
    }

    @Test("A redirect is followed and cached step by step; the response has the final URL", arguments: TaskKind.loads)
    func followed(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { Self.redirecting($0) }
        for _ in 0..<2 {
            let (data, response) = try await kind.run(fixture.request("/old"), in: fixture)
            #expect(data == Data("here".utf8))
            #expect(response.url?.absoluteString == fixture.origin.url("/new?q"))
        }
        #expect(fixture.origin.requests.map(\.path) == ["/old", "/new?q"])
    }

    @Test("A delegate that refuses a redirect receives it as the response; a changed request is sent")
    func refused() async throws {
        let fixture = try await ProtocolFixture { request in
            request.path == "/old"
                ? OriginReply(status: .found, fields: [.location: "/new"], body: [UInt8]("moved".utf8))
                : .ok(request.path.utf8)
        }
        let refusing = TaskRecorder()
        refusing.onRedirect = { _ in nil }
        let (data, response) = try await refusing.result(
            of: fixture.session(refusing).dataTask(with: fixture.request("/old")))
        #expect(response.statusCode == 302)
        #expect(response.url?.path == "/old")
        #expect(data == Data("moved".utf8))

        let changing = TaskRecorder()
        let changed = try fixture.request("/other")
        changing.onRedirect = { _ in changed }
        let result = try await changing.result(of: fixture.session(changing).dataTask(with: fixture.request("/old")))
        #expect(result.0 == Data("/other".utf8))
    }

    @Test("The delegate of an asynchronous method decides about its redirect")
    func methodDelegate() async throws {
        let fixture = try await ProtocolFixture { Self.redirecting($0) }
        let refusing = TaskRecorder()
        refusing.onRedirect = { _ in nil }
        let (_, response) = try await fixture.session().data(for: fixture.request("/old"), delegate: refusing)
        #expect(try response.http.statusCode == 301)
    }

    @Test("Too many redirects and an unsupported target are errors; a redirect without a target is the response")
    func targets() async throws {
        let fixture = try await ProtocolFixture { Self.redirecting($0) }
        let session = fixture.session()
        await expect(.httpTooManyRedirects) { _ = try await session.data(for: fixture.request("/loop")) }
        #expect(fixture.origin.requestCount == 21)
        await expect(.unsupportedURL) { _ = try await session.data(for: fixture.request("/file")) }
        let (data, response) = try await session.data(for: fixture.request("/nowhere"))
        #expect(try response.http.statusCode == 302)
        #expect(data == Data("nowhere".utf8))
    }

    @Test(
        "RFC 9110 §15.4: 303 changes a method to GET, 301 and 302 change POST; 307 and 308 keep method and content",
        arguments: [
            (301, "POST", "GET"), (302, "POST", "GET"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
            (307, "POST", "POST"), (308, "PUT", "PUT"),
        ])
    func methods(code: Int, method: String, next: String) async throws {
        let fixture = try await ProtocolFixture { request in
            request.path == "/old" ? OriginReply(status: .init(code: code), fields: [.location: "/new"]) : .ok()
        }
        var request = try fixture.request("/old", method, body: method == "HEAD" ? nil : Data("content".utf8))
        request.setValue("text/plain", forHTTPHeaderField: "Content-Type")
        _ = try await fixture.session().data(for: request)
        let last = try #require(fixture.origin.requests.last)
        #expect(last.path == "/new")
        #expect(last.method.rawValue == next)
        #expect(last.body == [UInt8]((next == method && method != "HEAD" ? "content" : "").utf8))
        #expect(last.fields[.contentType] == (next == method ? "text/plain" : nil))
    }

    @Test("Credentials of a request and of a session stay with their origin", arguments: [false, true])
    func credentials(areOfSession: Bool) async throws {
        let other = try await LoopbackOrigin { _ in .ok() }
        let target = other.url("/c")
        let fixture = try await ProtocolFixture { request in
            OriginReply(status: .found, fields: [.location: request.path == "/a" ? "/b" : target])
        }
        let fields = ["Authorization": "Bearer x", "Cookie": "a=b", "Accept": "text/plain"]
        let configuration = URLSessionConfiguration.ephemeral
        // With a storage, a redirect drops the field `Cookie` of a request.
        configuration.httpCookieStorage = nil
        var request = try fixture.request("/a")
        if areOfSession { configuration.httpAdditionalHeaders = fields } else { request.allHTTPHeaderFields = fields }
        let session = URLSession(configuration: configuration.cached(by: fixture.cache.cache))
        _ = try await session.data(for: request)
        #expect(fixture.origin.requests.map { $0.fields[.authorization] } == ["Bearer x", "Bearer x"])
        #expect(fixture.origin.requests.map { $0.fields[.cookie] } == ["a=b", "a=b"])
        #expect(other.requests.map { $0.fields[.authorization] } == [nil])
        #expect(other.requests.map { $0.fields[.cookie] } == [nil])
        #expect(other.requests.map { $0.fields[.accept] } == ["text/plain"])
    }
}
#endif
