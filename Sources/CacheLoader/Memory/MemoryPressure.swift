/// How short of memory a system or a process is.
@nonexhaustive
public enum MemoryPressure: Hashable, Sendable, CaseIterable {
    /// Work slows down for want of memory.
    case warning
    /// Hardly any work gets done, or the process may be ended soon.
    case critical
}

/// What tells when memory is short.
///
/// ``SystemMemoryPressure`` asks the system. An app that learns of it by other ways can pass that on with a type of its own,
/// or with ``MemoryCache/respond(to:)``.
public protocol MemoryPressureSource: Sendable {
    /// Calls `handler` at every signal, on any thread, until the returned observation is released.
    ///
    /// A call may still be under way then. The handler returns soon.
    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation
}

/// Keeps an observer of a ``MemoryPressureSource``: the signals end when this is released.
public final class MemoryPressureObservation: Sendable {
    private let end: @Sendable () -> Void

    /// Creates an observation. `end` is called once, on the thread that releases it, and should keep the source for as long.
    public init(onEnd end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
