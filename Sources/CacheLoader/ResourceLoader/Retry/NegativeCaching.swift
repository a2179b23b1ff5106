package import CacheFoundation
package import CacheStore

/// Limits how often the loader asks an origin that keeps answering with an error.
///
/// The store counts the failures of equal requests, so the counts outlive the process. Requests are equal if they have
/// the same key, method and credentials. A success and the removal of the key delete the count. Failures to reach the
/// origin do not count. Failures of requests with a range or conditions do not count either.
public struct NegativeCaching: Hashable, Sendable {
    /// How long the loader does not send a request with too many errors, counted from the last error.
    ///
    /// `nil`, the default, disables the limit. Zero blocks for no time.
    public var lifetime: Duration?
    /// The number of error responses, each within ``lifetime`` of the previous one, that block a request. 3 by default.
    /// Numbers below 1 count as 1.
    public var maxAttempts: Int

    /// Creates a value; each property has its documented default.
    public init(lifetime: Duration? = nil, maxAttempts: Int = 3) {
        self.lifetime = lifetime
        self.maxAttempts = maxAttempts
    }

    /// Returns whether the loader must not ask the origin at the time `now`.
    package func blocks(_ failure: LoadFailure, at now: Date) -> Bool {
        guard let lifetime, failure.count >= max(1, maxAttempts) else { return false }
        let age = now.timeIntervalSince(failure.date)
        // After the clock was set back, the age is negative; a request with a negative age is not blocked.
        return age >= 0 && .seconds(age) < lifetime
    }
}
