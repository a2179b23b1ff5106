import TestSupport

@Suite("The parts of a request in the key of its response", .timeLimit(.minutes(5))) struct RequestTargetTests {
    private static let url = "https://example.com/a"
    private static let json: HTTPFields = [.contentType: "application/json"]

    /// An origin that answers with the content of the request.
    private static func echo(_ fields: HTTPFields = [.cacheControl: "max-age=60"]) -> ScriptedTransport {
        ScriptedTransport { request, content in
            .reply(200, fields, "\(request.method): \(String(decoding: content ?? Data(), as: UTF8.self))")
        }
    }

    private func answer(
        _ fixture: LoaderFixture, _ method: HTTPRequest.Method, _ content: String?,
        policy: CachePolicy.Override = .init()
    ) async throws -> (source: ResponseSource, text: String) {
        let response = try await fixture.cache.response(
            for: .to("/a", method: method, Self.json), content: content.map { RequestContent(Data($0.utf8)) },
            policy: policy)
        return (response.source, try await response.text)
    }

    // MARK: Content

    @Test("RFC 9110 §9.3.1: a GET with content bypasses the store")
    func contentOfGET() async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        #expect(try await answer(fixture, .get, nil) == (.network, "GET: "))
        for content in ["q1", "q2", "q1"] {
            #expect(try await answer(fixture, .get, content) == (.network, "GET: \(content)"))
        }
        #expect(try await answer(fixture, .get, nil) == (.disk, "GET: "))
        #expect(try fixture.store.statistics().entries == 1)
        await #expect(throws: LoadError.notCached(url: Self.url)) {
            let response = try await fixture.cache.response(
                for: .to("/a"), content: RequestContent(Data("q1".utf8)), policy: .cacheOnly)
            if let failure = response.failure { throw failure }
        }
    }

    @Test(
        "RFC 9110 §9.3.1: loads with different content share nothing, not even in memory",
        arguments: [nil, "name"] as [String?])
    func contentOfLoad(key: String?) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo()) { $0.memoryLimit = 1 << 20 }
        for content in ["q1", "q2", "q1", nil, nil] {
            let loaded = try await fixture.loader.load(
                ResourceRequest(Self.url, content: content.map { Data($0.utf8) }, key: key))
            #expect(String(decoding: loaded.value, as: UTF8.self) == "GET: \(content ?? "")")
        }
        #expect(transport.requestCount == 4)
    }

    @Test("contentKeys: the store answers an equal POST or GET", arguments: [HTTPRequest.Method.post, .get])
    func contentKeys(method: HTTPRequest.Method) async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: Self.echo())
        let policy = CachePolicy.Override(contentKeys: true)
        #expect(try await answer(fixture, .get, nil, policy: policy).source == .network)
        for (content, source) in [("q1", ResponseSource.network), ("q1", .disk), ("q2", .network), ("q1", .disk)] {
            #expect(try await answer(fixture, method, content, policy: policy) == (source, "\(method): \(content)"))
            let loaded = try await fixture.loader.load(
                ResourceRequest(
                    Self.url, method: method, content: Data(content.utf8), headerFields: Self.json, policy: policy))
            #expect(loaded.source == .disk)
        }
        // The request has invalidated nothing, and another method has another key.
        #expect(try await answer(fixture, .get, nil).source == .disk)
        let other: HTTPRequest.Method = method == .post ? .get : .post
        #expect(try await answer(fixture, other, "q1", policy: policy).source == .network)
        #expect(transport.sent.filter { $0.request.method == method && $0.body != nil }.count == 2)
    }

    @Test("contentKeys: Without the policy a POST is forwarded, and its success invalidates")
    func withoutContentKeys() async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        _ = try await answer(fixture, .get, nil)
        for _ in 0..<2 { #expect(try await answer(fixture, .post, "q1").source == .network) }
        #expect(try await answer(fixture, .get, nil).source == .network)
    }

    // MARK: Host

    @Test(
        "RFC 9110 §7.2: refuses a Host that differs from the authority of the URL",
        arguments: [
            ("example.com", true), ("EXAMPLE.com", true), ("example.com:443", true), ("example.com:80", false),
            ("a.test", false), ("example.com.", false), ("", false), ("example.com/", false), ("u@example.com", false),
        ])
    func host(value: String, isAccepted: Bool) async throws {
        let fixture = try LoaderFixture(transport: Self.echo())
        let fields: HTTPFields = [try #require(HTTPField.Name("Host")): value]
        let results = [
            await Result { try await fixture.cache.response(for: .to("/a", fields)).data() },
            await Result { try await fixture.loader.load(ResourceRequest(Self.url, headerFields: fields)).value },
        ]
        for result in results {
            switch result {
            case .success: #expect(isAccepted)
            case .failure(LoadError.invalidURL(Self.url, _)): #expect(!isAccepted)
            case .failure(let error): throw error
            }
        }
    }

    @Test("A redirect to another host drops the original Host")
    func redirectedHost() async throws {
        let name = try #require(HTTPField.Name("Host"))
        let transport = ScriptedTransport([
            Self.url: [.reply(302, [.location: "https://b.test/b"])], "https://b.test/b": [.reply(200, [:], "b")],
        ])
        let fixture = try LoaderFixture(transport: transport)
        let request = ResourceRequest(Self.url, headerFields: [name: "example.com"])
        #expect(try await fixture.loader.load(request).text == "b")
        #expect(transport.requests.map { $0.headerFields[name] } == ["example.com", nil])
    }

    // MARK: Secrets and names

    @Test("No message contains the user and the password of a URL, from any source")
    func credentials() async throws {
        let transport = ScriptedTransport { _, _ in .reply(302, [.location: "https://me:secret@b.test/x"]) }
        let fixture = try LoaderFixture(transport: transport)
        for url in [Self.url, "https://me:secret@b.test/x", "http://me:secret@b.test/ x"] {
            do {
                _ = try await fixture.loader.load(url)
                Issue.record("\(url) was loaded")
            } catch {
                #expect(!"\(error)".contains("secret"), "\(error)")
                #expect("\(error)".contains("b.test/"), "\(error)")
            }
        }
        var request = HTTPRequest.to("/a")
        request.authority = "me:secret@b.test"
        await #expect(throws: LoadError.self) { try await fixture.cache.response(for: request) }
    }

    @Test("Refuses a non-ASCII host in a URL and in a redirect, and names its ASCII form")
    func internationalHost() async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in .reply(302, [.location: "https://bücher.test/"]) }
        for url in [Self.url, "https://bücher.test/"] {
            let result = await Result { try await fixture.loader.load(url).value }
            guard case .failure(LoadError.invalidURL(let refused, let reason)) = result else {
                Issue.record("\(url): \(result)")
                continue
            }
            #expect(refused == "https://bücher.test/")
            #expect(reason.contains("xn--"))
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
