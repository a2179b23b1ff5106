internal import TestSupport

/// A response with a lifetime of 10 seconds and more directives, a request, a failure at a time, and whether the
/// response answers.
private struct Case: Sendable, CustomTestStringConvertible {
    let response: String
    let request: String?
    let failure: StaleFallback.Failure
    let at: Int64
    let policy: CachePolicy
    let answers: Bool

    init(
        _ response: String, _ request: String? = nil, _ failure: StaleFallback.Failure = .status(503), at: Int64,
        policy: CachePolicy = CachePolicy(), _ answers: Bool
    ) {
        self.response = response
        self.request = request
        self.failure = failure
        self.at = at
        self.policy = policy
        self.answers = answers
    }

    var testDescription: String { "\(response) for \(request ?? "any") at \(at), \(failure)" }
}

@Suite struct StaleFallbackTests {
    private func choose(
        _ request: HTTPRequest = Sample.request(), _ candidates: StoredResponse..., failure: StaleFallback.Failure,
        policy: CachePolicy = CachePolicy(), at seconds: Int64
    ) -> Int? {
        StaleFallback.choose(
            for: request, candidates: candidates, failure: failure, policy: policy, now: Sample.time(seconds),
            fingerprint: Sample.fingerprint)
    }

    private func check(_ example: Case) {
        let response = Sample.stored("Cache-Control: max-age=10, \(example.response)")
        let request = example.request.map { Sample.request("Cache-Control: \($0)") } ?? Sample.request()
        let choice = choose(request, response, failure: example.failure, policy: example.policy, at: example.at)
        #expect((choice == 0) == example.answers)
    }

    @Test("RFC 5861 §4: a stored response may replace a 5xx, and no other status", .requirement("E04", "E05"))
    func statuses() {
        for code in 100...599 {
            let failure = StaleFallback.Failure(HTTPResponse.Status(code: code))
            #expect((failure != nil) == (500..<600).contains(code), "\(code)")
        }
    }

    @Test(
        "RFC 5861 §4: stale-if-error of response or request limits the staleness", .requirement("E04", "E05"),
        arguments: [
            Case("stale-if-error=30", at: 10, true), Case("stale-if-error=30", at: 40, true),
            Case("stale-if-error=30", at: 41, false), Case("x", at: 10, false), Case("x", at: 9, true),
            Case("x", "stale-if-error=30", at: 40, true), Case("x", "stale-if-error=30", at: 41, false),
            // The strictest value counts.
            Case("stale-if-error=5", "stale-if-error=30", at: 15, true),
            Case("stale-if-error=5", "stale-if-error=30", at: 16, false),
            Case("stale-if-error=30", "stale-if-error=5", at: 15, true),
            Case("stale-if-error=30", "stale-if-error=5", at: 16, false),
            Case("stale-if-error=x", "stale-if-error=30", at: 10, false),
            Case("stale-if-error=30", at: 15, policy: CachePolicy(staleIfError: .seconds(5)), true),
            Case("stale-if-error=30", at: 16, policy: CachePolicy(staleIfError: .seconds(5)), false),
            Case("stale-if-error=30", at: 10, policy: CachePolicy(staleIfError: .zero), false),
            Case("stale-if-error=30", at: 9, policy: CachePolicy(staleIfError: .zero), true),
            Case(
                "stale-if-error=30", nil, .disconnected, at: 10, policy: CachePolicy(staleWhenDisconnected: .zero),
                false),
            Case("stale-if-error=30", nil, .disconnected, at: 40, true),
            Case("stale-if-error=30", nil, .disconnected, at: 41, false),
            Case("stale-if-error=0", at: 10, true), Case("stale-if-error=0", at: 11, false),
            Case("stale-if-error=x", at: 10, false), Case("stale-if-error", nil, .disconnected, at: 10, false),
            Case("stale-while-revalidate=30", at: 10, false), Case("stale-if-error=30", at: -6, false),
        ])
    fileprivate func window(_ example: Case) {
        check(example)
    }

    @Test(
        "RFC 9111 §4.2.4, §5.2.2.2: directives that forbid serving stale count, connected or not",
        .requirement("E03", "R01", "R02"),
        arguments: [StaleFallback.Failure.disconnected, .status(504)])
    func forbidden(failure: StaleFallback.Failure) {
        for example in [
            Case("stale-if-error=30, must-revalidate", nil, failure, at: 10, false),
            Case("stale-if-error=30, must-revalidate", "max-stale, stale-if-error=30", failure, at: 10, false),
            Case("stale-if-error=30, must-revalidate", nil, failure, at: 9, true),
            Case("stale-if-error=30, no-cache", nil, failure, at: 0, false),
            Case("stale-if-error=30, no-cache=\"x\"", nil, failure, at: 10, true),
            Case("stale-if-error=30, proxy-revalidate", nil, failure, at: 10, true),
            Case("stale-if-error=30, proxy-revalidate", nil, failure, at: 10, policy: .shared, false),
            Case("stale-if-error=30, s-maxage=10", nil, failure, at: 10, policy: .shared, false),
        ] {
            check(example)
        }
    }

