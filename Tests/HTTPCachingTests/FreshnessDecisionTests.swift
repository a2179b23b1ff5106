internal import TestSupport

/// The lines of a response with an ETag that arrived at 0, a time, and the decision at that time.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let at: Int64
    let outcome: Outcome

    init(_ lines: String..., at: Int64, _ outcome: Outcome) {
        self.lines = lines
        self.at = at
        self.outcome = outcome
    }

    var testDescription: String { "\(lines.joined(separator: " | ")) at \(at)" }
}

/// Freshness in the reuse decision.
@Suite struct FreshnessDecisionTests {
    private func check(_ example: Case) {
        var response = Sample.stored("ETag: \"a\"")
        response.fields.append(contentsOf: Sample.fields(example.lines))
        #expect(Outcome(Sample.decide(Sample.request(), response, at: example.at)) == example.outcome)
    }

    @Test(
        "RFC 9111 §3: a response with neither freshness nor validator is neither used nor validated",
        .requirement("F07"))
    func nothingToGoBy() {
        #expect(Sample.decide(Sample.request(), Sample.stored("X: y")) == .forward(.stale))
        check(Case(at: 0, .validate))
    }

    @Test(
        "Directives without effect on this cache leave the response usable", .requirement("F09", "F10", "F12", "F13"),
        arguments: [
            "no-cache=\"set-cookie\"", "no-cache=\"a, b\"", "private", "private=\"a\"", "proxy-revalidate", "public",
            "x=1",
        ])
    func noLimit(directive: String) {
        check(Case("Cache-Control: max-age=10, \(directive)", "Pragma: no-cache", "Warning: 110 - \"x\"", at: 9, .hit))
        check(Case("Cache-Control: max-age=10, \(directive)", at: 10, .validate))
    }

    @Test("immutable changes nothing for a plain request", .requirement("M01", "M02", "F08"))
    func immutable() {
        check(Case("Cache-Control: max-age=10, immutable", at: 9, .hit))
        check(Case("Cache-Control: max-age=10, immutable", at: 10, .validate))
        check(Case("Cache-Control: immutable", at: 0, .validate))
        check(Case("Cache-Control: max-age=10, immutable, no-cache", at: 0, .validate))
    }
}
