// The folder `ResourceLoader/Retry/` decides whether and when a load may ask its origin, after failures and without a
// network. The folder may ask the system about the network. The folder begins no attempt: `ActiveLoads` in
// `Scheduling/` waits and begins it.

/// Decides when to retry a failed load.
///
/// The loader retries after an error of the transport and after the statuses 408, 425, 429 and 5xx. Any other failure
/// is final. If an origin refuses connections or has no address, the loader retries only with a ``Reachability``, which
/// reports changes. Each delay is up to twice as long as the previous one. A part of each delay is random, so that
/// clients do not return to an origin at the same time.
public struct RetryPolicy: Hashable, Sendable {
    /// The number of attempts, the first one included; 5 by default, 1 for no retry. Numbers below 1 count as 1.
    public var maxAttempts: Int
    /// The longest delay after the first failure; a second by default.
    public var baseDelay: Duration
    /// The longest of all delays; a minute by default.
    public var maxDelay: Duration
    /// The largest random reduction of a delay as a fraction, from 0 to 1; 0.5 by default.
    public var jitter: Double
    /// The longest accepted `Retry-After`; 5 minutes by default. After a longer one the failure is final.
    public var maxRetryAfter: Duration

    /// Creates a policy; each property has its documented default.
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

    /// Treats every failure as final.
    public static let never = RetryPolicy(maxAttempts: 1)

    /// Returns the delay before the next attempt, or `nil` for a final failure. `attempt` includes the last attempt.
    /// The origin asked for `retryAfter` (RFC 9110 §10.2.3). `chance` is a random number from 0 up to 1.
    package func delay(
        after error: LoadError, attempt: Int, retryAfter: Duration? = nil, chance: Double
    ) -> Duration? {
        guard !error.isFatal, attempt < maxAttempts else { return nil }
        let whole = pause(after: attempt)
        // A subtraction, because a product could round a very long delay up.
        let pause = max(.zero, whole - whole * (min(1, max(0, jitter)) * chance))
        guard let retryAfter else { return pause }
        // Fail now, and do not ask earlier than the origin permits (RFC 9110 §10.2.3).
        guard retryAfter <= maxRetryAfter else { return nil }
        // Never shorter than `retryAfter`, even if `retryAfter` is already long.
        return max(retryAfter, pause)
    }

    /// Returns `baseDelay`, twice that, four times that, up to `maxDelay`.
    private func pause(after attempt: Int) -> Duration {
        var pause = max(.zero, baseDelay)
        for _ in 1..<max(1, min(attempt, 64)) where pause < maxDelay { pause *= 2 }
        return min(pause, max(.zero, maxDelay))
    }
}

extension LoadError {
    /// Whether the failure is final, because another attempt would fail in the same way.
    public var isFatal: Bool {
        switch self {
        case .transport(let error, _):
            [.insecure, .unsupportedRequest, .malformedResponse].contains(error.code)
        case .httpStatus(let error):
            // RFC 9110 §15.5.9, RFC 8470 §5.2, RFC 6585 §4.
            ![408, 425, 429].contains(error.status.code) && error.status.code < 500
        default: true
        }
    }
}

extension HTTPFields {
    /// The delay in `Retry-After` (RFC 9110 §10.2.3), in seconds or until a date. `nil` for a malformed field.
    package func retryAfter(at now: HTTPDate) -> Duration? {
        guard let field = self[fields: .retryAfter].first else { return nil }
        var text = field.value
        if case .seconds(let seconds) = text.withUTF8({ DeltaSeconds($0) }) { return .seconds(seconds) }
        guard let date = HTTPDate(lenient: field, now: now) else { return nil }
        return .seconds(Swift.min(DeltaSeconds.limit, Swift.max(0, date.seconds(since: now))))
    }
}
