/// Distinguishes the first call from all later calls.
public final class FirstTime: Sendable {
    private let hasPassed = Atomic(false)

    /// Creates a value without calls.
    public init() {}

    /// Returns whether this is the first call.
    public func isFirst() -> Bool { !hasPassed.exchange(true, ordering: .acquiringAndReleasing) }
}
