public import Logging
internal import Synchronization

/// Keeps what is logged, at every level.
public final class EventLog: Sendable {
    /// One thing that was logged.
    public struct Entry: Sendable {
        /// How urgent it is.
        public let level: Logger.Level
        /// What has happened.
        public let message: String
        /// The details.
        public let metadata: Logger.Metadata
    }

    /// Guards the list.
    private let log = Mutex<[Entry]>([])

    /// Creates an empty log.
    public init() {}

    /// What was logged, in order.
    public var entries: [Entry] { log.withLock { $0 } }

    /// Messages and metadata, in order.
    public var lines: [String] { entries.map(\.line) }

    /// Those that are errors.
    public var errors: [String] { entries.filter { $0.level == .error }.map(\.line) }

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
            let entry = Entry(
                level: event.level, message: event.message.description, metadata: event.metadata ?? [:])
            log.log.withLock { $0.append(entry) }
        }
    }
}

extension EventLog.Entry {
    fileprivate var line: String { "\(message) \(metadata)" }
}
