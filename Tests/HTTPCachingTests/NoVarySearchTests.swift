internal import TestSupport

private let page = "https://example.com/page"

@Suite struct NoVarySearchTests {
    private func variance(_ values: String...) -> NoVarySearch {
        NoVarySearch(Sample.fields(values.map { "No-Vary-Search: \($0)" }))
    }

    @Test(
        "No-Vary-Search §3, §5: an absent, invalid or contradictory field means the default: only equal queries match",
        .requirement("W10"),
        arguments: [
            "", "params=1", "params=a", #"params="a""#, "params=(a)", #"params=("a" 1)"#, #"params=("a" b)"#,
            "key-order=1", #"key-order="yes""#, "key-order=()", #"key-order=2, params=("utm")"#,
            #"params=("utm"), key-order=a"#, "except=1", "except", "except=?0", "except=(a)", #"except="a""#,
            #"params=("utm"), except=("a")"#, #"params, except=("a")"#, #"params=?0, except=("a")"#,
            "params=(", "params=(\"utm\"),", "Params", #"params=("é")"#, "unknown", "unknown=(), other=5",
            "params=()", "key-order=?0", "key-order=?0, params=()",
            // Invalid examples of the draft (§4.1).
            #"key-order="not a boolean""#, #"params="not an inner list""#, "params=(not-a-string)", "params=?0",
            "params=?1", "params", #"params=?1, except=("x")"#, #"params=("a"), except=("x")"#, "params=(), except=()",
            #"except="not an inner list""#, "except=(not-a-string)", "except=?1", "key-order, params",
        ])
    func defaults(field: String) {
        let variance = variance(field)
        #expect(variance.isDefault)
        #expect(variance == NoVarySearch())
        #expect(variance.isEquivalent("\(page)?a=1&utm=2", "\(page)?a=1&utm=2"))
        for other in ["?utm=2&a=1", "?a=1", "?a=1&utm=3", "?a=1&utm=2&", "?a=%31&utm=2", "?", ""] {
            #expect(!variance.isEquivalent("\(page)?a=1&utm=2", page + other))
        }
        #expect(!variance.isEquivalent(page, page + "?"))
    }

