import TestSupport

@Suite struct RedirectionTests {
    private func target(
        _ location: String, from url: String = "http://a/b/c/d;p?q", status: HTTPResponse.Status = .found
    ) -> String? {
        Redirection.target(of: HTTPResponse(status: status, headerFields: [.location: location]), from: url)
    }

    @Test(
        "RFC 3986 §5.4: the normal and the abnormal examples",
        arguments: [
            ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
            (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
            (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"),
            ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
            // §5.4.2
            ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
            ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
            ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
            ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
            ("g#s/../x", "http://a/b/c/g#s/../x"),
            // A strict parser: "http:g" has a scheme and no host.
            ("http:g", "http:g"),
        ])
    func resolution(location: String, expected: String) { #expect(target(location) == expected) }

    @Test(
        "RFC 3986 §2.4: nothing is encoded or decoded twice",
        arguments: [
            ("/s?tags[]=a&q=rock%20roll", "http://h/s?tags[]=a&q=rock%20roll"), ("/caf%E9.txt", "http://h/caf%E9.txt"),
            ("http://h/%7Efoo", "http://h/%7Efoo"), ("/%2e%2E/a", "http://h/%2e%2E/a"), ("/a%2Fb", "http://h/a%2Fb"),
            ("/100%", "http://h/100%"), ("/%zz", "http://h/%zz"), ("/a|b%20c", "http://h/a|b%20c"),
            ("?x", "http://h/p/q?x"), ("?a?b", "http://h/p/q?a?b"), ("/a//b", "http://h/a//b"),
            ("//[::1]:8080/x", "http://[::1]:8080/x"), ("HTTPS://H:443/A", "https://H:443/A"),
            ("/a:b", "http://h/a:b"), ("?a=b:c", "http://h/p/q?a=b:c"), ("./a:b", "http://h/p/a:b"),
            // These bytes are invalid in a URI.
            ("/a b", "http://h/a%20b"), ("/a b%20c", "http://h/a%20b%20c"), ("?q=a b", "http://h/p/q?q=a%20b"),
            ("/a\tb", "http://h/a%09b"), ("/é", "http://h/%C3%A9"), (" /a ", "http://h/a"),
            ("/a#b c", "http://h/a#b%20c"),
            // No host contains a space: the loader refuses the URL.
            ("//a b/", "http://a b/"),
        ])
    func bytes(location: String, expected: String) {
        #expect(target(location, from: "http://h/p/q") == expected)
    }

    @Test("Bytes that are not UTF-8 are percent-encoded")
    func otherBytes() {
        for byte in UInt8(0x80)...0xFF {
            var head = HTTPResponse(status: .found)
            head.headerFields.append(HTTPField(name: .location, value: Array("/caf".utf8) + [byte]))
            let digits = String(byte, radix: 16, uppercase: true)
            #expect(Redirection.target(of: head, from: "https://h/") == "https://h/caf%\(digits)")
        }
    }

    @Test("RFC 9110 §10.2.2: the target inherits the fragment")
    func fragments() {
        #expect(target("/b", from: "http://h/a#f") == "http://h/b#f")
        #expect(target("/b#g", from: "http://h/a#f") == "http://h/b#g")
        #expect(target("/b#", from: "http://h/a#f") == "http://h/b#")
        #expect(target("/b", from: "http://h/a") == "http://h/b")
    }

    @Test("RFC 9110 §15.4: the statuses of redirects")
    func statuses() {
        let codes = (100...599).filter { target("/x", status: HTTPResponse.Status(code: $0)) != nil }
        #expect(codes == [301, 302, 303, 307, 308])
    }

    @Test("Without exactly one Location, the redirect has no target")
    func locations() {
        func target(_ lines: String...) -> String? {
            Redirection.target(
                of: HTTPResponse(status: .found, headerFields: Sample.fields(lines)), from: "http://h/a")
        }
        #expect(target() == nil)
        #expect(target("Location:") == nil)
        #expect(target("Location: /b", "Location: /c") == nil)
        #expect(target("Location: /b", "location: /b") == "http://h/b")
        // Not a URI reference: its first segment contains a colon without a scheme.
        #expect(target("Location: 1a:b") == "1a:b")
    }
}
