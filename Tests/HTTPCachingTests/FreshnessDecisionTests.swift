internal import TestSupport

/// Freshness in the reuse decision.
@Suite struct FreshnessDecisionTests {
    /// Decides about a response with an ETag and these lines that arrived at 0.
    private func expect(_ outcome: Outcome, _ lines: String..., at time: Int64) {
        var response = Sample.stored("ETag: \"a\"")
        response.fields.append(contentsOf: Sample.fields(lines))
        #expect(Outcome(Sample.decide(Sample.request(), response, at: time)) == outcome)
    }

    @Test("RFC 9111 §3: without freshness and validator, neither used nor validated", .requirement("F07"))
    func nothingToGoBy() {
        #expect(Sample.decide(Sample.request(), Sample.stored("X: y")) == .forward(.stale))
        expect(.validate, at: 0)
    }

    @Test(
        "Directives without effect on this cache leave the response usable", .requirement("F09", "F10", "F12", "F13"),
        arguments: [
            "no-cache=\"set-cookie\"", "no-cache=\"a, b\"", "private", "private=\"a\"", "proxy-revalidate", "public",
            "x=1",
        ])
    func noLimit(directive: String) {
        expect(.hit, "Cache-Control: max-age=10, \(directive)", "Pragma: no-cache", "Warning: 110 - \"x\"", at: 9)
        expect(.validate, "Cache-Control: max-age=10, \(directive)", at: 10)
    }

    @Test("immutable changes nothing for a plain request", .requirement("M01", "M02", "F08"))
    func immutable() {
        expect(.hit, "Cache-Control: max-age=10, immutable", at: 9)
        expect(.validate, "Cache-Control: max-age=10, immutable", at: 10)
        expect(.validate, "Cache-Control: immutable", at: 0)
        expect(.validate, "Cache-Control: max-age=10, immutable, no-cache", at: 0)
    }
}
