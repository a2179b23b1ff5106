internal import TestSupport

@Suite struct InvalidationTests {
    private static let url = "https://example.com/a/b?q"

    private func targets(
        _ lines: String..., method: HTTPRequest.Method = .post, status: HTTPResponse.Status = .ok, url: String = url
    ) -> [String] {
        Invalidation.targets(
            of: Sample.request(method: method), url: url,
            reply: HTTPResponse(status: status, headerFields: Sample.fields(lines)))
    }

    @Test(
        "RFC 9111 §4.4: unsafe and unknown methods invalidate the target", .requirement("I01"),
        arguments: [
            "PUT", "POST", "DELETE", "PATCH", "M-SEARCH", "PROPPATCH", "query", "get", "Get", "head", "FOO", "CONNECT",
        ])
    func unsafe(name: String) throws {
        let method = try #require(HTTPRequest.Method(name))
        #expect(targets(method: method) == [Self.url])
        #expect(targets("Location: /x", method: method) == [Self.url, "https://example.com/x"])
    }

    @Test(
        "RFC 9110 §9.2.1: the methods that IANA registers as safe invalidate nothing", .requirement("I01"),
        arguments: ["GET", "HEAD", "OPTIONS", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE"])
    func safe(name: String) throws {
        let method = try #require(HTTPRequest.Method(name))
        #expect(targets("Location: /x", "Content-Location: /y", method: method) == [])
    }

    @Test("RFC 9111 §4.4: only a non-error response invalidates", .requirement("I02"))
    func statuses() {
        for code in 0...999 {
            let expected = (200..<400).contains(code) ? [Self.url, "https://example.com/x"] : []
            #expect(targets("Location: /x", status: HTTPResponse.Status(code: code)) == expected, "\(code)")
        }
    }

    @Test("RFC 9111 §4.4: also invalidates the URIs in Location and Content-Location", .requirement("I03"))
    func locations() {
        #expect(
            targets("Location: /x", "Content-Location: y?z#f")
                == [Self.url, "https://example.com/x", "https://example.com/a/y?z"])
        #expect(targets("content-location: /y", "X: /z") == [Self.url, "https://example.com/y"])
        #expect(targets("Location: /x", "Content-Location: /x") == [Self.url, "https://example.com/x"])
        #expect(targets("Location: /a/b?q", "Content-Location: \(Self.url)#f") == [Self.url])
    }

    /// The examples of RFC 3986 §5.4 that stay within the base's origin, with `?` for its `;p?q`.
    @Test(
        "RFC 3986 §5: resolves references against the target", .requirement("I03"),
        arguments: [
            ("g", "/b/c/g"), ("./g", "/b/c/g"), ("g/", "/b/c/g/"), ("/g", "/g"), ("?y", "/b/c/d;p?y"),
            ("g?y", "/b/c/g?y"), ("g#s", "/b/c/g"), ("g?y#s", "/b/c/g?y"), (";x", "/b/c/;x"), ("g;x", "/b/c/g;x"),
            ("g;x?y#s", "/b/c/g;x?y"), (".", "/b/c/"), ("./", "/b/c/"), ("..", "/b/"), ("../", "/b/"), ("../g", "/b/g"),
            ("../..", "/"), ("../../", "/"), ("../../g", "/g"), ("../../../g", "/g"), ("../../../../g", "/g"),
            ("/./g", "/g"), ("/../g", "/g"), ("g.", "/b/c/g."), (".g", "/b/c/.g"), ("g..", "/b/c/g.."),
            ("..g", "/b/c/..g"), ("./../g", "/b/g"), ("./g/.", "/b/c/g/"), ("g/./h", "/b/c/g/h"), ("g/../h", "/b/c/h"),
            ("g;x=1/./y", "/b/c/g;x=1/y"), ("g;x=1/../y", "/b/c/y"), ("g?y/./x", "/b/c/g?y/./x"),
            ("g?y/../x", "/b/c/g?y/../x"), ("//a/g", "/g"), ("http://a/g", "/g"), ("HTTP://a/x/../g", "/g"),
            ("/a//b", "/a//b"), ("/a/b:c", "/a/b:c"), ("./b:c", "/b/c/b:c"), ("/%2e%2e/g", "/%2e%2e/g"),
            (" /g ", "/g"), ("/é", "/%C3%A9"), ("/a b", "/a%20b"), ("/a,b", "/a,b"),
        ])
    func resolution(reference: String, path: String) {
        #expect(
            targets("Location: \(reference)", url: "http://a/b/c/d;p?q") == ["http://a/b/c/d;p?q", "http://a\(path)"])
    }

