internal import Synchronization

/// Tells the first time from all others.
public final class FirstTime: Sendable {
    private let hasPassed = Atomic(false)

    /// Creates one that has not been asked yet.
    public init() {}

    /// Whether it is asked for the first time.
    public func isFirst() -> Bool {
        !hasPassed.exchange(true, ordering: .acquiringAndReleasing)
    }
}
