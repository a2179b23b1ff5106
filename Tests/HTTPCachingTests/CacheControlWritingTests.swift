internal import TestSupport

@Suite struct CacheControlWritingTests {
    private struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let control: CacheControl

        init(_ fieldValue: String, _ change: (inout CacheControl) -> Void) {
            testDescription = fieldValue
            var control = CacheControl()
            change(&control)
            self.control = control
        }
    }

    @Test(
        "RFC 9111 §5.2: writes directives as a field value",
        arguments: [
            Case("") { _ in },
            Case("max-age=60, public") {
                $0.isPublic = true
                $0.maxAge = .seconds(60)
            },
            Case("max-age=0, max-stale, min-fresh=5, no-cache, only-if-cached") {
                $0.maxAge = .seconds(0)
                $0.maxStale = .seconds(.max)
                $0.minFresh = .seconds(5)
                $0.noCache = true
                $0.onlyIfCached = true
            },
            Case("s-maxage=2147483648, stale-while-revalidate=1, stale-if-error=2147483648") {
                $0.sharedMaxAge = .seconds(.max)
                $0.staleWhileRevalidate = .seconds(1)
                $0.staleIfError = .seconds(DeltaSeconds.limit + 1)
            },
            Case("max-stale=7, no-store, no-transform, private, must-revalidate, proxy-revalidate, immutable") {
                $0.maxStale = .seconds(7)
                $0.noStore = true
                $0.noTransform = true
                $0.isPrivate = true
                $0.mustRevalidate = true
                $0.proxyRevalidate = true
                $0.isImmutable = true
            },
            Case("must-understand") { $0.mustUnderstand = true },
            Case("no-cache=\"set-cookie, x\"") { $0.noCacheFields = ["set-cookie", "x"] },
            Case("no-cache, no-cache=\"x\"") {
                $0.noCache = true
                $0.noCacheFields = ["x"]
            },
            // No value leaves its quotes or its line, and no restriction is lost.
            Case("no-cache") { $0.noCacheFields = ["x", "\", max-age=60, y=\""] },
            Case("no-cache") { $0.noCacheFields = ["x\r\nSet-Cookie: a"] },
            Case("no-cache") { $0.noCacheFields = [""] },
            Case("max-age=, s-maxage=, max-stale=, private=, must-revalidate=") {
                $0.maxAge = .malformed
                $0.sharedMaxAge = .seconds(-1)
                $0.maxStale = .seconds(.min)
                $0.isPrivate = true
                $0.privateIsMalformed = true
                $0.mustRevalidate = true
                $0.mustRevalidateIsMalformed = true
            },
        ])
    private func writing(_ example: Case) {
        #expect(example.control.fieldValue == example.testDescription)
    }

    @Test("a written field value reads back equal, for any directives read before")
    func reading() {
        let pieces = [
            "max-age", "s-maxage", "max-stale", "min-fresh", "no-cache", "no-store", "no-transform", "private",
            "public", "immutable",
            "must-revalidate", "proxy-revalidate", "must-understand", "only-if-cached", "stale-while-revalidate",
            "stale-if-error", "other", "=", "=", "=", "=0", "=60", "=99999999999999999999", "=-1", "=\"60\"",
            "=\"x, Y\"", "=x", "\"", " ", ",", ", ", ", ", ", ", ";",
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