    @Test("Resolves against a target without a path", .requirement("I03"))
    func emptyPath() {
        #expect(targets("Location: g", url: "http://a") == ["http://a", "http://a/g"])
        #expect(targets("Location: ?g", url: "http://a") == ["http://a", "http://a?g"])
        #expect(targets("Location: ", "Content-Location: #f", url: "http://a/b") == ["http://a/b"])
    }

    @Test(
        "RFC 9111 §4.4: never where scheme, host or port differs", .requirement("I04"),
        arguments: [
            "http://example.com/x", "https://example.org/x", "https://www.example.com/x", "https://example.com.evil/x",
            "https://example.com:8443/x", "https://example.com:80/x", "//example.org/x", "//example.com:444/x",
            "urn:x:y", "mailto:a@example.com", "https:/x", "https:x", "https:///x", "//", "///x",
            "https://user@example.com/x", "https://example.com@evil/x", "https://example.com:99999/x",
            "https://example.com:x/", "https://:443/x", "https://[::1]/x", "https://example.com\\@evil/x", "1a:b",
        ])
    func otherOrigin(location: String) {
        #expect(targets("Location: \(location)", "Content-Location: \(location)") == [Self.url])
    }

    @Test(
        "RFC 9110 §4.3.1: recognises equal origins in different spellings", .requirement("I04"),
        arguments: [
            ("https://example.com/a", "https://EXAMPLE.com:443/x"),
            ("HTTPS://Example.COM:443/a", "https://example.com/x"),
            ("https://example.com:/a", "//example.com:0443/x"), ("http://a:80", "HTTP://A/x"),
            ("http://[::AB]:8080/a", "http://[::ab]:8080/x"), ("http://a:8080/", "//a:8080/x"),
        ])
    func spellings(url: String, location: String) {
        #expect(targets("Location: \(location)", url: url).count == 2)
        #expect(targets("Content-Location: \(location)", url: url).count == 2)
    }

    @Test("Skips malformed and repeated values", .requirement("I03"))
    func unreadable() {
        #expect(targets("Location: /x", "Location: /y") == [Self.url])
        #expect(targets("Location: /x", "Location: /x", "Content-Location: /z") == [Self.url, "https://example.com/z"])
        // Bytes that are invalid in a URI are percent-encoded, as for a redirect.
        #expect(targets("Location: /x y") == [Self.url, "https://example.com/x%20y"])
        var reply = HTTPResponse(status: .ok)
        reply.headerFields.append(HTTPField(name: .location, lenientValue: [0x2F, 0xFF]))
        #expect(
            Invalidation.targets(of: Sample.request(method: .put), url: Self.url, reply: reply)
                == [Self.url, "https://example.com/%FF"])
        // A target that is not a URL is still invalidated.
        for url in ["", "x", "name=x", "//a/b", "https://", "a b"] {
            #expect(targets("Location: /x", url: url) == [url])
        }
    }

    @Test("Random bytes never invalidate a URL of another origin", .requirement("I04"))
    func anyBytes() {
        var generator = SeededGenerator()
        let pieces = [
            "http", "https", ":", "/", "//", "..", ".", "?", "#", "@", "[", "]", "example.com", "evil", "443", "\\",
            "%", "a", "é", "\t",
        ]
        for _ in 0..<4000 {
            let value = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                pieces.randomElement(using: &generator) ?? ""
            }
            for target in targets("Location: \(value.joined())").dropFirst() {
                let authority = target.dropFirst("https://".count).prefix { $0 != "/" && $0 != "?" }
                #expect(target.hasPrefix("https://"), "\(generator): \(target)")
                #expect(
                    ["example.com", "example.com:", "example.com:443"].contains(authority), "\(generator): \(target)")
            }
        }
    }

    @Test("Resolves a long reference in linear time", .requirement("P13"))
    func longReference() {
        let start = ThreadTime.now()
        let byteCount = Repetitions.count(262_144, debug: 65_536)
        for piece in ["../", "./", "a/", "/", "a/../", "?", ":", "@"] {
            let long = String(repeating: piece, count: byteCount / piece.utf8.count)
            #expect(targets("Location: /\(long)").count <= 2)
        }
        #expect(ThreadTime.now() - start < .seconds(60))
    }
}
