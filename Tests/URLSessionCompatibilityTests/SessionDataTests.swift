import CacheCodings
import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSession's data(for:) on a cache", .timeLimit(.minutes(5))) struct SessionDataTests {
    @Test("The response has status, fields and URL; a second request is a hit")
    func response() async throws {
        let fixture = try SessionFixture { _ in
            .reply(
                200, [.cacheControl: "max-age=60", .contentType: "text/plain; charset=utf-8", .contentLength: "5"],
                "hello")
        }
        let url = try #require(URL(string: "https://example.com/a#part"))
        for age in [nil, "0"] {
            let (data, response) = try await fixture.cache.data(from: url)
            #expect(data == Data("hello".utf8))
            let http = try response.http
            #expect(http.statusCode == 200)
            #expect(http.url == url)
            #expect(http.mimeType == "text/plain")
            #expect(http.textEncodingName == "utf-8")
            #expect(http.expectedContentLength == 5)
            #expect(http.value(forHTTPHeaderField: "age") == age)
        }
    }

    @Test("An unsuccessful status is a response, not an error")
    func status() async throws {
        let fixture = try SessionFixture { _ in .reply(404, [:], "page") }
        let (data, response) = try await fixture.cache.data(for: .to("/a"))
        #expect(try response.http.statusCode == 404)
        #expect(data == Data("page".utf8))
    }

    @Test("Joins the lines of one field with commas")
    func joined() async throws {
        let fixture = try SessionFixture { _ in
            var fields: HTTPFields = [.cacheControl: "no-store"]
            fields.append(HTTPField(name: .setCookie, value: "a=1"))
            fields.append(HTTPField(name: .setCookie, value: "b=2"))
            return .reply(200, fields)
        }
        let (_, response) = try await fixture.cache.data(for: .to("/a"))
        #expect(try response.http.value(forHTTPHeaderField: "Set-Cookie") == "a=1, b=2")
    }

    @Test("Method, fields and content reach the origin; fields of the connection do not")
    func request() async throws {
        let transport = ScriptedTransport { _, _ in .reply(201) }
        let fixture = try SessionFixture(transport)
        let fields = ["X-Name": "value", "Host": "evil.example", "Content-Length": "9", "Connection": "close"]
        let (_, response) = try await fixture.cache.data(for: .to("/a?b", "PUT", fields, body: Data("body".utf8)))
        #expect(try response.http.statusCode == 201)
        let sent = try #require(transport.sent.first)
        #expect(sent.request.method == .put)
        #expect(sent.request.path == "/a?b")
        #expect(sent.request.authority == "example.com")
        #expect(sent.body == Data("body".utf8))
        #expect(sent.request.headerFields[HTTPField.Name("X-Name")!] == "value")
        #expect(sent.request.headerFields[.contentLength] == nil)
        #expect(sent.request.headerFields[.connection] == nil)
        _ = try await fixture.cache.data(for: .to("/form", "POST", body: Data("a=b".utf8)))
        #expect(transport.requests.last?.headerFields[.contentType] == "application/x-www-form-urlencoded")
        var streamed = URLRequest.to("/stream", "POST", ["Content-Type": "text/plain"])
        let long = Data.noise(200_000, seed: 1)
        streamed.httpBodyStream = InputStream(data: long)
        _ = try await fixture.cache.data(for: streamed)
        #expect(transport.sent.last?.body == long)
        #expect(transport.requests.last?.headerFields[.contentType] == "text/plain")
    }

    @Test("Removes codings from body and fields, from network and store alike; a part keeps its coding")
    func codings() async throws {
        let gzip = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJ11HIQKIAn6HKCRMAAAA="))
        let transport = ScriptedTransport { request, _ in
            let isPart = request.headerFields[.range] != nil
            return TransportResponse(
                head: HTTPResponse(
                    status: isPart ? .partialContent : .ok,
                    headerFields: [
                        .cacheControl: "max-age=60", .contentEncoding: "gzip", .contentLength: "\(gzip.count)",
                        .contentRange: "bytes 0-\(gzip.count - 1)/*",
                    ]), body: TransportBody(gzip))
        }
        let fixture = try SessionFixture(transport)
        for _ in 0..<2 {
            let (data, response) = try await fixture.cache.data(for: .to("/a"))
            #expect(data == Data("hello, hello, hello".utf8))
            #expect(try response.http.value(forHTTPHeaderField: "Content-Encoding") == nil)
            #expect(response.expectedContentLength == -1)
        }
        #expect(transport.requests.map { $0.headerFields[.acceptEncoding] } == [ContentCoding.accepted])
        let (part, response) = try await fixture.cache.data(for: .to("/b", "GET", ["Range": "bytes=0-"]))
        #expect(part == gzip)
        #expect(try response.http.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
        let (head, headResponse) = try await fixture.cache.data(for: .to("/a", "HEAD"))
        #expect(head.isEmpty)
        #expect(try headResponse.http.value(forHTTPHeaderField: "Content-Encoding") == "gzip")
    }

    // MARK: Cache policies

    struct Policy: Sendable, CustomTestStringConvertible {
        let policy: URLRequest.CachePolicy
        /// The kind of request to the origin for a missing, a fresh and a stale response: plain, conditional, none,
        /// failed.
        let missing: String
        let fresh: String
        let stale: String
        var testDescription: String { "\(policy)" }
    }

    @Test(
        "Each cache policy of a request works as Apple documents",
        arguments: [
            Policy(policy: .useProtocolCachePolicy, missing: "plain", fresh: "none", stale: "conditional"),
            Policy(policy: .reloadIgnoringLocalCacheData, missing: "plain", fresh: "plain", stale: "plain"),
            Policy(
                policy: .reloadIgnoringLocalAndRemoteCacheData, missing: "no-cache", fresh: "no-cache",
                stale: "no-cache"),
            Policy(policy: .returnCacheDataElseLoad, missing: "plain", fresh: "none", stale: "none"),
            Policy(policy: .returnCacheDataDontLoad, missing: "failed", fresh: "none", stale: "none"),
            Policy(policy: .reloadRevalidatingCacheData, missing: "plain", fresh: "conditional", stale: "conditional"),
        ])
    func policies(_ test: Policy) async throws {
        let transport = ScriptedTransport { request, _ in
            request.headerFields[.ifNoneMatch] == "\"1\""
                ? .reply(304) : .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], "body")
        }
        let fixture = try SessionFixture(transport)
        func kind(_ path: String) async throws -> String {
            let before = transport.requestCount
            do {
                let (data, response) = try await fixture.cache.data(for: .to(path, cachePolicy: test.policy))
                #expect(data == Data("body".utf8))
                #expect(try response.http.statusCode == 200)
            } catch let error as URLError where error.code == .resourceUnavailable {
                return "failed"
            }
            guard transport.requestCount > before, let fields = transport.requests.last?.headerFields else {
                return "none"
            }
            if fields[.ifNoneMatch] != nil { return "conditional" }
            return fields[.cacheControl] ?? "plain"
        }
        #expect(try await kind("/missing") == test.missing)
        _ = try await fixture.cache.data(for: .to("/stored"))
        #expect(try await kind("/stored") == test.fresh)
        fixture.clock.advance(by: 100)
        #expect(try await kind("/stored") == test.stale)
    }

    @Test("A request with the default cache policy follows the configuration")
    func configured() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [:], "body") }
        let fixture = try SessionFixture(transport) { $0.policy.mode = .cacheOnly }
        await expect(.resourceUnavailable) { _ = try await fixture.cache.data(for: .to("/a")) }
        _ = try await fixture.cache.data(for: .to("/a", cachePolicy: .reloadIgnoringLocalCacheData))
    }
}
