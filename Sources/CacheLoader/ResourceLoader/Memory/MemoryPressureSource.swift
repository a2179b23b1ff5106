internal import Synchronization

/// Signals memory pressure to any number of caches, loaders and models.
///
/// ```swift
/// configuration.memoryPressure = .system()
/// ```
///
/// An app that detects memory pressure in another way creates a source of its own, and calls ``signal(_:)``.
public final class MemoryPressureSource: Sendable {
    private typealias Handler = @Sendable (MemoryPressure) -> Void

    private struct Handlers {
        var handlers: [UInt64: Handler] = [:]
        var lastID: UInt64 = 0
    }

    /// A class, because a closure cannot capture a `Mutex`.
    private final class HandlerTable: Sendable {
        /// Guards the handlers; ``notify(_:)`` calls them after unlocking.
        let guarded = Mutex(Handlers())

        func notify(_ pressure: MemoryPressure) {
            let handlers = guarded.withLock { Array($0.handlers.values) }
            for handler in handlers { handler(pressure) }
        }
    }

    private let table: HandlerTable
    /// Watches the system; `nil` for a source that only the program signals.
    private let watch: PressureWatch?

    /// Creates a source without a connection to the system.
    public init() {
        table = HandlerTable()
        watch = nil
    }

    /// - Parameter makeWatch: Creates the watch, which calls the given function at every signal.
    package init?(_ makeWatch: (@escaping @Sendable (MemoryPressure) -> Void) -> PressureWatch?) {
        let table = HandlerTable()
        guard let watch = makeWatch({ table.notify($0) }) else { return nil }
        self.table = table
        self.watch = watch
    }

    /// Returns a new source of the memory pressure of the system; `nil` if the system does not report it.
    ///
    /// On Linux, reads the kernel's pressure stall information. This information covers the whole machine, even for a
    /// process in a container. A warning means that some tasks waited for memory for 200 ms within 2 s. Critical
    /// pressure means that all tasks waited at once for 100 ms. A dedicated thread receives these events while the
    /// source or an object that observes it exists. There is no source:
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
        table.notify(pressure)
    }

    /// Calls `handler` at every signal, on any thread, until the returned observation is released.
    ///
    /// A call may still be running at that time. The handler must return quickly.
    package func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> Observation {
        let id = table.guarded.withLock { guarded in
            guarded.lastID += 1
            guarded.handlers[guarded.lastID] = handler
            return guarded.lastID
        }
        return Observation(of: self, id)
    }

    /// The number of observations.
    package var observerCount: Int { table.guarded.withLock { $0.handlers.count } }

    /// Keeps a handler registered. Retains the source.
    package final class Observation: Sendable {
        private let source: MemoryPressureSource
        private let id: UInt64

        fileprivate init(of source: MemoryPressureSource, _ id: UInt64) {
            self.source = source
            self.id = id
        }

        deinit {
            // Release the handler after unlocking: that may release any object.
            _ = source.table.guarded.withLock { $0.handlers.removeValue(forKey: id) }
        }
    }
}
