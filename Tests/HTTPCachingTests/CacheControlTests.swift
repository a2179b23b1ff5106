internal import TestSupport

/// A `Cache-Control` field and its expected directives.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let expected: CacheControl

    init(_ lines: String..., expect build: (inout CacheControl) -> Void = { _ in }) {
        self.lines = lines
        var expected = CacheControl()
        build(&expected)
        self.expected = expected
    }

    var testDescription: String { lines.joined(separator: " | ") }

    var parsed: CacheControl {
        CacheControl(Sample.fields(lines.map { "Cache-Control: \($0)" }))
    }
}

@Suite struct CacheControlTests {
    @Test("Reads every directive that this cache acts on")
    func directives() {
        let control = CacheControl(
            Sample.fields([
                "Cache-Control: max-age=1, s-maxage=2, max-stale=3, min-fresh=4, no-cache, no-store, private, public",
                "Cache-Control: must-revalidate, proxy-revalidate, must-understand, immutable, only-if-cached",
                "Cache-Control: stale-while-revalidate=5, stale-if-error=6, no-transform",
            ]))
        var expected = CacheControl()
        expected.maxAge = .seconds(1)
        expected.sharedMaxAge = .seconds(2)
        expected.maxStale = .seconds(3)
        expected.minFresh = .seconds(4)
        expected.noCache = true
        expected.noStore = true
        expected.noTransform = true
        expected.isPrivate = true
        expected.isPublic = true
        expected.mustRevalidate = true
        expected.proxyRevalidate = true
        expected.mustUnderstand = true
        expected.isImmutable = true
        expected.onlyIfCached = true
        expected.staleWhileRevalidate = .seconds(5)
        expected.staleIfError = .seconds(6)
        #expect(control == expected)
    }

    @Test(
        "The directives of any lines",
        .requirement("P01", "P02", "P03", "P04", "P05", "P06", "P11", "P12", "P13", "P14", "P15", "Q02"),
        arguments: examples)
    fileprivate func parsed(_ example: Case) {
        #expect(example.parsed == example.expected)
    }