    @Test(
        "RFC 9111 §4.2.4: when the origin is unreachable, a stale response answers within the policy's limit",
        .requirement("R03"),
        arguments: [
            Case("x", nil, .disconnected, at: 10, true), Case("x", nil, .disconnected, at: 1_000_000_000, true),
            Case("x", nil, .disconnected, at: 10, policy: CachePolicy(staleWhenDisconnected: .zero), false),
            Case("x", nil, .disconnected, at: 9, policy: CachePolicy(staleWhenDisconnected: .zero), true),
            Case("x", nil, .disconnected, at: 15, policy: CachePolicy(staleWhenDisconnected: .seconds(5)), true),
            Case("x", nil, .disconnected, at: 16, policy: CachePolicy(staleWhenDisconnected: .seconds(5)), false),
            Case("x", at: 15, policy: CachePolicy(staleIfError: .seconds(5)), true),
            Case("x", at: 16, policy: CachePolicy(staleIfError: .seconds(5)), false),
            Case("x", at: 10, policy: CachePolicy(staleIfError: .zero), false),
            Case("stale-if-error=1", at: 12, policy: CachePolicy(staleIfError: .seconds(5)), false),
            Case("x", nil, .disconnected, at: 10, policy: CachePolicy(mode: .remoteOnly), false),
            Case("x", nil, .disconnected, at: 10, policy: CachePolicy(mode: .revalidateAlways), false),
            Case("stale-if-error=30", at: 9, policy: CachePolicy(mode: .revalidateAlways), false),
        ])
    fileprivate func disconnected(_ example: Case) {
        check(example)
    }

    @Test(
        "No stale response for a request that wants a fresh or a validated one",
        .requirement("R03", "Q01", "Q03", "Q04"),
        arguments: ["no-cache", "max-age=100", "min-fresh=0", "max-age=0", "max-age=100, max-stale=x"])
    func refused(control: String) {
        check(Case("stale-if-error=30", control, .disconnected, at: 11, false))
        check(Case("stale-if-error=30", control, at: 11, false))
    }

    @Test(
        "The most recent usable response; only for GET and HEAD, with a matching Vary and an intact body",
        .requirement("R03"))
    func which() {
        let old = Sample.stored("Cache-Control: max-age=10")
        let new = Sample.stored("Cache-Control: max-age=10", received: 5)
        let strict = Sample.stored("Cache-Control: max-age=10, must-revalidate", received: 6)
        #expect(choose(Sample.request(), old, new, strict, failure: .disconnected, at: 100) == 1)
        #expect(choose(Sample.request(method: .head), new, old, failure: .disconnected, at: 100) == 0)
        #expect(choose(Sample.request(method: .post), new, failure: .disconnected, at: 0) == nil)
        #expect(choose(Sample.request("If-Match: \"a\""), new, failure: .disconnected, at: 0) == nil)
        let german = Sample.stored("Vary: Accept-Language", for: Sample.request("Accept-Language: de"))
        let lost = Sample.stored("Cache-Control: max-age=10", hasIntactBody: false)
        #expect(choose(Sample.request(), german, lost, failure: .disconnected, at: 0) == nil)
    }

    @Test(
        "RFC 9111 §4.3.3: an error is relayed unless a stored response may be served stale",
        .requirement("C12", "E04", "E05"))
    func replies() {
        let stored = Sample.stored("Cache-Control: max-age=10, stale-if-error=30", "ETag: \"a\"")
        func decide(_ status: HTTPResponse.Status, at received: Int64) -> ReplyDecision {
            Sample.decide(on: Sample.exchange(status: status, received: received), stored, validated: 0)
        }
        for code in [500, 501, 502, 503, 504, 505, 507, 599] {
            let status = HTTPResponse.Status(code: code)
            #expect(decide(status, at: 40) == .serveStale(0))
            #expect(decide(status, at: 41) != .serveStale(0))
        }
        for status in [.forbidden, .tooManyRequests] as [HTTPResponse.Status] {
            #expect(decide(status, at: 10) != .serveStale(0))
        }
        guard case .store(let missing) = decide(.notFound, at: 10) else {
            Issue.record("a 404 is an answer")
            return
        }
        #expect(missing.status == .notFound)
    }
}
