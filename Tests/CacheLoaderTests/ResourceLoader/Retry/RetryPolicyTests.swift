import TestSupport

@Suite("RetryPolicy") struct RetryPolicyTests {
    private static let url = "https://example.com/"
    private static let unavailable = LoadError.status(503, url: url)

    @Test("By default 5 attempts, pauses of 1 s to 1 min, half random, Retry-After to 5 min", .requirement("H7"))
    func defaults() {
        let policy = RetryPolicy()
        #expect(policy.maxAttempts == 5)
        #expect(policy.baseDelay == .seconds(1))
        #expect(policy.maxDelay == .seconds(60))
        #expect(policy.jitter == 0.5)
        #expect(policy.maxRetryAfter == .seconds(300))
        #expect(RetryPolicy.never.delay(after: Self.unavailable, attempt: 1, chance: 0) == nil)
    }

    // MARK: Retried failures

    @Test("The statuses 408, 425, 429 and 5xx are retried", .requirement("H5"), arguments: 300..<600)
    func statuses(status: Int) {
        let isRetried = [408, 425, 429].contains(status) || status >= 500
        let error = LoadError.status(status, url: Self.url)
        #expect(error.isFatal == !isRetried)
        let delay = RetryPolicy().delay(after: error, attempt: 1, chance: 0)
        #expect(delay == (isRetried ? .seconds(1) : nil))
    }

    @Test(
        "A transport that could not reach the origin, or broke off, is retried", .requirement("H5"),
        arguments: [
            (TransportError.Code.cannotConnect, true), (.connectionLost, true), (.truncated, true), (.timedOut, true),
            (.other, true), (.insecure, false), (.malformedResponse, false), (.unsupportedRequest, false),
        ])
    func transport(code: TransportError.Code, isRetried: Bool) {
        #expect(LoadError.transport(TransportError(code), url: Self.url).isFatal == !isRetried)
    }

    @Test(
        "No other failure is retried", .requirement("H5"),
        arguments: [
            LoadError.cancelled, .invalidURL("", reason: ""), .invalidKey("", reason: ""), .notCached(url: url),
            .bodyTooLarge(url: url, limit: 1), .tooManyRedirects(url: url, limit: 1), .notStorable(url: url),
            .processing(url: url, reason: ""), .store(.closed),
        ])
    func others(error: LoadError) {
        #expect(error.isFatal)
        #expect(RetryPolicy().delay(after: error, attempt: 1, chance: 0) == nil)
    }

    // MARK: Pauses

    struct Case: Sendable {
        let name: String
        var policy = RetryPolicy(jitter: 0)
        var attempt = 1
        var retryAfter: Duration?
        var chance = 0.0
        let delay: Duration?
    }

    @Test(
        "Pauses double up to the maximum; Retry-After lengthens them, or is too long", .requirement("H7"),
        arguments: [
            Case(name: "first", delay: .seconds(1)),
            Case(name: "second", attempt: 2, delay: .seconds(2)),
            Case(name: "fourth", attempt: 4, delay: .seconds(8)),
            Case(name: "no more attempts", attempt: 5, delay: nil),
            Case(name: "one attempt", policy: RetryPolicy(maxAttempts: 1), delay: nil),
            Case(name: "no attempt", policy: RetryPolicy(maxAttempts: 0), delay: nil),
            Case(name: "fewer than none", policy: RetryPolicy(maxAttempts: .min), delay: nil),
            Case(name: "the longest", policy: RetryPolicy(maxAttempts: 99, jitter: 0), attempt: 7, delay: .seconds(60)),
            Case(
                name: "not a power of 2", policy: RetryPolicy(maxDelay: .seconds(3), jitter: 0), attempt: 3,
                delay: .seconds(3)),
            Case(
                name: "very many attempts", policy: RetryPolicy(maxAttempts: .max, jitter: 0), attempt: .max - 1,
                delay: .seconds(60)),
            Case(
                name: "no end of doubling",
                policy: RetryPolicy(maxAttempts: .max, maxDelay: .seconds(Int64.max), jitter: 0), attempt: .max - 1,
                delay: .seconds(Int64.max)),
            Case(name: "no pause", policy: RetryPolicy(baseDelay: .zero), chance: 0.9, delay: .zero),
            Case(name: "less than none", policy: RetryPolicy(baseDelay: .seconds(-1)), chance: 0.9, delay: .zero),
            Case(name: "none at most", policy: RetryPolicy(maxDelay: .seconds(-1)), chance: 0.9, delay: .zero),
            Case(name: "Retry-After", retryAfter: .seconds(120), delay: .seconds(120)),
            Case(name: "Retry-After, sooner", attempt: 3, retryAfter: .seconds(2), delay: .seconds(4)),
            Case(name: "Retry-After 0", retryAfter: .zero, delay: .seconds(1)),
            Case(name: "Retry-After, the longest", retryAfter: .seconds(300), delay: .seconds(300)),
            Case(name: "Retry-After, too long", retryAfter: .seconds(301), delay: nil),
            Case(name: "Retry-After after the last attempt", attempt: 5, retryAfter: .seconds(1), delay: nil),
        ])
    func pauses(_ c: Case) {
        let delay = c.policy.delay(
            after: Self.unavailable, attempt: c.attempt, retryAfter: c.retryAfter, chance: c.chance)
        #expect(delay == c.delay, "\(c.name)")
    }

    @Test(
        "The random part never exceeds the configured one", .requirement("H7"),
        arguments: [-1, 0, 0.25, 0.5, 1, 2, Double.nan], [0, 0.5, 0.999_999])
    func jitter(jitter: Double, chance: Double) throws {
        let policy = RetryPolicy(baseDelay: .seconds(8), jitter: jitter)
        let delay = try #require(policy.delay(after: Self.unavailable, attempt: 2, chance: chance))
        let part = jitter.isNaN ? 0 : min(1, max(0, jitter))
        #expect(abs(delay / .seconds(16) - (1 - part * chance)) < 1e-9)
        #expect((Duration.zero...Duration.seconds(16)).contains(delay))
    }
}
