/// Signals memory pressure to any number of caches, loaders and models.
///
/// ```swift
/// configuration.memoryPressure = .system()
/// ```
///
/// An app that detects memory pressure in another way creates its own source, and calls ``signal(_:)``.
public final class MemoryPressureSource: Sendable {
    /// Keeps a handler registered. Retains the source.
    package typealias Observation = ObserverRegistration

    private let observers: Observers<MemoryPressure>
    /// Watches the system. `nil` for a source that only the program signals.
    private let watch: PressureWatch?

    /// Creates a source without a connection to the system.
    public init() {
        observers = Observers()
        watch = nil
    }

    /// The watch that `makeWatch` creates calls the given function at every signal.
    package init?(_ makeWatch: (@escaping @Sendable (MemoryPressure) -> Void) -> PressureWatch?) {
        let observers = Observers<MemoryPressure>()
        guard let watch = makeWatch({ observers.notify($0) }) else { return nil }
        self.observers = observers
        self.watch = watch
    }

    /// Returns a new source of the memory pressure of the system, or `nil` when the system does not report it.
    ///
    /// On Linux, reads the kernel's pressure stall information. This information covers the whole machine, even for a
    /// process in a container. A warning means that some tasks waited for memory for 200 ms within 2 s. Critical
    /// pressure means that all tasks waited for memory simultaneously for 100 ms. A dedicated thread receives these
    /// events while the source or an object that observes it exists. Returns `nil`:
    ///
    /// - without pressure stall information, or in a container that hides it;
    /// - before Linux 6.5, for a process without privileges.
    ///
    /// On Apple platforms, passes on the memory pressure that Dispatch reports for the process.
    public static func system() -> MemoryPressureSource? {
        MemoryPressureSource { PressureWatch($0) }
    }

    /// Signals memory pressure, on the calling thread. Returns after all caches have responded.
    public func signal(_ pressure: MemoryPressure) {
        observers.notify(pressure)
    }

    /// Calls `handler` at every signal, on any thread, until the returned observation is released. A call may still be
    /// running at that time. The handler must return quickly.
    package func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> Observation {
        // The observer retains the source, and the source its observers, until the observation is released.
        observers.add { pressure in withExtendedLifetime(self) { handler(pressure) } }
    }

    package var observerCount: Int { observers.count }
}

/// The degree of memory shortage in a system or a process.
@nonexhaustive
public enum MemoryPressure: Hashable, Sendable, CaseIterable {
    /// Work slows down because memory is short.
    case warning
    /// Hardly any work gets done, or the system may soon end the process.
    case critical
}
