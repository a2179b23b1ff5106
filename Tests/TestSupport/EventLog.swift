public import Logging
internal import Synchronization

/// Keeps what is logged, at every level.
public final class EventLog: Sendable {
    /// Guards the list.
    private let events = Mutex<[(Logger.Level, String)]>([])

    /// Creates an empty log.
    public init() {}

    /// Messages and metadata, in order.
    public var lines: [String] { events.withLock { $0.map(\.1) } }

    /// Those that are errors.
    public var errors: [String] { events.withLock { $0.filter { $0.0 == .error }.map(\.1) } }

    /// What writes here.
    public var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: EventLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.events.withLock { $0.append((event.level, "\(event.message) \(event.metadata ?? [:])")) }
        }
    }
}
