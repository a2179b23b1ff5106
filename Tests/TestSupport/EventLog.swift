public import Logging

/// Records log events of every level.
public final class EventLog: Sendable {
    /// A log event.
    public struct Entry: Sendable {
        /// The severity.
        public let level: Logger.Level
        /// The text of the event.
        public let message: String
        /// The metadata of the event.
        public let metadata: Logger.Metadata
    }

    /// Guards the list.
    private let log = Mutex<[Entry]>([])

    /// Creates an empty log.
    public init() {}

    /// The recorded events, in order.
    public var entries: [Entry] { log.withLock { $0 } }

    /// The messages and metadata of all events, in order.
    public var lines: [String] { entries.map(\.line) }

    /// The messages and metadata of the errors, in order.
    public var errors: [String] { entries.filter { $0.level == .error }.map(\.line) }

    /// A logger that writes to this log.
    public var logger: Logger { Logger(label: "test") { _ in Handler(log: self) } }

    private struct Handler: LogHandler {
        let log: EventLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let entry = Entry(level: event.level, message: event.message.description, metadata: event.metadata ?? [:])
            log.log.withLock { $0.append(entry) }
        }
    }
}

extension EventLog.Entry {
    fileprivate var line: String { "\(message) \(metadata)" }
}
