internal import TestSupport

/// The values of `Cache-Control` lines, and the expected two numbers of RFC 5861.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let whileRevalidate: DeltaSeconds
    let ifError: DeltaSeconds

    init(_ lines: String..., revalidate: DeltaSeconds = .absent, error: DeltaSeconds = .absent) {
        self.lines = lines
        whileRevalidate = revalidate
        ifError = error
    }

    var testDescription: String { lines.joined(separator: " | ") }
}

/// `stale-while-revalidate` and `stale-if-error`.
@Suite struct StaleDirectivesTests {
    private func check(_ example: Case) {
        let control = CacheControl(Sample.fields(example.lines.map { "Cache-Control: \($0)" }))
        #expect(control.staleWhileRevalidate == example.whileRevalidate)
        #expect(control.staleIfError == example.ifError)
    }

    @Test(
        "Names are case-insensitive; arguments in both forms, over all lines",
        .requirement("P01", "P02", "P03", "P05", "P10"),
        arguments: [
            Case("max-age=600, stale-while-revalidate=30", revalidate: .seconds(30)),
            Case("max-age=600, stale-if-error=1200", error: .seconds(1200)),
            Case("Stale-While-Revalidate=30, STALE-IF-ERROR=40", revalidate: .seconds(30), error: .seconds(40)),
            Case(
                #"stale-while-revalidate="30""#, "stale-if-error=\"40\"", revalidate: .seconds(30), error: .seconds(40)),
            Case("stale-while-revalidate=0030", revalidate: .seconds(30)),
            Case("stale-while-revalidate=0", revalidate: .seconds(0)),
            Case(#"ext="stale-while-revalidate=30, stale-if-error=40""#),
            Case("max-age=600"),
        ])
    fileprivate func readable(_ example: Case) { check(example) }

    @Test(
        "The first of two counts; a malformed value opens no window", .requirement("P06", "P08", "P11", "P13", "P14"),
        arguments: [
            Case("stale-while-revalidate=30, stale-while-revalidate=60", revalidate: .seconds(30)),
            Case("stale-if-error=30", "stale-if-error=60", error: .seconds(30)),
            Case("stale-while-revalidate=x, stale-while-revalidate=60", revalidate: .malformed),
            Case("stale-while-revalidate, stale-if-error", revalidate: .malformed, error: .malformed),
            Case("stale-while-revalidate=, stale-if-error=-1", revalidate: .malformed, error: .malformed),
            Case("stale-while-revalidate=1.5, stale-if-error=1h", revalidate: .malformed, error: .malformed),
            Case("stale-while-revalidate =30, stale-if-error= 40", revalidate: .malformed, error: .malformed),
            Case("stale-while-revalidate=30; stale-if-error=40", revalidate: .malformed, error: .malformed),
            Case(#"ext="x, stale-while-revalidate=30, stale-if-error=40"#, revalidate: .malformed, error: .malformed),
        ])
    fileprivate func malformed(_ example: Case) { check(example) }

    @Test(
        "RFC 9111 §1.2.2: numbers beyond 2^31 count as 2^31", .requirement("P09"),
        arguments: ["2147483648", "2147483649", "99999999999", String(repeating: "9", count: 40)])
    func largeNumbers(digits: String) {
        check(
            Case(
                "stale-while-revalidate=\(digits), stale-if-error=\(digits)", revalidate: .seconds(2_147_483_648),
                error: .seconds(2_147_483_648)))
    }

    @Test("RFC 9111 §1.2.2: no sum of a lifetime and a window overflows", .requirement("P09"))
    func sums() {
        let large = String(repeating: "9", count: 40)
        let response = Sample.stored(
            "Cache-Control: max-age=\(large), stale-while-revalidate=\(large)", "Age: \(large)",
            requested: .min / 2, received: .max / 2)
        let freshness = Freshness(of: response, policy: CachePolicy())
        let window = freshness.cacheControl.staleWhileRevalidate
        #expect(freshness.lifetime == DeltaSeconds.limit)
        for now in [HTTPDate.distantPast, Sample.time(), HTTPDate(secondsSince1970: .max)] {
            let staleness = freshness.staleness(at: now)
            #expect(staleness >= 0)
            #expect(!window.permits(staleness: staleness))
        }
        #expect(!window.permits(staleness: .max))
        #expect(window.permits(staleness: DeltaSeconds.limit))
        #expect(!window.permits(staleness: DeltaSeconds.limit + 1))
        #expect(DeltaSeconds.limit.saturatingAdding(DeltaSeconds.limit) == 4_294_967_296)
    }

    @Test(
        "Sums and differences saturate", .requirement("P09"),
        arguments: [
            (.max, 1, .max, .max - 1), (.max, -1, .max - 1, .max), (.min, -1, .min, .min + 1),
            (.min, 1, .min + 1, .min), (.max, .max, .max, 0), (.min, .min, .min, 0), (0, .min, .min, .max),
            (.max, .min, -1, .max), (.min, .max, -1, .min), (2, 3, 5, -1),
        ] as [(Int64, Int64, Int64, Int64)])
    func saturating(first: Int64, second: Int64, sum: Int64, difference: Int64) {
        #expect(first.saturatingAdding(second) == sum)
        #expect(first.saturatingSubtracting(second) == difference)
    }
}
