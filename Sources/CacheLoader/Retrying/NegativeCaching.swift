package import CacheStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Limits how often the loader asks an origin that keeps answering with an error.
///
/// The store counts the failures of a key, so the counts outlive the process. A success and the removal of the key
/// delete the count. Failures to reach the origin do not count.
public struct NegativeCaching: Hashable, Sendable {
    /// How long the loader does not ask for a key with too many errors, counted from the last error.
    ///
    /// Zero, the default, disables the limit.
    public var lifetime: Duration
    /// The number of error responses, each within ``lifetime`` of the previous one, that block a key. 3 by default, at
    /// least 1.
    public var maxAttempts: Int

    /// Creates a value; each property has its documented default.
    public init(lifetime: Duration = .zero, maxAttempts: Int = 3) {
        self.lifetime = lifetime
        self.maxAttempts = maxAttempts
    }

    /// The longest time between failures that count together; `nil` for no limit.
    package var window: Duration? { lifetime > .zero ? lifetime : nil }

    /// Returns whether the loader must not ask the origin at the time `now`.
    package func blocks(_ failure: LoadFailure, at now: Date) -> Bool {
        guard let window, failure.count >= max(1, maxAttempts) else { return false }
        let age = now.timeIntervalSince(failure.date)
        // After the clock was set back, the age is negative; a key with a negative age is not blocked.
        return age >= 0 && .seconds(age) < window
    }
}
