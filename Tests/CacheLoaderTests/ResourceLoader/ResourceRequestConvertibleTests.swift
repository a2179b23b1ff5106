import TestSupport

@Suite("ResourceRequestConvertible") struct ResourceRequestConvertibleTests {
    private enum Endpoint: ResourceRequestConvertible {
        case article(Int)

        var resourceRequest: ResourceRequest {
            switch self {
            case .article(let number): ResourceRequest("https://example.com/articles/\(number)", policy: .cacheOnly)
            }
        }
    }

    private let text = "https://example.com/articles/7"

    @Test("A text and a URL become requests with the defaults; a request stays unchanged")
    func requests() throws {
        let url = try #require(URL(string: text))
        let request = ResourceRequest(text, lane: .background, usesMemory: false)
        #expect(text.resourceRequest == ResourceRequest(text))
        #expect(url.resourceRequest == ResourceRequest(text))
        #expect(request.resourceRequest == request)
    }

    @Test("The methods of a loader accept a text, a URL, a request and a type of the program")
    func methods() async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "seven") }
        let fixture = try LoaderFixture(transport: transport)
        let loader = fixture.loader
        let url = try #require(URL(string: text))
        #expect(try await loader.load(text).source == .network)
        #expect(try await loader.load(url).text == "seven")
        #expect(try await loader.load(ResourceRequest(text)).text == "seven")
        #expect(try await loader.load(Endpoint.article(7), as: .text).value == "seven")
        #expect(try loader.cachedValue(for: Endpoint.article(7))?.text == "seven")
        #expect(try loader.peek(url) == Data("seven".utf8))
        #expect(transport.requestCount == 1)
        #expect(try await loader.remove(Endpoint.article(7)))
        #expect(try !loader.contains(url))
        try await loader.insert(Data("mine".utf8), for: url)
        #expect(try loader.peek(Endpoint.article(7)) == Data("mine".utf8))
    }
}
