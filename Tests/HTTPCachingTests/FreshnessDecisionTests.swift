internal import HTTPCaching
internal import HTTPTypes
internal import TestSupport
internal import Testing

/// The lines of a response with an ETag that arrived at 0, a time, and the decision at that time.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let at: Int64
    let status: HTTPResponse.Status
    let outcome: Outcome

    init(_ lines: String..., at: Int64, status: HTTPResponse.Status = .ok, _ outcome: Outcome) {
        self.lines = lines
        self.at = at
        self.status = status
        self.outcome = outcome
    }

    var testDescription: String { "\(lines.joined(separator: " | ")) at \(at)" }
}

/// Freshness in the reuse decision.
@Suite struct FreshnessDecisionTests {
    private static func time(_ seconds: Int64) -> String { Sample.time(seconds).description }

    private func check(_ example: Case) {
        var response = Sample.stored("ETag: \"a\"", status: example.status)
        let fields = Sample.fields(example.lines)
        if fields.contains(.date) { response.fields[.date] = nil }
        response.fields.append(contentsOf: fields)
        #expect(Outcome(Sample.decide(Sample.request(), response, at: example.at)) == example.outcome)
    }

    @Test(
        "RFC 9111 §4.2.1: the precedence of the stated lifetimes", .requirement("F02", "F03", "P22", "P23"),
        arguments: [
            Case("Cache-Control: max-age=10", "Expires: \(time(99))", at: 10, .validate),
            Case("Cache-Control: max-age=10", "Expires: 0", at: 9, .hit),
            Case("Cache-Control: max-age=x", "Expires: \(time(99))", at: 0, .validate),
            Case("Expires: \(time(10))", at: 9, .hit), Case("Expires: \(time(10))", at: 10, .validate),
            Case("Expires: \(time(10))", "Date: \(time(5))", at: 4, .hit),
            Case("Expires: \(time(10))", "Date: \(time(5))", at: 5, .validate),
            Case("Expires: \(time(10))", "Date: \(time(-5))", at: 9, .hit),
            Case("Expires: \(time(10))", "Date: \(time(-5))", at: 10, .validate),
            Case("Expires: \(time(10))", "Expires: \(time(10))", at: 0, .validate),
            Case("Expires: 0", at: 0, .validate), Case("Expires: \(time(0))", at: 0, .validate),
        ])
    fileprivate func stated(_ example: Case) {
        check(example)
    }

    @Test(
        "RFC 9111 §4.2.2: the conditions for a heuristic lifetime", .requirement("F04", "F05", "F06"),
        arguments: [
            Case("Last-Modified: \(time(-100))", at: 9, .hit), Case("Last-Modified: \(time(-100))", at: 10, .validate),
            Case("Last-Modified: \(time(-109))", at: 10, .validate),
            Case("Last-Modified: \(time(100))", at: 0, .validate),
            Case("Last-Modified: \(time(-100))", at: 9, status: .notFound, .hit),
            Case("Last-Modified: \(time(-100))", at: 9, status: .found, .validate),
            Case("Last-Modified: \(time(-100))", "Cache-Control: public", at: 9, status: .found, .hit),
            Case("Last-Modified: \(time(-100))", "Expires: 0", at: 0, .validate),
            Case("Last-Modified: \(time(-100))", "Cache-Control: max-age=x", at: 0, .validate),
            Case("Last-Modified: \(time(-7_000_000))", at: 604_799, .hit),
            Case("Last-Modified: \(time(-7_000_000))", at: 604_800, .validate),
        ])
    fileprivate func guessed(_ example: Case) {
        check(example)
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

    @Test(
        "RFC 9111 §4.2.3: the age includes the time in transit", .requirement("A02", "A03", "P25", "P26"),
        arguments: [
            Case("Cache-Control: max-age=10", "Age: 5", at: 4, .hit),
            Case("Cache-Control: max-age=10", "Age: 5", at: 5, .validate),
            Case("Cache-Control: max-age=10", "Date: \(time(-5))", at: 4, .hit),
            Case("Cache-Control: max-age=10", "Date: \(time(-5))", at: 5, .validate),
            Case("Cache-Control: max-age=10", "Date: \(time(50))", at: 9, .hit),
            Case("Cache-Control: max-age=10", "Age: x", at: 9, .hit),
            Case("Cache-Control: max-age=10", "Age: 5, 900", at: 4, .hit),
            Case("Cache-Control: max-age=10", "Age: ", "Age: 5", at: 5, .validate),
            Case("Cache-Control: max-age=10", "Age: ,", "Age: 5", at: 5, .validate),
            Case("Cache-Control: max-age=99999999999", "Age: 99999999999", at: 0, .validate),
        ])
    fileprivate func aged(_ example: Case) {
        check(example)
    }

    @Test("immutable changes nothing for a plain request", .requirement("M01", "M02", "F08"))
    func immutable() {
        check(Case("Cache-Control: max-age=10, immutable", at: 9, .hit))
        check(Case("Cache-Control: max-age=10, immutable", at: 10, .validate))
        check(Case("Cache-Control: immutable", at: 0, .validate))
        check(Case("Cache-Control: max-age=10, immutable, no-cache", at: 0, .validate))
    }
}
