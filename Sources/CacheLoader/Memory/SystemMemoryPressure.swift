internal import Synchronization

/// The memory pressure of the system.
///
/// On Linux the pressure stall information of the kernel: a warning when some tasks have waited for memory for 200 ms within
/// 2 s, critical when all have at once for 100 ms. It concerns the machine, also for a process in a container. A thread
/// of its own waits for it as long as this or an observation of it lives. On Apple platforms what Dispatch reports of
/// the process.
///
/// One can serve any number of caches.
public final class SystemMemoryPressure: MemoryPressureSource {
    private struct Observers {
        var handlers: [UInt64: @Sendable (MemoryPressure) -> Void] = [:]
        var lastID: UInt64 = 0
    }

    /// A mutex cannot be captured by itself.
    private final class ObserverTable: Sendable {
        /// Guards who is told; they are told after it is unlocked.
        let observers = Mutex(Observers())

        func tell(_ pressure: MemoryPressure) {
            let handlers = observers.withLock { Array($0.handlers.values) }
            for handler in handlers { handler(pressure) }
        }
    }

    private let table: ObserverTable
    private let watch: PressureWatch

    /// Begins to watch; `nil` if the system does not tell: a Linux without pressure stall information, or older than 6.5 for
    /// a process without privileges, or a container that hides it.
    public convenience init?() {
        self.init { PressureWatch($0) }
    }

    /// - Parameter makeWatch: Makes the watch that calls the function it is given at every signal.
    package init?(_ makeWatch: (@escaping @Sendable (MemoryPressure) -> Void) -> PressureWatch?) {
        let table = ObserverTable()
        guard let watch = makeWatch({ table.tell($0) }) else { return nil }
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
            // Released after the lock: a handler may hold anything.
            _ = table.observers.withLock { $0.handlers.removeValue(forKey: id) }
        }
    }
}
