internal import TestSupport

/// A response with a lifetime of 10 seconds and more directives, a request, the status of a reply (`nil` for none) at a
/// time, and whether the response answers.
private struct Case: Sendable, CustomTestStringConvertible {
    let response: String
    let request: String?
    let status: HTTPResponse.Status?
    let at: Int64
    let policy: CachePolicy
    let answers: Bool

    init(
        _ response: String, _ request: String? = nil, _ status: HTTPResponse.Status? = 503, at: Int64,
        policy: CachePolicy = CachePolicy(), _ answers: Bool
    ) {
        self.response = response
        self.request = request
        self.status = status
        self.at = at
        self.policy = policy
        self.answers = answers
    }

    var testDescription: String {
        "\(response) for \(request ?? "any") at \(at), \(status.map(\.description) ?? "disconnected")"
    }
}

@Suite struct StaleFallbackTests {
    private func choose(
        _ request: HTTPRequest = Sample.request(), _ candidates: StoredResponse..., status: HTTPResponse.Status?,
        policy: CachePolicy = CachePolicy(), at seconds: Int64
    ) -> Int? {
        StaleFallback.choose(
            for: request, candidates: candidates, status: status, policy: policy, now: Sample.time(seconds),
            fingerprint: Sample.fingerprint)
    }

    private func check(_ example: Case) {
        let response = Sample.stored("Cache-Control: max-age=10, \(example.response)")
        let request = example.request.map { Sample.request("Cache-Control: \($0)") } ?? Sample.request()
        let choice = choose(request, response, status: example.status, policy: example.policy, at: example.at)
        #expect((choice == 0) == example.answers)
    }

    @Test("RFC 5861 §4: a stored response may replace a 5xx, and no other status", .requirement("E04", "E05"))
    func statuses() {
        let fresh = Sample.stored("Cache-Control: max-age=10")
        for code in 100...599 {
            let choice = choose(Sample.request(), fresh, status: HTTPResponse.Status(code: code), at: 9)
            #expect((choice == 0) == (500..<600).contains(code), "\(code)")
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
            Case("stale-if-error=30", nil, nil, at: 10, policy: CachePolicy(staleWhenDisconnected: .zero), false),
            Case("stale-if-error=30", nil, nil, at: 40, true),
            Case("stale-if-error=30", nil, nil, at: 41, false),
            Case("stale-if-error=0", at: 10, true), Case("stale-if-error=0", at: 11, false),
            Case("stale-if-error=x", at: 10, false), Case("stale-if-error", nil, nil, at: 10, false),
            Case("stale-while-revalidate=30", at: 10, false), Case("stale-if-error=30", at: -6, false),
        ])
    fileprivate func window(_ example: Case) { check(example) }

    @Test(
        "RFC 9111 §4.2.4, §5.2.2.2: directives that forbid serving stale count, connected or not",
        .requirement("E03", "R01", "R02"), arguments: [nil, 504] as [HTTPResponse.Status?])
    func forbidden(status: HTTPResponse.Status?) {
        for example in [
            Case("stale-if-error=30, must-revalidate", nil, status, at: 10, false),
            Case("stale-if-error=30, must-revalidate", "max-stale, stale-if-error=30", status, at: 10, false),
            Case("stale-if-error=30, must-revalidate", nil, status, at: 9, true),
            Case("stale-if-error=30, no-cache", nil, status, at: 0, false),
            Case("stale-if-error=30, no-cache=\"x\"", nil, status, at: 10, true),
            Case("stale-if-error=30, proxy-revalidate", nil, status, at: 10, true),
            Case("stale-if-error=30, proxy-revalidate", nil, status, at: 10, policy: .shared, false),
            Case("stale-if-error=30, s-maxage=10", nil, status, at: 10, policy: .shared, false),
        ] {
            check(example)
        }
    }

    @Test(
        "RFC 9111 §4.2.4: when the origin is unreachable, a stale response answers within the policy's limit",
        .requirement("R03"),
        arguments: [
            Case("x", nil, nil, at: 10, true), Case("x", nil, nil, at: 1_000_000_000, true),
            Case("x", nil, nil, at: 10, policy: CachePolicy(staleWhenDisconnected: .zero), false),
            Case("x", nil, nil, at: 9, policy: CachePolicy(staleWhenDisconnected: .zero), true),
            Case("x", nil, nil, at: 15, policy: CachePolicy(staleWhenDisconnected: .seconds(5)), true),
            Case("x", nil, nil, at: 16, policy: CachePolicy(staleWhenDisconnected: .seconds(5)), false),
            Case("x", at: 15, policy: CachePolicy(staleIfError: .seconds(5)), true),
            Case("x", at: 16, policy: CachePolicy(staleIfError: .seconds(5)), false),
            Case("x", at: 10, policy: CachePolicy(staleIfError: .zero), false),
            Case("stale-if-error=1", at: 12, policy: CachePolicy(staleIfError: .seconds(5)), false),
            Case("x", nil, nil, at: 10, policy: CachePolicy(mode: .remoteOnly), false),
            Case("x", nil, nil, at: 10, policy: CachePolicy(mode: .revalidateAlways), false),
            Case("stale-if-error=30", at: 9, policy: CachePolicy(mode: .revalidateAlways), false),
        ])
    fileprivate func disconnected(_ example: Case) { check(example) }

    @Test(
        "No stale response for a request that wants a fresh or a validated one",
        .requirement("R03", "Q01", "Q03", "Q04"),
        arguments: ["no-cache", "max-age=100", "min-fresh=0", "max-age=0", "max-age=100, max-stale=x"])
    func refused(control: String) {
        check(Case("stale-if-error=30", control, nil, at: 11, false))
        check(Case("stale-if-error=30", control, at: 11, false))
    }

    @Test("The newest usable response; only for GET and HEAD, with matching Vary and intact body", .requirement("R03"))
    func which() {
        let old = Sample.stored("Cache-Control: max-age=10")
        let new = Sample.stored("Cache-Control: max-age=10", received: 5)
        let strict = Sample.stored("Cache-Control: max-age=10, must-revalidate", received: 6)
        #expect(choose(Sample.request(), old, new, strict, status: nil, at: 100) == 1)
        #expect(choose(Sample.request(method: .head), new, old, status: nil, at: 100) == 0)
        #expect(choose(Sample.request(method: .post), new, status: nil, at: 0) == nil)
        #expect(choose(Sample.request("If-Match: \"a\""), new, status: nil, at: 0) == nil)
        let german = Sample.stored("Vary: Accept-Language", for: Sample.request("Accept-Language: de"))
        let lost = Sample.stored("Cache-Control: max-age=10", hasIntactBody: false)
        #expect(choose(Sample.request(), german, lost, status: nil, at: 0) == nil)
    }

    @Test("RFC 9111 §4.3.3: relays an error unless stale may be served", .requirement("C12", "E04", "E05"))
    func replies() throws {
        let stored = Sample.stored("Cache-Control: max-age=10, stale-if-error=30", "ETag: \"a\"")
        func decide(_ status: HTTPResponse.Status, at received: Int64) -> ReplyDecision.Action {
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
        let missing = try #require(decide(.notFound, at: 10).stored)
        #expect(missing.status == .notFound)
    }
}
