import Logging

/// Writes warnings of the libraries to the standard error, one line each.
struct StandardErrorLog: LogHandler {
    static var logger: Logger { Logger(label: "cachestore") { _ in StandardErrorLog() } }

    var logLevel = Logger.Level.warning
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let details = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let text = (["\(event.message)"] + details).joined(separator: " ")
        StandardError.say(text)
    }
}
