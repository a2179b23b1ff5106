import TestSupport

@Suite("CacheKey")
struct CacheKeyTests {
    let sandbox = Sandbox()

    /// The vectors of the acceptance table's Appendix C.
    static let distinct = [
        "http://a.com/x/y.png", "https://a.com/x/y.png", "http://a.com/x-y.png", "http://a.com/x?y.png",
        "http://a.com/x%2Fy.png", "http://a.com:8080/x/y.png", "http://b.com/x/y.png", "http://a.com/img.png?size=1",
        "http://a.com/img.png?size=2", "https://b.org/img.png?size=2", "http://a.com/a%20b", "http://a.com/a_b",
        "http://a.com/p.png", "http://a.com/p.png.cc", "http://a.com/%FF.png", "http://a.com/?u=http://b.com/",
        "http://a.com/?u=b.com/", "http://a.com/x", "http://a.com/x/", "http://a.com",
    ]

    @Test("the vectors of Appendix C are distinct entries, each with its own body", .requirement("A3"))
    func distinctEntries() throws {
        let store = try sandbox.open()
        for url in Self.distinct {
            try store.insert(Data(url.utf8), metadata: sandbox.metadata(), for: CacheKey(url: url))
        }
        for url in Self.distinct { #expect(try store.bytes(CacheKey(url: url)) == Data(url.utf8)) }
        #expect(try store.statistics().entries == Self.distinct.count)
    }

    @Test(
        "equal by RFC 3986 §6.2.2 and §6.2.3", .requirement("A3"),
        arguments: [
            ("http://A.com/x", "http://a.com/x"),
            ("HTTP://a.com/x", "http://a.com/x"),
            ("http://a.com", "http://a.com/"),
            ("http://a.com?q", "http://a.com/?q"),
            ("http://a.com:80/x", "http://a.com/x"),
            ("https://a.com:443/x", "https://a.com/x"),
            ("http://a.com:/x", "http://a.com/x"),
            ("http://a.com:0080/x", "http://a.com/x"),
            ("http://a.com/x#f", "http://a.com/x"),
            ("http://a.com#f", "http://a.com/"),
            ("http://a.com/x#a b", "http://a.com/x"),
            ("http://[::1]:80/", "http://[::1]/"),
            ("http://a.com/é", "http://a.com/%C3%A9"),
        ])
    func same(_ left: String, _ right: String) throws {
        #expect(try CacheKey(url: left) == CacheKey(url: right))
    }

    @Test(
        "distinct by RFC 3986", .requirement("A3", "V01"),
        arguments: [
            ("http://a.com/X", "http://a.com/x"),
            ("http://a.com:443/", "http://a.com/"),
            ("https://a.com:80/", "https://a.com/"),
            ("http://a.com/%41", "http://a.com/A"),
            ("http://a.com/?", "http://a.com/"),
            ("http://a.com/e\u{301}", "http://a.com/\u{e9}"),
            ("http://[::1]:8080/", "http://[::1]/"),
        ])
    func different(_ left: String, _ right: String) throws {
        #expect(try CacheKey(url: left) != CacheKey(url: right))
    }

    @Test(
        "stores and finds a URL of 4,000 characters, and one with %FF", .requirement("A3"),
        arguments: [
            "http://a.com/" + String(repeating: "x", count: 3_987), "http://a.com/%FF", "http://a.com/?%FF=%00",
        ])
    func longAndOdd(_ url: String) throws {
        let store = try sandbox.open()
        let key = try CacheKey(url: url)
        try store.insert(Data("body".utf8), metadata: sandbox.metadata(), for: key)
        #expect(key.text == url)
        #expect(try store.bytes(key) == Data("body".utf8))
    }

    @Test("normalizes a Foundation URL like text")
    func foundation() throws {
        let url = try #require(URL(string: "HTTPS://Example.com:443/a%20b?c#d"))
        #expect(try CacheKey(url: url).text == "https://example.com/a%20b?c")
    }

    @Test(
        "a name never equals a URL, with any text", .requirement("A4"),
        arguments: ["http://a.com/", "", "name=http://a.com/", "a:b"])
    func names(_ name: String) throws {
        let store = try sandbox.open()
        let (named, url) = (try CacheKey(name: name), try CacheKey(url: "http://a.com/"))
        #expect(named != url)
        try store.insert(Data("named".utf8), metadata: sandbox.metadata(), for: named)
        #expect(try store.peek(url) == nil)
        try store.insert(Data("url".utf8), metadata: sandbox.metadata(), for: url)
        #expect(try store.bytes(named) == Data("named".utf8))
        #expect(try RawIndex(sandbox.indexPath).rows("SELECT host FROM entry ORDER BY id") == [[""], ["a.com"]])
    }

    @Test("names that look alike but differ in bytes are different keys, in memory and in the index")
    func canonicalEquivalents() throws {
        let store = try sandbox.open()
        let (composed, decomposed) = (try CacheKey(name: "\u{e9}"), try CacheKey(name: "e\u{301}"))
        #expect(composed != decomposed)
        #expect(try CacheKey(name: "x", partition: "\u{e9}") != CacheKey(name: "x", partition: "e\u{301}"))
        try store.insert(Data("1".utf8), metadata: sandbox.metadata(), for: composed)
        #expect(try store.peek(decomposed) == nil)
    }

    @Test("partitions keep the same URL apart", .requirement("A5", "V11"))
    func partitions() throws {
        let store = try sandbox.open()
        let keys = try ["", "alice", "bob", "ALICE"].map { try CacheKey(url: "http://a.com/", partition: $0) }
        for key in keys { try store.insert(Data(key.partition.utf8), metadata: sandbox.metadata(), for: key) }
        for key in keys { #expect(try store.bytes(key) == Data(key.partition.utf8)) }
        try store.remove(keys[1])
        #expect(try keys.map { try store.contains($0) } == [true, false, true, true])
    }

    @Test(
        "the index stores the host",
        arguments: [
            ("http://Example.COM/x", "example.com"), ("http://a.com:8080/x", "a.com"),
            ("http://[2001:DB8::1]/", "[2001:db8::1]"), ("http://[::1]:8080/x", "[::1]"), ("ftp://h", "h"),
            ("http://a.com/?u=http://b.com/", "a.com"), ("http://a.com?@b.com/", "a.com"),
        ])
    func host(_ url: String, _ host: String) throws {
        let store = try sandbox.open()
        try store.insert(Data(), metadata: sandbox.metadata(), for: CacheKey(url: url))
        #expect(try RawIndex(sandbox.indexPath).value("SELECT host FROM cache_entries") == host)
    }

    @Test("the host of a name is that of the URL of its body")
    func hostOfName() throws {
        let store = try sandbox.open()
        var metadata = sandbox.metadata()
        metadata.url = "https://CDN.example.com/x"
        try store.insert(Data(), metadata: metadata, for: CacheKey(name: "logo"))
        #expect(try RawIndex(sandbox.indexPath).value("SELECT host FROM cache_entries") == "cdn.example.com")
    }

    @Test(
        "refuses an invalid URL with a reason",
        arguments: [
            "", " ", "a.com", "/x", "//a.com/x", "http:", "http:/", "http://", "http:///x", "http://?x", "http://:80/",
            "://a.com", "1http://a.com", "ht tp://a.com", "http://a b.com/", "http://a.com/ x", "http://a.com/\n",
            "http://a.com/\0", "http://a.com/\u{7f}", "http://ä.com/", "http://user@a.com/", "http://u:p@a.com/",
            "http://a.com:99999/", "http://a.com:-1/", "http://a.com:8o/", "http://[::1/", "mailto:a@b.com", "data:,x",
            "http://a.com/" + String(repeating: "x", count: 1 << 17),
            "http://a.com/" + String(repeating: "é", count: 16_000),
        ])
    func refused(_ url: String) {
        let error = #expect(throws: StoreError.self) { try CacheKey(url: url) }
        guard case .invalidKey(let text, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(text == CacheKey.withoutCredentials(url))
        #expect(!reason.isEmpty)
        #expect("\(StoreError.invalidKey(url, reason: reason))".utf8.count < 2_000)
    }

    @Test(
        "a message contains no user and no password",
        arguments: [
            ("http://u:p@a.com/x", "http://a.com/x"), ("http://u@a.com", "http://a.com"), ("//u:p@a", "//a"),
            ("http://u:p@q@a.com/@b?c@d", "http://a.com/@b?c@d"), ("http://a.com/@b", "http://a.com/@b"),
            ("http://a.com?x@y", "http://a.com?x@y"), ("http://a.com#x@y", "http://a.com#x@y"),
            ("mailto:a@b.com", "mailto:a@b.com"), ("", ""), ("http://@", "http://"),
        ])
    func withoutCredentials(url: String, expected: String) {
        #expect(CacheKey.withoutCredentials(url) == expected)
    }

    @Test("names and partitions have at most maxByteCount bytes and no NUL")
    func refusedNames() throws {
        let longest = String(repeating: "x", count: CacheKey.maxByteCount)
        #expect(throws: Never.self) { try CacheKey(name: longest, partition: longest) }
        #expect(throws: StoreError.self) { try CacheKey(name: longest + "x") }
        #expect(throws: StoreError.self) { try CacheKey(name: "a", partition: longest + "x") }
        #expect(throws: StoreError.self) { try CacheKey(name: "a\0b") }
        #expect(throws: StoreError.self) { try CacheKey(url: "http://a.com", partition: "\0") }
    }

    @Test("random text is a key or an error, and the text of a key is an equal key")
    func random() throws {
        var generator = SeededGenerator()
        let pieces = [
            "http", "://", ":", "/", "?", "#", "[", "]", "@", "a.com", "%", "\0", "é", "99", "\u{1F600}", "=", " ",
        ]
        for _ in 0..<20_000 {
            let text =
                Bool.random(using: &generator)
                ? String(
                    decoding: (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }, as: UTF8.self)
                : (0..<Int.random(in: 0..<12, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator) ?? ""
                }.joined()
            guard let key = try? CacheKey(url: text) else { continue }
            #expect(try CacheKey(url: key.text) == key, "\(generator) \(text.debugDescription)")
        }
    }
}
