internal import TestSupport

@Suite("Use-As-Dictionary") struct UseAsDictionaryTests {
    private static let url = "https://example.com/app/1/main.js?v=1"

    private func parsed(_ lines: [String], of url: String = url) -> UseAsDictionary? {
        UseAsDictionary(Sample.fields(lines.map { "Use-As-Dictionary: \($0)" }), of: url)
    }

    /// The lines of the field, with the `match` and `id` in them, or `nil` for no dictionary.
    struct Case: Sendable, CustomTestStringConvertible {
        let lines: [String]
        let match: String?
        let id: String

        init(_ lines: String..., match: String? = nil, id: String = "") {
            self.lines = lines
            self.match = match
            self.id = id
        }

        var testDescription: String { lines.joined(separator: " | ") }
    }

    @Test(
        "RFC 9842 §2.1: a Dictionary with a String match; a malformed field makes no dictionary", .requirement("D11"),
        arguments: [
            Case(),
            Case(""),
            Case(#"match="/app/*""#, match: "/app/*"),
            Case(#"match="/app/*", match-dest=("document" "script")"#, match: "/app/*"),
            Case(#"match="/app/*", match-dest=()"#, match: "/app/*"),
            Case(#"match="/app/*", match-dest="document""#),
            Case(#"match="/app/*", match-dest=(document)"#),
            Case(#"match="/app/*", id="one""#, match: "/app/*", id: "one"),
            Case(#"match="/app/*""#, #"id="a\"b\\""#, match: "/app/*", id: #"a"b\"#),
            Case(
                #"match="/app/*", id="\#(String(repeating: "x", count: 1024))""#, match: "/app/*",
                id: String(repeating: "x", count: 1024)),
            Case(#"match="/app/*", id="\#(String(repeating: "x", count: 1025))""#),
            Case(#"match="/app/*", id=one"#),
            Case(#"match="/app/*", type=raw"#, match: "/app/*"),
            Case(#"match="/app/*", type=other"#),
            Case(#"match="/app/*", type="raw""#),
            Case(#"match="/app/*", other=1"#, match: "/app/*"),
            Case(#"id="one""#),
            Case("match=/app/*"),
            Case("match"),
            Case(#"match="""#),
            Case(#"match="/app/*"#),
            Case(#"match="/app/*","#),
        ])
    func parsing(_ c: Case) {
        let dictionary = parsed(c.lines)
        #expect(dictionary?.match == c.match)
        #expect(dictionary?.id ?? "" == c.id)
    }

    @Test(
        "RFC 9842 §2.2.2: literal text and stars match the whole path, and the query if there is one",
        .requirement("D12"),
        // The pattern, paths that match, and paths that do not.
        arguments: [
            (
                "/app/*/main.js", ["/app/2/main.js", "/app/2/3/main.js", "/app/2/main.js?v=2"],
                ["/app/main.js", "/app/2/main.js.map", "/App/2/main.js", "/x/app/2/main.js"]
            ),
            ("/product/*", ["/product/", "/product/a/b"], ["/product", "/products/"]),
            ("/*", ["/", "/a", "/a?b"], []),
            ("/a", ["/a", "/a?b"], ["/a/", "/ab", "/"]),
            ("/d%C3%BCsseldorf", ["/d%C3%BCsseldorf"], ["/d%c3%bcsseldorf", "/dsseldorf"]),
            ("/a?v=*", ["/a?v=1", "/a?v="], ["/a", "/a?w=1", "/a?w=1&v=1"]),
            ("/a?", ["/a", "/a?"], ["/a?b"]),
            ("/a.b", ["/a.b"], ["/acb"]),
            ("/a+b", ["/a+b"], ["/aab"]),
            ("*.js", ["/app/1/a.js", "/app/1/x/y.js"], ["/app/2/a.js", "/a.js"]),
            ("https://example.com/a*", ["/a", "/ab"], ["/b"]),
        ] as [(String, [String], [String])])
    func matching(match: String, matching: [String], others: [String]) throws {
        let dictionary = try #require(parsed([#"match="\#(match)""#]))
        for path in matching { #expect(dictionary.matches("https://example.com\(path)"), "\(path)") }
        for path in others { #expect(!dictionary.matches("https://example.com\(path)"), "\(path)") }
    }

    @Test("RFC 9842 §9.3.1: a dictionary matches only URLs of the same origin", .requirement("D12"))
    func origin() throws {
        let dictionary = try #require(parsed([#"match="/*""#]))
        for other in [
            "http://example.com/a", "https://example.com:8443/a", "https://www.example.com/a", "https://example.org/a",
            "https://example.com.evil.test/a", "name",
        ] {
            #expect(!dictionary.matches(other), "\(other)")
        }
        #expect(parsed([#"match="/*""#], of: "name") == nil)
    }

    @Test(
        "A pattern with other syntax than text and single stars matches nothing", .requirement("D12"),
        arguments: [
            "/:name", "/(.*)", "/{a}?", "/a*?", "/a*+", "/**", #"/a\\*"#, "/a/../b", "/./a", "/..", "//example.org/a",
            "https://example.org/*", "http://example.com/*", "/a#b", "?v=*", "/a?b?c", "/a b", "https://*/a",
        ])
    func unsupported(match: String) { #expect(parsed([#"match="\#(match)""#]) == nil) }

    @Test("A combining character after a delimiter belongs to the path", .requirement("D12"))
    func combining() throws {
        let use = try #require(parsed([#"match="/app""#], of: "https://example.com/\u{368}"))
        #expect(use.matches("https://example.com/app"))
        #expect(try #require(parsed([#"match="/*""#])).matches("https://example.com/a?\u{368}"))
    }

    @Test("RFC 9842 §2.2.3: the longest pattern takes precedence, then the latest response", .requirement("D14"))
    func precedence() throws {
        let short = try #require(parsed([#"match="/*""#]))
        let long = try #require(parsed([#"match="/app/*""#]))
        let (old, new) = (Sample.time(0), Sample.time(1))
        #expect(long.precedes(short, fetchedAt: old, otherFetchedAt: new))
        #expect(!short.precedes(long, fetchedAt: new, otherFetchedAt: old))
        #expect(short.precedes(short, fetchedAt: new, otherFetchedAt: old))
        #expect(!short.precedes(short, fetchedAt: old, otherFetchedAt: new))
    }

    @Test(
        "RFC 9842 §2.2.1: a dictionary is fresh, or within stale-while-revalidate", .requirement("D13"),
        arguments: [
            // Directives, the age, and whether a private and a shared cache may use the dictionary.
            ("max-age=600", 599, true, true),
            ("max-age=600", 600, false, false),
            ("max-age=600, no-cache", 599, true, true),
            ("max-age=600, stale-while-revalidate=60", 660, true, true),
            ("max-age=600, stale-while-revalidate=60", 661, false, false),
            ("max-age=600, stale-while-revalidate=x", 601, false, false),
            ("max-age=0, stale-while-revalidate=60", 0, true, true),
            ("max-age=600, s-maxage=0, stale-while-revalidate=60", 601, true, false),
            ("max-age=600, stale-while-revalidate=60, must-revalidate", 601, false, false),
            ("max-age=600, stale-while-revalidate=60, no-cache", 601, false, false),
            ("max-age=600, stale-while-revalidate=60, proxy-revalidate", 601, true, false),
            ("max-age=600, stale-if-error=60", 601, false, false),
            ("stale-while-revalidate=60", 1, true, true),
        ])
    func freshness(control: String, age: Int64, inPrivate: Bool, inShared: Bool) {
        let response = Sample.stored("Cache-Control: \(control)")
        for (policy, expected) in [(CachePolicy(), inPrivate), (.shared, inShared)] {
            let freshness = Freshness(of: response, policy: policy)
            #expect(freshness.permitsUseAsDictionary(at: Sample.time(age)) == expected, "shared: \(policy.isShared)")
        }
        #expect(!Freshness(of: response, policy: CachePolicy()).permitsUseAsDictionary(at: .distantPast))
    }

    @Test("Random fields and URLs are read or ignored", .requirement("D11"))
    func hostile() {
        var random = SeededGenerator()
        let pieces = [
            "match=", "\"", "/", "*", "?", "a", ":", "(", ")", "\\", ", ", "id=", "type=raw", "..",
            "https://example.com",
            "match-dest=(", "{", "#", "%", " ",
        ]
        for _ in 0..<20_000 {
            func text() -> String {
                (0..<Int.random(in: 0...10, using: &random)).map { _ in
                    pieces[Int.random(in: 0..<pieces.count, using: &random)]
                }.joined()
            }
            let dictionary = parsed([#"match="/\#(text())", \#(text())"#], of: "https://example.com/\(text())")
            if let dictionary, dictionary.matches("https://example.com/\(text())") {
                #expect(!dictionary.match.contains(":("), "\(random)")
                #expect(!dictionary.match.contains("**"), "\(random)")
            }
            _ = parsed([text()], of: text())?.matches(text())
        }
    }
}
