#if canImport(Darwin)
internal import Dispatch
internal import Synchronization

/// Hears from Dispatch when memory is short, until it is released.
package final class PressureWatch: Sendable {
    /// Guards nothing that changes: a source is not `Sendable` by itself. One for each level, so that a handler knows
    /// the level without asking its source.
    private let sources: Mutex<[any DispatchSourceMemoryPressure]>

    /// Calls `tell` at every signal, on a queue of its own. Never `nil`: the system always tells.
    package init?(_ tell: @escaping @Sendable (MemoryPressure) -> Void) {
        sources = Mutex([Self.source(.warning, .warning, tell), Self.source(.critical, .critical, tell)])
    }

    deinit {
        sources.withLock { sources in
            for source in sources { source.cancel() }
        }
    }

    private static func source(
        _ event: DispatchSource.MemoryPressureEvent, _ pressure: MemoryPressure,
        _ tell: @escaping @Sendable (MemoryPressure) -> Void
    ) -> sending any DispatchSourceMemoryPressure {
        let queue = DispatchQueue(label: "CacheLoader.MemoryPressure")
        let source = DispatchSource.makeMemoryPressureSource(eventMask: event, queue: queue)
        source.setEventHandler { tell(pressure) }
        source.activate()
        return source
    }
}
#endif
