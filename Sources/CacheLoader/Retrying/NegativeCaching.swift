package import CacheStore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// How often an origin is asked for what it keeps answering with an error.
///
/// The failures of a key are counted in the store: they outlive the process, and are forgotten with a success, or with the
/// key. Failures to reach the origin are not counted.
public struct NegativeCaching: Hashable, Sendable {
    /// How long after its last error a key that has had too many is left alone; zero, the default, for never.
    public var lifetime: Duration
    /// How many error responses there may be within that time of each other; 3 by default. One at least.
    public var maxAttempts: Int

    /// Creates a value; each part has its documented default.
    public init(lifetime: Duration = .zero, maxAttempts: Int = 3) {
        self.lifetime = lifetime
        self.maxAttempts = maxAttempts
    }

    /// Within what time of each other failures are counted together; `nil` for however long.
    package var window: Duration? { lifetime > .zero ? lifetime : nil }

    /// Whether the origin is not to be asked at a time.
    package func blocks(_ failure: LoadFailure, at now: Date) -> Bool {
        guard let window, failure.count >= max(1, maxAttempts) else { return false }
        let age = now.timeIntervalSince(failure.date)
        // A clock that was set back must not block for longer than it was set.
        return age >= 0 && .seconds(age) < window
    }
}
