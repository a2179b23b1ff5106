/// Decides when a failed load is tried again.
///
/// A load is tried again after an error of the transport and after the statuses 408, 425, 429 and 5xx. Any other failure is
/// final. An origin that cannot be reached, because it refuses connections or has no address, is tried again only with a
/// ``Reachability``, which tells when that may change. Each pause is up to twice as long as the one before. A part of it is
/// random, so that the clients of an origin that has recovered do not come at the same time.
public struct RetryPolicy: Hashable, Sendable {
    /// How often a load is attempted in all; 5 by default, 1 for no other attempt.
    public var maxAttempts: Int
    /// The longest pause after the first failure; a second by default.
    public var baseDelay: Duration
    /// The longest pause at all; a minute by default.
    public var maxDelay: Duration
    /// The part of a pause that chance may take away, from 0 to 1; 0.5 by default.
    public var jitter: Double
    /// The longest pause that `Retry-After` may ask for; when it asks for more, the failure is final. 5 minutes by default.
    public var maxRetryAfter: Duration

    /// Creates a policy; each part has its documented default.
    public init(
        maxAttempts: Int = 5, baseDelay: Duration = .seconds(1), maxDelay: Duration = .seconds(60),
        jitter: Double = 0.5, maxRetryAfter: Duration = .seconds(300)
    ) {
        self.maxAttempts = maxAttempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.maxRetryAfter = maxRetryAfter
    }

    /// Every failure is final.
    public static let never = RetryPolicy(maxAttempts: 1)

    /// The pause before another attempt; `nil` if the failure is final.
    ///
    /// - Parameters:
    ///   - error: Why the attempt failed.
    ///   - attempt: How many were made, this one included.
    ///   - retryAfter: What the origin asked for (RFC 9110 §10.2.3).
    ///   - chance: From 0 up to 1.
    package func delay(
        after error: LoadError, attempt: Int, retryAfter: Duration? = nil, chance: Double
    ) -> Duration? {
        guard !error.isFatal, attempt < maxAttempts else { return nil }
        let whole = pause(after: attempt)
        // Taken away: as a product, a very long pause could be rounded to one that is longer still.
        let pause = max(.zero, whole - whole * (min(1, max(0, jitter)) * chance))
        guard let retryAfter else { return pause }
        guard retryAfter <= maxRetryAfter else { return nil }
        // Never sooner than the origin wants, however long that is already.
        return max(retryAfter, pause)
    }

    /// `baseDelay`, twice that, four times that, up to `maxDelay`.
    private func pause(after attempt: Int) -> Duration {
        var pause = max(.zero, baseDelay)
        for _ in 1..<max(1, min(attempt, 64)) where pause < maxDelay { pause *= 2 }
        return min(pause, max(.zero, maxDelay))
    }
}

extension LoadError {
    /// Whether another attempt would fail in the same way, so that none is made.
    public var isFatal: Bool {
        switch self {
        case .transport(let error, _):
            [.insecure, .unsupportedRequest, .malformedResponse].contains(error.code)
        case .httpStatus(let status, _):
            // RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4.
            ![408, 425, 429].contains(status) && status < 500
        default: true
        }
    }
}
