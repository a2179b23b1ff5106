internal import Synchronization

/// The memory pressure of the system.
///
/// On Linux, reads the kernel's pressure stall information. This information covers the whole machine, even for a
/// process in a container. A warning means that some tasks waited for memory for 200 ms within 2 s. Critical pressure
/// means that all tasks waited at once for 100 ms. A dedicated thread receives these events while the source or an
/// observation of it exists.
///
/// On Apple platforms, passes on the memory pressure that Dispatch reports for the process.
///
/// One source can serve any number of caches.
public final class SystemMemoryPressure: MemoryPressureSource {
    private struct Observers {
        var handlers: [UInt64: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID: UInt64 = 0
    }

    /// A class, because a closure cannot capture a `Mutex`.
    private final class ObserverTable: Sendable {
        /// Guards the handlers; ``notify(_:)`` calls them after unlocking.
        let observers = Mutex(Observers())

        func notify(_ pressure: MemoryPressure) {
            let handlers = observers.withLock { Array($0.handlers.values) }
            for handler in handlers { handler(pressure) }
        }
    }

    private let table: ObserverTable
    private let watch: PressureWatch

    /// Begins to watch. Returns `nil` if the system does not report memory pressure:
    ///
    /// - Linux without pressure stall information, or in a container that hides it;
    /// - Linux older than 6.5, for a process without privileges.
    public convenience init?() {
        self.init { PressureWatch($0) }
    }

    /// - Parameter makeWatch: Creates the watch, which calls the given function at every signal.
    package init?(_ makeWatch: (@escaping @Sendable (MemoryPressure) -> Void) -> PressureWatch?) {
        let table = ObserverTable()
        guard let watch = makeWatch({ table.notify($0) }) else { return nil }
        self.table = table
        self.watch = watch
    }

    /// Calls `handler` at every signal, on a thread of the source, until the returned observation is released.
    public func observe(_ handler: @escaping @Sendable (MemoryPressure) -> Void) -> MemoryPressureObservation {
        let id = table.observers.withLock { observers in
            observers.lastID += 1
            observers.handlers[observers.lastID] = handler
            return observers.lastID
        }
        return MemoryPressureObservation { [self] in
            // Release the handler after unlocking: that may release any object.
            _ = table.observers.withLock { $0.handlers.removeValue(forKey: id) }
        }
    }
}
