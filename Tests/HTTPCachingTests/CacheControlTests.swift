internal import TestSupport

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
    func parsed(_ example: ControlCase) {
        #expect(CacheControl(example.fields("Cache-Control")) == example.expected)
    }

    private static let examples: [ControlCase] = [
        // P01: RFC 9111 §5.2: directive names are case-insensitive.
        .init("No-StOrE") { $0.noStore = true },
        .init("NO-CACHE") { $0.noCache = true },
        .init("Max-Age=60") { $0.maxAge = .seconds(60) },
        .init("S-MAXAGE=60") { $0.sharedMaxAge = .seconds(60) },
        .init("Public, IMMUTABLE, Private", is: [\.isPublic, \.isImmutable, \.isPrivate]),
        .init(
            "Must-Revalidate, Proxy-Revalidate, Must-Understand, Only-If-Cached",
            is: [\.mustRevalidate, \.proxyRevalidate, \.mustUnderstand, \.onlyIfCached]),
        // P02: RFC 9111 §5.2: arguments as token and as quoted-string.
        .init(#"max-age="60""#) { $0.maxAge = .seconds(60) },
        .init(#"max-age="6\0""#) { $0.maxAge = .seconds(60) },
        .init(#"s-maxage="60", min-fresh="5", max-stale="7""#) {
            $0.sharedMaxAge = .seconds(60)
            $0.minFresh = .seconds(5)
            $0.maxStale = .seconds(7)
        },
        .init("no-cache=Set-Cookie") { $0.noCacheFields = ["set-cookie"] },
        .init(#"no-cache="Set-Cookie""#) { $0.noCacheFields = ["set-cookie"] },
        // P03: RFC 9110 §5.6.4: the content of a quoted string is data.
        .init(#"ext="max-age=9999, no-store""#),
        .init(#"ext="a\", no-store, b", max-age=5"#) { $0.maxAge = .seconds(5) },
        .init(#"ext="\\", no-store"#) { $0.noStore = true },
        .init(#"max-age=5, ext="no-cache", public"#, is: [\.isPublic]) { $0.maxAge = .seconds(5) },
        .init(#"private="no-store, x=y""#) { $0.isPrivate = true },
        // P04: RFC 9110 §5.6.1.2: empty list elements are skipped.
        .init(",, max-age=5,") { $0.maxAge = .seconds(5) },
        .init(" , \t,no-store , ,") { $0.noStore = true },
        .init(""),
        .init(",,,"),
        // P05: RFC 9110 §5.3: lines combine in order.
        .init("max-age=5", "no-cache", is: [\.noCache]) { $0.maxAge = .seconds(5) },
        .init("max-age=5", "max-age=6") { $0.maxAge = .seconds(5) },
        .init("", "public", "", "immutable", is: [\.isPublic, \.isImmutable]),
        // P06: RFC 9111 §4.2.1, decision 3: the first of two equal directives counts.
        .init("max-age=5, max-age=600") { $0.maxAge = .seconds(5) },
        .init("max-age=600, max-age=5") { $0.maxAge = .seconds(600) },
        .init("max-age=600, public, Max-Age=5", is: [\.isPublic]) { $0.maxAge = .seconds(600) },
        .init("max-age=x, max-age=600") { $0.maxAge = .malformed },
        .init("max-age=600, max-age=x") { $0.maxAge = .seconds(600) },
        .init("s-maxage=1, s-maxage=2, min-fresh=3, min-fresh=4, max-stale, max-stale=6") {
            $0.sharedMaxAge = .seconds(1)
            $0.minFresh = .seconds(3)
            $0.maxStale = .seconds(.max)
        },
        // P11: RFC 9111 §5.2: whitespace around = is malformed.
        .init("max-age =60") { $0.maxAge = .malformed },
        .init("max-age= 60") { $0.maxAge = .malformed },
        .init("max-age = 60, public", is: [\.isPublic]) { $0.maxAge = .malformed },
        .init("max-age=\t60") { $0.maxAge = .malformed },
        .init("no-cache =set-cookie") { $0.noCache = true },
        // P12: RFC 9111 §5.2.3: unknown directives are ignored.
        .init("community=UCI, max-age=5, x") { $0.maxAge = .seconds(5) },
        .init(#"foo="a,b=c;d", max-age=5"#) { $0.maxAge = .seconds(5) },
        .init("max-ages=5, xmax-age=5, no-storex, privat, pre-check=0"),
        .init("stale-while-revalidated=30, max-age=5, stale-on-error=60") { $0.maxAge = .seconds(5) },
        // P13: After an unclosed quote, the restrictive reading counts.
        .init(#"max-age="10"#) { $0.maxAge = .malformed },
        .init(#"private="set-cookie"#, is: [\.isPrivate, \.privateIsMalformed]),
        .init(#"no-cache="set-cookie"#) { $0.noCache = true },
        // An unclosed quote leaves data and directives ambiguous: only restrictions count.
        .init(#"ext="x, no-store, public, immutable, must-understand"#) { $0.noStore = true },
        .init(#"ext="x, max-age=60, s-maxage=60, min-fresh=5"#) {
            $0.maxAge = .malformed
            $0.sharedMaxAge = .malformed
            $0.minFresh = .malformed
        },
        .init(#"max-age=60, ext="x, max-age=5"#) { $0.maxAge = .seconds(60) },
        .init(#"ext="a\"b, must-revalidate"#, is: [\.mustRevalidate, \.mustRevalidateIsMalformed]),
        .init(#"max-age=60, ext=""#) { $0.maxAge = .seconds(60) },
        .init(#"max-age=60, ext="\"#) { $0.maxAge = .seconds(60) },
        .init(#"ext="x"#, "max-age=60") { $0.maxAge = .seconds(60) },
        // P14: A semicolon is no separator; its element is malformed.
        .init("max-age=60; foo") { $0.maxAge = .malformed },
        .init("max-age=60;foo, public", is: [\.isPublic]) { $0.maxAge = .malformed },
        .init("max-age=60; no-store", is: [\.noStore]) { $0.maxAge = .malformed },
        .init("public; max-age=60") { $0.maxAge = .malformed },
        .init("no-cache; private", is: [\.noCache, \.isPrivate, \.privateIsMalformed]),
        .init(#"foo; "no-store", max-age=60"#) { $0.maxAge = .seconds(60) },
        .init(#"foo; "bar, no-store"#) { $0.noStore = true },
        .init("max-age=60 immutable") { $0.maxAge = .malformed },
        .init("=60, max-age=5") { $0.maxAge = .seconds(5) },
        .init("max-stale; x") { $0.maxStale = .malformed },
        // P15: RFC 8246 §2: arguments of directives that take none are ignored.
        .init("immutable=foo, immutable=\"a, b\"") { $0.isImmutable = true },
        .init("no-store=foo") { $0.noStore = true },
        .init("no-store=\"a, b\"") { $0.noStore = true },
        .init("private=1") { $0.isPrivate = true },
        .init("public=1, must-understand=1", is: [\.isPublic, \.mustUnderstand]),
        .init(
            "must-revalidate=0, proxy-revalidate=0, only-if-cached=0",
            is: [\.mustRevalidate, \.proxyRevalidate, \.onlyIfCached]),
        .init("no-cache=\"\"") { $0.noCache = true },
        .init("no-cache=") { $0.noCache = true },
        .init("no-cache=\"a b\"") { $0.noCache = true },
        .init("no-cache=\"a;b\"") { $0.noCache = true },
        .init("no-cache=\"a, B ,,c\"") { $0.noCacheFields = ["a", "b", "c"] },
        // Q02: RFC 9111 §5.2.1.2: max-stale without an argument allows any staleness.
        .init("max-stale") { $0.maxStale = .seconds(.max) },
        .init("max-stale=5") { $0.maxStale = .seconds(5) },
        .init("max-stale=x") { $0.maxStale = .malformed },
        .init("max-stale=") { $0.maxStale = .malformed },
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
    func fieldName(name: String) { #expect(CacheControl(Sample.fields(["\(name): max-age=5"])).maxAge == .seconds(5)) }
}
