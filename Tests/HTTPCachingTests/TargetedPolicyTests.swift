internal import TestSupport

/// The lines of a response, and its lifetime in a cache with and without the target list `My-Cache-Control,
/// CDN-Cache-Control`. The lifetime is `nil` if the response is not stored.
private struct Case: Sendable, CustomTestStringConvertible {
    let lines: [String]
    let targeted: Int64?
    let untargeted: Int64?

    init(_ lines: String..., targeted: Int64?, untargeted: Int64?) {
        self.lines = lines
        self.targeted = targeted
        self.untargeted = untargeted
    }

    var testDescription: String { lines.joined(separator: " | ") }
}

/// RFC 9213 in the decisions on freshness and storing.
@Suite struct TargetedPolicyTests {
    private static let policy = CachePolicy(targetedFields: ["My-Cache-Control", "CDN-Cache-Control"])
    private static let inAMinute = "Expires: \(Sample.time(60))"

    private func lifetime(_ lines: [String], _ policy: CachePolicy) -> Int64? {
        let exchange = Exchange(
            request: Sample.request(), reply: HTTPResponse(status: .ok, headerFields: Sample.fields(lines)),
            requestTime: Sample.time(), responseTime: Sample.time())
        guard case .store(let stored) = Sample.decide(on: exchange, policy: policy) else { return nil }
        return Freshness(of: stored, policy: policy).lifetime
    }

    @Test(
        "RFC 9213 §2.2: only the first valid field of the list counts; without a list, none",
        .requirement("W04", "W05"),
        arguments: [
            Case("CDN-Cache-Control: max-age=5", "Cache-Control: max-age=9", targeted: 5, untargeted: 9),
            Case("CDN-Cache-Control: max-age=5", "Cache-Control: no-store", targeted: 5, untargeted: nil),
            Case("CDN-Cache-Control: no-store", "Cache-Control: max-age=9", targeted: nil, untargeted: 9),
            Case(
                "CDN-Cache-Control: max-age=5", "My-Cache-Control: max-age=7", "Cache-Control: max-age=9", targeted: 7,
                untargeted: 9),
            Case("CDN-Cache-Control: max-age=5", "My-Cache-Control: no-store", targeted: nil, untargeted: 0),
            Case("Other-Cache-Control: max-age=5", "Cache-Control: max-age=9", targeted: 9, untargeted: 9),
            Case("Surrogate-Control: max-age=5", targeted: 0, untargeted: 0),
        ])
    fileprivate func order(_ example: Case) {
        #expect(lifetime(example.lines, Self.policy) == example.targeted)
        #expect(lifetime(example.lines, CachePolicy()) == example.untargeted)
    }

    @Test(
        "RFC 9213 §2.2: with a targeted field, Expires is ignored, and no other field adds directives",
        .requirement("W05"),
        arguments: [
            Case("CDN-Cache-Control: must-revalidate", inAMinute, targeted: 0, untargeted: 60),
            Case("CDN-Cache-Control: private", inAMinute, "Cache-Control: max-age=9", targeted: 0, untargeted: 9),
            Case("CDN-Cache-Control: max-age=5", inAMinute, targeted: 5, untargeted: 60),
            Case("CDN-Cache-Control: max-age=x", "Cache-Control: max-age=9", targeted: 0, untargeted: 9),
            Case(
                "CDN-Cache-Control: public", "Last-Modified: \(Sample.time(-100))", "Cache-Control: max-age=9",
                targeted: 10, untargeted: 9),
        ])
    fileprivate func beside(_ example: Case) {
        #expect(lifetime(example.lines, Self.policy) == example.targeted)
        #expect(lifetime(example.lines, CachePolicy()) == example.untargeted)
    }

    @Test(
        "An empty or malformed field counts as absent", .requirement("W05", "W06"),
        arguments: ["", "max-age = 5", "Max-Age=5", "max-age=5,", "max-age=5; ;"])
    func invalid(value: String) {
        let lines = ["My-Cache-Control: \(value)", "Cache-Control: max-age=9"]
        #expect(lifetime(lines, Self.policy) == 9)
        #expect(lifetime(lines + ["CDN-Cache-Control: max-age=5"], Self.policy) == 5)
    }

    @Test(
        "RFC 9213 §2.2: no-cache, must-revalidate and the windows of RFC 5861 in it count", .requirement("W05"),
        arguments: [
            ("max-age=10", 10, .validate), ("max-age=10, no-cache", 0, .validate),
            ("max-age=10, must-revalidate", 9, .hit),
            ("max-age=10, must-revalidate, stale-while-revalidate=9", 10, .validate),
            ("max-age=10, stale-while-revalidate=9", 19, .revalidatedHit),
            ("max-age=10, no-cache=\"x\"", 9, .hit), ("max-age=10, no-cache=?0", 9, .hit),
        ] as [(String, Int64, Outcome)])
    func directives(value: String, at: Int64, outcome: Outcome) {
        let response = Sample.stored(
            "CDN-Cache-Control: \(value)", "Cache-Control: max-age=999, stale-while-revalidate=999", "ETag: \"a\"")
        #expect(Outcome(Sample.decide(Sample.request(), response, policy: Self.policy, at: at)) == outcome)
        #expect(Outcome(Sample.decide(Sample.request(), response, at: at)) == .hit)
    }

    @Test("Its stale-if-error counts, that of Cache-Control does not", .requirement("W05", "E04"))
    func staleFallback() {
        let response = Sample.stored("CDN-Cache-Control: max-age=10", "Cache-Control: max-age=10, stale-if-error=99")
        func choose(_ policy: CachePolicy) -> Int? {
            StaleFallback.choose(
                for: Sample.request(), candidates: [response], status: .serviceUnavailable, policy: policy,
                now: Sample.time(20), fingerprint: Sample.fingerprint)
        }
        #expect(choose(CachePolicy()) == 0)
        #expect(choose(Self.policy) == nil)
    }

    @Test("RFC 9213 §2.2: stores and forwards fields for other targets", .requirement("W04"))
    func passedThrough() throws {
        let reply = Sample.exchange("CDN-Cache-Control: no-store", "Surrogate-Control: no-store", "ETag: \"a\"")
        let stored = try #require(Sample.decide(on: reply).stored)
        let head = stored.head(age: 5).headerFields
        #expect(HTTPField.Name("CDN-Cache-Control").map { head[$0] } == "no-store")
        #expect(HTTPField.Name("Surrogate-Control").map { head[$0] } == "no-store")
    }

    @Test("The fields that no-cache=\"…\" withholds under a target list", .requirement("W05", "F09"))
    func withheld() {
        let response = Sample.stored(
            "CDN-Cache-Control: max-age=10, no-cache=\"x-secret\"", "Cache-Control: no-cache=\"x-other\"",
            "X-Secret: s",
            "X-Other: o")
        #expect(Outcome(Sample.decide(Sample.request(), response, policy: Self.policy)) == .hit)
        func names(_ policy: CachePolicy) -> [String] {
            response.head(age: 0, policy: policy).headerFields.map(\.name.canonicalName).filter { $0.hasPrefix("x-") }
        }
        #expect(names(Self.policy) == ["x-other"])
        #expect(names(CachePolicy()) == ["x-secret"])
    }
}
