internal import TestSupport

/// A response with a lifetime of 10 seconds and more directives, a request, a time, and the decision.
private struct Case: Sendable, CustomTestStringConvertible {
    let response: String
    let request: String?
    let at: Int64
    let policy: CachePolicy
    let outcome: Outcome

    init(
        _ response: String, _ request: String? = nil, at: Int64, policy: CachePolicy = CachePolicy(), _ outcome: Outcome
    ) {
        self.response = response
        self.request = request
        self.at = at
        self.policy = policy
        self.outcome = outcome
    }

    var testDescription: String { "\(response) for \(request ?? "any") at \(at)" }
}

/// `stale-while-revalidate` in the reuse decision.
@Suite struct StaleTests {
    private func check(_ example: Case) {
        let response = Sample.stored("Cache-Control: max-age=10, \(example.response)", "ETag: \"a\"")
        let request = example.request.map { Sample.request("Cache-Control: \($0)") } ?? Sample.request()
        #expect(Outcome(Sample.decide(request, response, policy: example.policy, at: example.at)) == example.outcome)
    }

    @Test(
        "RFC 5861 §3: inside the window stale answers and is validated behind; outside, it is validated first",
        .requirement("E01", "E02"),
        arguments: [
            Case("stale-while-revalidate=30", at: 9, .hit), Case("stale-while-revalidate=30", at: 10, .revalidatedHit),
            Case("stale-while-revalidate=30", at: 40, .revalidatedHit),
            Case("stale-while-revalidate=30", at: 41, .validate),
            Case("stale-while-revalidate=0", at: 10, .revalidatedHit),
            Case("stale-while-revalidate=0", at: 11, .validate), Case("stale-while-revalidate=x", at: 10, .validate),
            Case("stale-while-revalidate", at: 10, .validate), Case("stale-if-error=30", at: 10, .validate),
            Case("stale-while-revalidate=99999999999", at: 2_000_000_000, .revalidatedHit),
            Case("stale-while-revalidate=30", at: -6, .validate),
        ])
    fileprivate func window(_ example: Case) { check(example) }

    @Test("The answer has its age, and is the most recent usable response", .requirement("E01"))
    func answer() {
        let old = Sample.stored("Cache-Control: max-age=10, stale-while-revalidate=90")
        let new = Sample.stored("Cache-Control: max-age=10, stale-while-revalidate=90", received: 5)
        #expect(Sample.decide(Sample.request(), old, new, at: 20) == .hitWhileRevalidating(1, age: 15))
        #expect(Sample.decide(Sample.request(method: .head), new, old, at: 20) == .hitWhileRevalidating(0, age: 15))
        let fresh = Sample.stored("Cache-Control: max-age=60", received: 6)
        #expect(Sample.decide(Sample.request(), old, fresh, at: 20) == .hit(1, age: 14, isStale: false))
    }

    @Test(
        "RFC 9111 §4.2.4: directives that forbid serving stale close the window", .requirement("E03", "R01"),
        arguments: [
            Case("stale-while-revalidate=30, must-revalidate", at: 10, .validate),
            Case("stale-while-revalidate=30, no-cache", at: 10, .validate),
            Case("stale-while-revalidate=30, no-cache=\"x\"", at: 10, .revalidatedHit),
            Case("stale-while-revalidate=30, proxy-revalidate", at: 10, .revalidatedHit),
            Case("stale-while-revalidate=30, proxy-revalidate", at: 10, policy: .shared, .validate),
            Case("stale-while-revalidate=30, s-maxage=10", at: 10, .revalidatedHit),
            Case("stale-while-revalidate=30, s-maxage=10", at: 10, policy: .shared, .validate),
            Case("stale-while-revalidate=30", at: 10, policy: .shared, .revalidatedHit),
        ])
    fileprivate func forbidden(_ example: Case) { check(example) }

    @Test(
        "Directives of the request take precedence over the window",
        .requirement("E01", "Q01", "Q02", "Q03", "Q04", "R07"),
        arguments: [
            Case("stale-while-revalidate=30", "max-age=100", at: 10, .validate),
            Case("stale-while-revalidate=30", "max-age=100, max-stale=x", at: 10, .validate),
            Case("stale-while-revalidate=30", "max-age=100, max-stale=5", at: 15, .staleHit),
            Case("stale-while-revalidate=30", "max-stale=5", at: 15, .staleHit),
            Case("stale-while-revalidate=30", "max-stale=5", at: 16, .validate),
            Case("stale-while-revalidate=30", "max-stale=x", at: 10, .validate),
            Case("stale-while-revalidate=30", "max-stale", at: 41, .staleHit),
            Case("stale-while-revalidate=30", "min-fresh=0", at: 10, .validate),
            Case("stale-while-revalidate=30", "no-cache", at: 10, .validate),
            Case("stale-while-revalidate=30", "only-if-cached", at: 40, .staleHit),
            Case("stale-while-revalidate=30", "only-if-cached", at: 41, .unsatisfiable),
            Case("stale-while-revalidate=30", "no-store", at: 10, .revalidatedHit),
        ])
    fileprivate func request(_ example: Case) { check(example) }

    @Test(
        "Each mode inside the window", .requirement("E01", "B5"),
        arguments: [
            (.http, .revalidatedHit), (.cacheFirst, .staleHit), (.revalidateAlways, .validate), (.remoteOnly, .forward),
            (.cacheOnly, .staleHit),
        ] as [(CachePolicy.Mode, Outcome)])
    func modes(mode: CachePolicy.Mode, outcome: Outcome) {
        check(Case("stale-while-revalidate=30", at: 10, policy: CachePolicy(mode: mode), outcome))
    }
}
