import TestSupport

@Suite("Policies by URL", .timeLimit(.minutes(5))) struct URLPolicyTests {
    @Test(
        "A pattern matches host, port and path; * in a path matches any text, and *. all hosts below one",
        // The pattern, URLs that match, and URLs that do not.
        arguments: [
            (
                "example.com", ["https://example.com", "http://EXAMPLE.com:8080/a?b"],
                ["https://www.example.com/", "https://example.com.evil/", "https://example.co/"]
            ),
            (
                "*.Example.com", ["https://a.example.com/", "https://a.b.example.com/x"],
                ["https://example.com/", "https://badexample.com/", "https://a.example.com.evil/"]
            ),
            ("*", ["http://a/", "https://[::1]:8/"], []),
            ("*/feed", ["http://a/feed"], ["http://a/feeds", "http://a/b/feed"]),
            ("https://example.com", ["https://example.com/", "HTTPS://example.com:443/a"], ["http://example.com/"]),
            (
                "example.com:443", ["https://example.com/", "http://example.com:443/"],
                ["http://example.com/", "https://example.com:8443/"]
            ),
            ("example.com:80", ["http://example.com/", "https://example.com:80/"], ["https://example.com/"]),
            ("[::1]:8080/a", ["http://[::1]:8080/a"], ["http://[::1]/a", "http://[::2]:8080/a"]),
            (
                "/images/*", ["https://a/images/", "https://b/images/c/d.png?x=/y"],
                ["https://a/images", "https://a/x/images/", "https://a/Images/b"]
            ),
            (
                "a/*.png", ["https://a/b/c.png", "https://a/.png?v=1"],
                ["https://a/c.png.txt", "https://a/c.jpg?x=.png", "https://b/c.png"]
            ),
            (
                "/*a*ab*b", ["https://h/aabb", "https://h/xaxabxb"],
                ["https://h/ab", "https://h/aab", "https://h/abab/"]
            ),
            ("/a*a", ["https://h/aa", "https://h/aba"], ["https://h/a"]),
            (
                "/search?q=*", ["https://h/search?q=", "https://h/search?q=a&b=c"],
                ["https://h/search", "https://h/search?p=1", "https://h/searchXq=1"]
            ),
            ("/a?", ["https://h/a?"], ["https://h/ab", "https://h/a"]),
            ("/%C3%A4/*", ["https://h/ä/b"], ["https://h/%c3%a4/b"]),
            ("/[a]", ["https://h/[a]"], ["https://h/a"]),
        ] as [(String, [String], [String])])
    func matching(pattern: String, matches: [String], others: [String]) throws {
        let policy = try URLPolicy(pattern, .immutable)
        for url in matches { #expect(policy.matches(try CacheKey(url: url)), "\(url)") }
        for url in others { #expect(!policy.matches(try CacheKey(url: url)), "\(url)") }
        #expect(!policy.matches(try CacheKey(name: pattern)))
    }

    @Test(
        "A text that cannot match a URL is not a pattern",
        arguments: [
            "", "ftp://a/", "https://", "https:///a", ":80", "a:", "a:x", "a:65536", "a:-1", "a b", "ä.example", "/ä",
            "a*.example", "*a", "*.", "**", "a.*.b", "user@a", "a?b", "?b", "a#b", "/\u{0}", "/\n",
            String(repeating: "*", count: 1_025),
        ])
    func malformed(pattern: String) throws {
        #expect {
            try URLPolicy(pattern, .immutable)
        } throws: { error in
            guard case .invalidPattern(pattern, let reason)? = error as? LoadError else { return false }
            return !reason.isEmpty && "\(error)".contains(reason)
        }
    }

    @Test("Malformed patterns become an error or a pattern, and match in bounded time")
    func hostile() throws {
        var generator = SeededGenerator()
        let alphabet = Array("*?/:.[]ahtps@-%8 \u{0}ä")
        let texts = ["https://a/", "http://[::1]:8/*?a:b", "https://h.a.s:65535/tt//aa?*"]
        let urls = try texts.map { try CacheKey(url: $0) }
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...12, using: &generator)
            let text = String((0..<count).map { _ in alphabet.randomElement(using: &generator) ?? "*" })
            guard let policy = try? URLPolicy(text, .immutable) else { continue }
            for url in urls { _ = policy.matches(url) }
        }
        let long = try CacheKey(url: "https://a/" + String(repeating: "a", count: 4_000))
        let stars = "/" + String(repeating: "a*", count: 500) + "b"
        let near = "/*" + String(repeating: "a", count: 1_000) + "b*"
        for pattern in [stars, near] { #expect(!(try URLPolicy(pattern, .immutable)).matches(long)) }
    }

    @Test("The first match counts; the policy of a request overrides some properties and inherits the rest")
    func precedence() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=1"))
        let fixture = try LoaderFixture(transport: transport) { $0.policy.mode = .cacheOnly }
        fixture.loader.configuration.urlPolicies = [
            try URLPolicy("/a/*", .init(mode: .http, lifetimeOverride: .fixed(.seconds(100)))),
            try URLPolicy("*", .http),
        ]
        func isFresh(_ path: String, _ policy: CachePolicy.Override = .init()) async throws -> Bool {
            let url = "https://example.com\(path)"
            _ = try await fixture.loader.load(ResourceRequest(url, policy: policy))
            fixture.clock.advance(by: 50)
            let count = transport.requestCount
            _ = try await fixture.loader.load(ResourceRequest(url, policy: policy))
            return transport.requestCount == count
        }
        #expect(try await isFresh("/a/1"))
        #expect(try await !isFresh("/b/1"))
        #expect(try await !isFresh("/a/2", .init(lifetimeOverride: .fixed(.seconds(10)))))
        #expect(try await isFresh("/a/3", .init(staleIfError: .zero)), "the lifetime is inherited")
        #expect(try await !isFresh("/a/4", .remoteOnly))
        fixture.loader.configuration.urlPolicies = []
        await #expect(throws: LoadError.notCached(url: "https://example.com/c")) {
            try await fixture.loader.load("https://example.com/c")
        }
    }

    @Test("Each redirect step follows the policy for its own URL")
    func redirects() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.authority == "example.com"
                ? .reply(302, [.location: "https://cdn.example/b", .cacheControl: "no-store"])
                : .reply(200, [:], "body")
        }
        fixture.loader.configuration.urlPolicies = [try URLPolicy("cdn.example", .immutable)]
        for _ in 0..<2 { #expect(try await fixture.loader.load("https://example.com/a").text == "body") }
        #expect(transport.requests.map(\.authority) == ["example.com", "cdn.example", "example.com"])
        let reload = ResourceRequest("https://example.com/a", policy: .remoteOnly)
        _ = try await fixture.loader.load(reload)
        #expect(transport.requests.map(\.authority).suffix(2) == ["example.com", "cdn.example"])
    }

    @Test("Values in memory follow the policy for their URL")
    func memory() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60", etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        fixture.loader.configuration.urlPolicies = [try URLPolicy("/a", .revalidateAlways)]
        for (path, count) in [("/a", 2), ("/b", 1)] {
            let before = transport.requestCount
            for _ in 0..<2 { _ = try await fixture.loader.load("https://example.com\(path)") }
            #expect(transport.requestCount - before == count, "\(path)")
        }
    }

    @Test("HTTPCache follows the policies, too")
    func cache() async throws {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: "no-store"))
        let fixture = try LoaderFixture(transport: transport)
        fixture.cache.configuration.urlPolicies = [try URLPolicy("*/a", .immutable)]
        for path in ["/a", "/a", "/b", "/b"] { _ = try await fixture.cache.response(for: .to(path)).bytes }
        #expect(transport.requests.map(\.path) == ["/a", "/b", "/b"])
        let policy = CachePolicy.Override(lifetimeOverride: .serverPolicy)
        _ = try await fixture.cache.response(for: .to("/a"), policy: policy).bytes
        #expect(transport.requestCount == 4)
    }
}
