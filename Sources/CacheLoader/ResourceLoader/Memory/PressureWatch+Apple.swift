#if canImport(Darwin)
internal import Dispatch
internal import Synchronization

/// Receives memory pressure events from Dispatch until it is released.
package final class PressureWatch: Sendable {
    /// The array never changes. The mutex is needed because a source is not `Sendable`. Each level has its own source,
    /// so that a handler knows the level without asking its source.
    private let sources: Mutex<[any DispatchSourceMemoryPressure]>

    /// Calls `notify` at every signal, on a private queue. Never returns `nil`: the system always reports.
    package init?(_ notify: @escaping @Sendable (MemoryPressure) -> Void) {
        sources = Mutex([Self.source(.warning, .warning, notify), Self.source(.critical, .critical, notify)])
    }

    deinit {
        sources.withLock { sources in
            for source in sources { source.cancel() }
        }
    }

    private static func source(
        _ event: DispatchSource.MemoryPressureEvent, _ pressure: MemoryPressure,
        _ notify: @escaping @Sendable (MemoryPressure) -> Void
    ) -> sending any DispatchSourceMemoryPressure {
        let queue = DispatchQueue(label: "CacheLoader.MemoryPressure")
        let source = DispatchSource.makeMemoryPressureSource(eventMask: event, queue: queue)
        source.setEventHandler { notify(pressure) }
        source.activate()
        return source
    }
}
#endif
