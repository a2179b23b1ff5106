import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Redirects of URLSession's methods", .timeLimit(.minutes(5))) struct SessionRedirectTests {
    @Test(
        "RFC 9110 §15.4: 303 changes a method to GET, 301 and 302 change POST; 307 and 308 keep method and content",
        arguments: [
            (301, "GET", "GET"), (302, "HEAD", "HEAD"), (301, "POST", "GET"), (302, "POST", "GET"),
            (302, "PUT", "PUT"), (303, "POST", "GET"), (303, "PUT", "GET"), (303, "HEAD", "HEAD"),
            (307, "POST", "POST"), (308, "PUT", "PUT"),
        ])
    func methods(code: Int, method: String, next: String) async throws {
        let transport = ScriptedTransport { request, _ in
            request.path == "/old" ? .reply(.init(code: code), [.location: "/new?q"]) : .reply(200, [:], "here")
        }
        let fixture = try SessionFixture(transport)
        let body = ["POST", "PUT"].contains(method) ? Data("body".utf8) : nil
        let (data, response) = try await fixture.cache.data(
            for: .to("/old", method, ["Content-Type": "text/plain"], body: body))
        #expect(response.url?.absoluteString == "https://example.com/new?q")
        #expect(data == Data((method == "HEAD" ? "" : "here").utf8))
        let last = try #require(transport.sent.last)
        #expect(transport.requestCount == 2)
        #expect(last.request.method.rawValue == next)
        #expect(last.body == (next == method ? body : nil))
        #expect(last.request.headerFields[.contentType] == (next == method ? "text/plain" : nil))
    }

    @Test("Credentials stay with their origin")
    func credentials() async throws {
        let transport = ScriptedTransport { request, _ in
            switch (request.authority, request.path) {
            case ("example.com", "/a"): .reply(302, [.location: "/b"])
            case ("example.com", _): .reply(302, [.location: "https://other.example/c"])
            default: .reply(200, [:], "here")
            }
        }
        let fixture = try SessionFixture(transport)
        let fields = ["Authorization": "Basic x", "Cookie": "a=b", "Accept": "text/plain"]
        _ = try await fixture.cache.data(for: .to("/a", "GET", fields))
        #expect(transport.requests.map { $0.headerFields[.authorization] } == ["Basic x", "Basic x", nil])
        #expect(transport.requests.map { $0.headerFields[.cookie] } == ["a=b", "a=b", nil])
        #expect(transport.requests.map { $0.headerFields[.accept] } == ["text/plain", "text/plain", "text/plain"])
    }

    @Test("More than 20 redirects throw, 20 do not; each response is cached under its own URL")
    func limit() async throws {
        let transport = ScriptedTransport { request, _ in
            let number = Int(request.path?.dropFirst() ?? "") ?? 0
            return number == 0
                ? .reply(200, [.cacheControl: "max-age=60"], "here")
                : .reply(301, [.location: "/\(number - 1)", .cacheControl: "max-age=60"])
        }
        let fixture = try SessionFixture(transport)
        await expect(.httpTooManyRedirects) { _ = try await fixture.cache.data(for: .to("/21")) }
        let (data, _) = try await fixture.cache.data(for: .to("/20"))
        #expect(data == Data("here".utf8))
    }

    @Test("A redirect without a target is the response; a redirect to an unsupported URL throws")
    func targets() async throws {
        let fixture = try SessionFixture { request in
            switch request.path {
            case "/file": .reply(302, [.location: "file:///etc/passwd"])
            case "/user": .reply(302, [.location: "https://user:password@example.com/"])
            default: .reply(302, [:], "nowhere")
            }
        }
        let (data, response) = try await fixture.cache.data(for: .to("/none"))
        #expect(try response.http.statusCode == 302)
        #expect(data == Data("nowhere".utf8))
        await expect(.unsupportedURL) { _ = try await fixture.cache.data(for: .to("/file")) }
        await expect(.badURL) { _ = try await fixture.cache.data(for: .to("/user")) }
    }

    @Test("A stream cannot follow a redirect that keeps the content")
    func stream() async throws {
        let fixture = try SessionFixture { request in
            request.path == "/old" ? .reply(307, [.location: "/new"]) : .reply(200)
        }
        var request = URLRequest.to("/old", "POST")
        request.httpBodyStream = InputStream(data: Data("body".utf8))
        await expect(.requestBodyStreamExhausted) { [request] in _ = try await fixture.cache.data(for: request) }
    }
}