    private static let examples: [Case] = [
        // P01: RFC 9111 §5.2: directive names are case-insensitive.
        Case("No-StOrE") { $0.noStore = true },
        Case("NO-CACHE") { $0.noCache = true },
        Case("Max-Age=60") { $0.maxAge = .seconds(60) },
        Case("S-MAXAGE=60") { $0.sharedMaxAge = .seconds(60) },
        Case("Public, IMMUTABLE, Private") {
            $0.isPublic = true
            $0.isImmutable = true
            $0.isPrivate = true
        },
        Case("Must-Revalidate, Proxy-Revalidate, Must-Understand, Only-If-Cached") {
            $0.mustRevalidate = true
            $0.proxyRevalidate = true
            $0.mustUnderstand = true
            $0.onlyIfCached = true
        },
        // P02: RFC 9111 §5.2: arguments as token and as quoted-string.
        Case(#"max-age="60""#) { $0.maxAge = .seconds(60) },
        Case(#"max-age="6\0""#) { $0.maxAge = .seconds(60) },
        Case(#"s-maxage="60", min-fresh="5", max-stale="7""#) {
            $0.sharedMaxAge = .seconds(60)
            $0.minFresh = .seconds(5)
            $0.maxStale = .seconds(7)
        },
        Case("no-cache=Set-Cookie") { $0.noCacheFields = ["set-cookie"] },
        Case(#"no-cache="Set-Cookie""#) { $0.noCacheFields = ["set-cookie"] },
        // P03: RFC 9110 §5.6.4: the content of a quoted string is data.
        Case(#"ext="max-age=9999, no-store""#),
        Case(#"ext="a\", no-store, b", max-age=5"#) { $0.maxAge = .seconds(5) },
        Case(#"ext="\\", no-store"#) { $0.noStore = true },
        Case(#"max-age=5, ext="no-cache", public"#) {
            $0.maxAge = .seconds(5)
            $0.isPublic = true
        },
        Case(#"private="no-store, x=y""#) {
            $0.isPrivate = true
        },
        // P04: RFC 9110 §5.6.1.2: empty list elements are skipped.
        Case(",, max-age=5,") { $0.maxAge = .seconds(5) },
        Case(" , \t,no-store , ,") { $0.noStore = true },
        Case(""),
        Case(",,,"),
        // P05: RFC 9110 §5.3: lines combine in order.
        Case("max-age=5", "no-cache") {
            $0.maxAge = .seconds(5)
            $0.noCache = true
        },
        Case("max-age=5", "max-age=6") { $0.maxAge = .seconds(5) },
        Case("", "public", "", "immutable") {
            $0.isPublic = true
            $0.isImmutable = true
        },
        // P06: RFC 9111 §4.2.1, decision 3: the first of two equal directives counts.
        Case("max-age=5, max-age=600") { $0.maxAge = .seconds(5) },
        Case("max-age=600, max-age=5") { $0.maxAge = .seconds(600) },
        Case("max-age=600, public, Max-Age=5") {
            $0.maxAge = .seconds(600)
            $0.isPublic = true
        },
        Case("max-age=x, max-age=600") { $0.maxAge = .malformed },
        Case("max-age=600, max-age=x") { $0.maxAge = .seconds(600) },
        Case("s-maxage=1, s-maxage=2, min-fresh=3, min-fresh=4, max-stale, max-stale=6") {
            $0.sharedMaxAge = .seconds(1)
            $0.minFresh = .seconds(3)
            $0.maxStale = .seconds(.max)
        },
        // P11: RFC 9111 §5.2: whitespace around = is malformed.
        Case("max-age =60") { $0.maxAge = .malformed },
        Case("max-age= 60") { $0.maxAge = .malformed },
        Case("max-age = 60, public") {
            $0.maxAge = .malformed
            $0.isPublic = true
        },
        Case("max-age=\t60") { $0.maxAge = .malformed },
        Case("no-cache =set-cookie") { $0.noCache = true },
        // P12: RFC 9111 §5.2.3: unknown directives are ignored.
        Case("community=UCI, max-age=5, x") { $0.maxAge = .seconds(5) },
        Case(#"foo="a,b=c;d", max-age=5"#) { $0.maxAge = .seconds(5) },
        Case("max-ages=5, xmax-age=5, no-storex, privat, pre-check=0"),
        Case("stale-while-revalidated=30, max-age=5, stale-on-error=60") { $0.maxAge = .seconds(5) },
        // P13: After an unclosed quote, the restrictive reading counts.
        Case(#"max-age="10"#) { $0.maxAge = .malformed },
        Case(#"private="set-cookie"#) {
            $0.isPrivate = true
            $0.privateIsMalformed = true
        },
        Case(#"no-cache="set-cookie"#) { $0.noCache = true },
        // An unclosed quote leaves data and directives ambiguous: only restrictions count.
        Case(#"ext="x, no-store, public, immutable, must-understand"#) { $0.noStore = true },
        Case(#"ext="x, max-age=60, s-maxage=60, min-fresh=5"#) {
            $0.maxAge = .malformed
            $0.sharedMaxAge = .malformed
            $0.minFresh = .malformed
        },
        Case(#"max-age=60, ext="x, max-age=5"#) { $0.maxAge = .seconds(60) },
        Case(#"ext="a\"b, must-revalidate"#) {
            $0.mustRevalidate = true
            $0.mustRevalidateIsMalformed = true
        },
        Case(#"max-age=60, ext=""#) { $0.maxAge = .seconds(60) },
        Case(#"max-age=60, ext="\"#) { $0.maxAge = .seconds(60) },
        Case(#"ext="x"#, "max-age=60") { $0.maxAge = .seconds(60) },
        // P14: A semicolon is no separator; its element is malformed.
        Case("max-age=60; foo") { $0.maxAge = .malformed },
        Case("max-age=60;foo, public") {
            $0.maxAge = .malformed
            $0.isPublic = true
        },
        Case("max-age=60; no-store") {
            $0.maxAge = .malformed
            $0.noStore = true
        },
        Case("public; max-age=60") { $0.maxAge = .malformed },
        Case("no-cache; private") {
            $0.noCache = true
            $0.isPrivate = true
            $0.privateIsMalformed = true
        },
        Case(#"foo; "no-store", max-age=60"#) { $0.maxAge = .seconds(60) },
        Case(#"foo; "bar, no-store"#) { $0.noStore = true },
        Case("max-age=60 immutable") { $0.maxAge = .malformed },
        Case("=60, max-age=5") { $0.maxAge = .seconds(5) },
        Case("max-stale; x") { $0.maxStale = .malformed },
        // P15: RFC 8246 §2: arguments of directives that take none are ignored.
        Case("immutable=foo, immutable=\"a, b\"") { $0.isImmutable = true },
        Case("no-store=foo") { $0.noStore = true },
        Case("no-store=\"a, b\"") { $0.noStore = true },
        Case("private=1") {
            $0.isPrivate = true
        },
        Case("public=1, must-understand=1") {
            $0.isPublic = true
            $0.mustUnderstand = true
        },
        Case("must-revalidate=0, proxy-revalidate=0, only-if-cached=0") {
            $0.mustRevalidate = true
            $0.proxyRevalidate = true
            $0.onlyIfCached = true
        },
        Case("no-cache=\"\"") { $0.noCache = true },
        Case("no-cache=") { $0.noCache = true },
        Case("no-cache=\"a b\"") { $0.noCache = true },
        Case("no-cache=\"a;b\"") { $0.noCache = true },
        Case("no-cache=\"a, B ,,c\"") { $0.noCacheFields = ["a", "b", "c"] },
        // Q02: RFC 9111 §5.2.1.2: max-stale without an argument allows any staleness.
        Case("max-stale") { $0.maxStale = .seconds(.max) },
        Case("max-stale=5") { $0.maxStale = .seconds(5) },
        Case("max-stale=x") { $0.maxStale = .malformed },
        Case("max-stale=") { $0.maxStale = .malformed },
    ]

    @Test(
        "RFC 9111 §4.2.1: an unparsable number is malformed, not absent", .requirement("P08"),
        arguments: [
            "max-age=a100", "max-age=100a", "max-age=1.5", "max-age=-1", "max-age='60'", "max-age=", "max-age",
            #"max-age="""#, #"max-age=" 60""#, #"max-age="60 ""#, "max-age=+60", "max-age=1e3", "max-age=0x10",
            "max-age=\u{661}", #"max-age="-5""#, "max-age=60s", "max-age=60k, max-age=5",
        ])
    func malformedNumbers(value: String) {
        var expected = CacheControl()
        expected.maxAge = .malformed
        #expect(CacheControl(Sample.fields(["Cache-Control: \(value)"])) == expected)
    }

    @Test(
        "RFC 9111 §1.2.2: numbers beyond 2^31 count as 2^31", .requirement("P09"),
        arguments: [
            ("2147483647", 2_147_483_647), ("2147483648", 2_147_483_648), ("2147483649", 2_147_483_648),
            ("99999999999", 2_147_483_648), ("9223372036854775808", 2_147_483_648),
            (String(repeating: "9", count: 40), 2_147_483_648), (String(repeating: "0", count: 40), 0),
        ] as [(String, Int64)])
    func largeNumbers(digits: String, seconds: Int64) {
        let control = CacheControl(Sample.fields(["Cache-Control: max-age=\(digits), min-fresh=\"\(digits)\""]))
        #expect(control.maxAge == .seconds(seconds))
        #expect(control.minFresh == .seconds(seconds))
    }

    @Test("RFC 9111 §1.2.2: leading zeros are legal", .requirement("P10"))
    func leadingZeros() {
        #expect(CacheControl(Sample.fields(["Cache-Control: max-age=003600"])).maxAge == .seconds(3600))
    }

    @Test(
        "Field names are case-insensitive", .requirement("C1"),
        arguments: ["cache-control", "Cache-Control", "CACHE-CONTROL"])
    func fieldName(name: String) {
        #expect(CacheControl(Sample.fields(["\(name): max-age=5"])).maxAge == .seconds(5))
    }
}