    @Test("The field is a Dictionary over all its lines; ignores parameters and unknown members", .requirement("W10"))
    func dictionary() {
        let expected = variance(#"params=("a" "b"), key-order"#)
        #expect(!expected.isDefault)
        #expect(variance(#"params=("a" "b")"#, "key-order") == expected)
        #expect(variance(#"key-order;x=1, params=("b";y "a");z, more=("c")"#) == expected)
        #expect(variance(#"params, key-order=?0, params=("a" "b"), key-order=?1"#) == expected)
        #expect(variance("key-order") != expected)
    }

    @Test("Queries are equivalent, or not, in either order", .requirement("W10", "W11"), arguments: examples)
    func equivalence(field: String, first: String, second: String, expected: Bool) {
        let variance = variance(field)
        #expect(variance.isEquivalent(page + first, page + second) == expected)
        #expect(variance.isEquivalent(page + second, page + first) == expected)
        #expect(variance.isEquivalent(page + first, page + first))
    }

    /// A `No-Vary-Search`, two queries, and whether the field makes them equivalent.
    private static let examples: [(String, String, String, Bool)] = [
        // Decision 9: without params and except, key-order still counts.
        ("key-order", "?a=1&b=2", "?b=2&a=1", true),
        ("key-order=?1", "?a=1&b=2", "?b=2&a=1", true),
        ("key-order", "?a=1&b=2", "?a=1&b=3", false),
        ("key-order", "?a=1", "?a=1&b", false),
        ("key-order, unknown", "?a&b", "?b&a", true),
        ("key-order=?0", "?a=1&b=2", "?b=2&a=1", false),
        ("unknown", "?a=1&b=2", "?b=2&a=1", false),
        // No-Vary-Search §5: params names the parameters to ignore.
        (#"params=("utm")"#, "?a=1", "?a=1&utm=x", true),
        (#"params=("utm")"#, "?utm=1&a=1&utm=2", "?a=1", true),
        (#"params=("utm")"#, "?utm", "", true),
        (#"params=("utm")"#, "?a=1", "?a=2", false),
        (#"params=("utm")"#, "?a=1", "?a=1&UTM=x", false),
        (#"params=("utm")"#, "?a=1", "?a=1&utm2=x", false),
        (#"params=("utm" "ref")"#, "?ref=1&a=1&utm", "?a=1", true),
        (#"params=("")"#, "?=1&a", "?a", true),
        // No-Vary-Search §6: except names the only parameters that count.
        (#"except=("id")"#, "?id=1", "?id=1&b=2", true),
        (#"except=("id")"#, "?b=2&id=1", "?id=1", true),
        (#"except=("id")"#, "?id=1", "?id=2", false),
        (#"except=("id")"#, "?id=1", "?b=1", false),
        (#"except=("id")"#, "?id=1&id=2", "?id=2&id=1", false),
        (#"except=("id")"#, "?b=2", "", true),
        ("except=()", "?a=1&b=2", "?c", true),
        // No-Vary-Search §6: order counts unless key-order; equal names keep their order; no parameter is dropped.
        (#"params=("x")"#, "?a=1&b=2", "?b=2&a=1", false),
        (#"params=("x"), key-order"#, "?a=1&b=2", "?b=2&x&a=1", true),
        (#"except=("a" "b"), key-order"#, "?a=1&b=2", "?b=2&x&a=1", true),
        ("key-order", "?a=1&a=2&b", "?b&a=1&a=2", true),
        ("key-order", "?a=1&a=2", "?a=2&a=1", false),
        ("key-order", "?a=1&b=2&a=3", "?a=1&a=3&b=2", true),
        (#"params=("x")"#, "?a=1&a=1", "?a=1", false),
        ("key-order", "?a=1&a=1", "?a=1", false),
        // No-Vary-Search §6: queries compare as application/x-www-form-urlencoded.
        ("key-order", "", "?", true),
        ("key-order", "?a=x", "?%61=%78", true),
        ("key-order", "?a=é", "?a=%C3%A9", true),
        ("key-order", "?a=é", "?a=%c3%a9", true),
        ("key-order", "?a=%F6", "?a=%EF%BF%BD", true),
        ("key-order", "?a=x&&&&", "?a=x", true),
        ("key-order", "?&&a=x", "?a=x", true),
        ("key-order", "?a=", "?a", true),
        ("key-order", "?a=%20", "?a=+", true),
        ("key-order", "?a+b=1", "?a%20b=1", true),
        ("key-order", "?a=%2B", "?a=+", false),
        ("key-order", "?a=b=c", "?a=b%3Dc", true),
        ("key-order", "?a%3Db=c", "?a=b=c", false),
        ("key-order", "?a=%26b", "?a=&b", false),
        ("key-order", "?a=%", "?a=%25", true),
        ("key-order", "?a=%4", "?a=%254", true),
        ("key-order", "?a=%zz", "?a=%25zz", true),
        ("key-order", "?a=%", "?a=", false),
        ("key-order", "?=1", "?=1&", true),
        ("key-order", "?=", "?", false),
        ("key-order", "?a?b", "?a%3Fb", true),
        // Composed and decomposed characters look alike, but differ.
        ("key-order", "?a=%C3%A9", "?a=e%CC%81", false),
        (#"params=("%C3%A9")"#, "?e%CC%81=1", "", false),
        // No-Vary-Search §3: names in the field are plus- and percent-decoded.
        (#"params=("a+b")"#, "?a%20b=1", "", true),
        (#"params=("a b")"#, "?a+b=1", "", true),
        (#"params=("a%2Bb")"#, "?a%2bb=1", "", true),
        (#"params=("%C3%A9")"#, "?é=1", "", true),
        (#"params=("%61")"#, "?a=1", "", true),
        (#"except=("%61")"#, "?a=1&b=2", "?a=1", true),
        (#"params=("a%")"#, "?a%25=1", "", true),
        (#"params=("a\"b")"#, "?a%22b=1", "", true),
        (#"params=("a=b")"#, "?a%3Db=1", "", true),
        (#"params=("a&b")"#, "?a%26b=1", "", true),
    ]

    @Test(
        "No-Vary-Search §6: scheme, authority and path must be equal", .requirement("W11"),
        arguments: [
            "http://example.com/page?a", "https://example.org/page?a", "https://example.com:8443/page?a",
            "https://example.com/page/?a", "https://example.com/Page?a", "https://example.com/p%61ge?a", "", "?a",
            "https://example.com/?a", "https://example.com/pag?e", "name=https://example.com/page",
        ])
    func base(url: String) {
        #expect(!variance("params").isEquivalent("\(page)?a", url))
        #expect(variance("params").isEquivalent(url, url))
    }

    @Test(
        "No-Vary-Search §7: the base of a URL ends before its query", .requirement("W12"),
        arguments: [
            (page, page), ("\(page)?", page), ("\(page)?a?b", page), ("", ""), ("?", ""), ("?a", ""),
            ("https://example.com/é?é", "https://example.com/é"), ("a?\u{301}", "a"),
        ])
    func baseText(url: String, expected: String) {
        #expect(NoVarySearch.base(of: url).utf8.elementsEqual(expected.utf8))
    }

    @Test("Compares a long query in linear time", .requirement("W11"))
    func longQueries() {
        let clock = ContinuousClock()
        let count = 32_768
        let pairs = (0..<4000).map { "k\($0)=\($0)" }
        let queries = [
            pairs.joined(separator: "&"), pairs.reversed().joined(separator: "&"),
            String(repeating: "&", count: count), String(repeating: "a&", count: count / 2),
            String(repeating: "%", count: count), String(repeating: "=", count: count),
            String(repeating: "%61", count: count / 3), String(repeating: "?", count: count),
            String(repeating: "+", count: count), String(repeating: "%FF", count: count / 3),
        ].map { "\(page)?\($0)" }
        let names = (0..<4000).map { "\"k\($0)\"" }.joined(separator: " ")
        let variances = [
            variance("key-order"), variance("params=(\(names))"), variance("except=(\(names)), key-order"),
        ]
        #expect(variances.allSatisfy { !$0.isDefault })
        let elapsed = clock.measure {
            for variance in variances {
                for (first, second) in zip(queries, queries.dropFirst()) { _ = variance.isEquivalent(first, second) }
            }
        }
        #expect(variances[0].isEquivalent(queries[0], queries[1]))
        // Some thirty comparisons of 32 KiB. Quadratic work would take many seconds for each.
        #expect(elapsed < .seconds(60))
        #expect(variance("params=(\(names) \(names))").isDefault)
    }
}
