/// The degree of memory shortage in a system or a process.
@nonexhaustive
public enum MemoryPressure: Hashable, Sendable, CaseIterable {
    /// Work slows down because memory is short.
    case warning
    /// Hardly any work gets done, or the system may soon end the process.
    case critical
}

/// A source of memory pressure signals.
///
/// ``SystemMemoryPressure`` observes the system. An app that detects memory pressure in another way can report it with
/// its own source, or with ``MemoryCache/respond(to:)``.
public protocol MemoryPressureSource: Sendable {
    /// Calls `handler` at every signal, on any thread, until the returned observation is released.
    ///
    /// A call may still be running at that time. The handler should return quickly.
    func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation
}

/// Keeps a handler registered with a ``MemoryPressureSource``. Releasing the observation ends the signals.
public final class MemoryPressureObservation: Sendable {
    private let end: @Sendable () -> Void

    /// Creates an observation. Its release calls `end` once, on the releasing thread. Until then, `end` should retain
    /// the source.
    public init(onEnd end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }
}
