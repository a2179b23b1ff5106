internal import TestSupport

@Suite struct CacheControlWritingTests {
    @Test(
        "RFC 9111 §5.2: writes directives as a field value",
        arguments: [
            ControlCase(""),
            ControlCase("max-age=60, public", is: [\.isPublic]) { $0.maxAge = .seconds(60) },
            ControlCase(
                "max-age=0, max-stale, min-fresh=5, no-cache, only-if-cached",
                is: [\.noCache, \.onlyIfCached]
            ) {
                $0.maxAge = .seconds(0)
                $0.maxStale = .seconds(.max)
                $0.minFresh = .seconds(5)
            },
            ControlCase("s-maxage=2147483648, stale-while-revalidate=1, stale-if-error=2147483648") {
                $0.sharedMaxAge = .seconds(.max)
                $0.staleWhileRevalidate = .seconds(1)
                $0.staleIfError = .seconds(DeltaSeconds.limit + 1)
            },
            ControlCase(
                "max-stale=7, no-store, no-transform, private, must-revalidate, proxy-revalidate, immutable",
                is: [\.noStore, \.noTransform, \.isPrivate, \.mustRevalidate, \.proxyRevalidate, \.isImmutable]
            ) { $0.maxStale = .seconds(7) },
            ControlCase("must-understand") { $0.mustUnderstand = true },
            ControlCase("no-cache=\"set-cookie, x\"") { $0.noCacheFields = ["set-cookie", "x"] },
            ControlCase("no-cache, no-cache=\"x\"", is: [\.noCache]) { $0.noCacheFields = ["x"] },
            // No value leaves its quotes or its line, and no restriction is lost.
            ControlCase("no-cache") { $0.noCacheFields = ["x", "\", max-age=60, y=\""] },
            ControlCase("no-cache") { $0.noCacheFields = ["x\r\nSet-Cookie: a"] },
            ControlCase("no-cache") { $0.noCacheFields = [""] },
            ControlCase(
                "max-age=, s-maxage=, max-stale=, private=, must-revalidate=",
                is: [\.isPrivate, \.privateIsMalformed, \.mustRevalidate, \.mustRevalidateIsMalformed]
            ) {
                $0.maxAge = .malformed
                $0.sharedMaxAge = .seconds(-1)
                $0.maxStale = .seconds(.min)
            },
        ])
    func writing(_ example: ControlCase) { #expect(example.expected?.fieldValue == example.testDescription) }

    @Test("a written field value reads back equal, for any directives read before")
    func reading() {
        let pieces = [
            "max-age", "s-maxage", "max-stale", "min-fresh", "no-cache", "no-store", "no-transform", "private",
            "public", "immutable", "must-revalidate", "proxy-revalidate", "must-understand", "only-if-cached",
            "stale-while-revalidate", "stale-if-error", "other", "=", "=", "=", "=0", "=60", "=99999999999999999999",
            "=-1", "=\"60\"", "=\"x, Y\"", "=x", "\"", " ", ",", ", ", ", ", ", ", ";",
        ]
        var generator = SeededGenerator()
        var written: Set<String> = []
        for _ in 0..<5_000 {
            let count = Int.random(in: 1...12, using: &generator)
            let value = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let control = CacheControl([.cacheControl: value])
            let again = CacheControl([.cacheControl: control.fieldValue])
            #expect(again == control, "\(value): \(control.fieldValue). \(generator)")
            written.insert(control.fieldValue)
        }
        #expect(written.count > 100, "\(generator)")
    }
}
