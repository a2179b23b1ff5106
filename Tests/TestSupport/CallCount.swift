internal import Synchronization

/// Counts calls from any task.
public final class CallCount: Sendable {
    /// Guards the number.
    private let count = Mutex(0)

    /// Creates a count of zero.
    public init() {}

    /// The number of calls.
    public var value: Int { count.withLock { $0 } }

    /// Counts a call.
    public func increment() { count.withLock { $0 += 1 } }
}
