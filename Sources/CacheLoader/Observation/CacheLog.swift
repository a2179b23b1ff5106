internal import CacheStore
internal import Logging

/// A logger, and the kinds of messages that it receives.
struct CacheLog: Sendable {
    let logger: Logger
    let options: LogOptions

    /// Logs a message if `option` is enabled. Evaluates the metadata only if the logger uses it.
    func callAsFunction(
        _ option: LogOptions, _ level: Logger.Level, _ message: Logger.Message,
        _ metadata: @autoclosure () -> Logger.Metadata
    ) {
        guard options.contains(option) else { return }
        logger.log(level: level, message, metadata: metadata())
    }
}

/// A URL for logs, without the query, whose values may be secret. Expects a key's text: no user, password or fragment.
struct LoggedURL: CustomStringConvertible {
    let description: String

    init(_ url: String) {
        description = url.firstIndex(of: "?").map { url[..<$0] + "?…" } ?? url
    }
}

extension StoreError {
    /// A description for logs: without the key, which may be a URL.
    var logged: String {
        switch self {
        case .removedMeanwhile: "the key was removed while a response for it was on its way"
        case .invalidKey(_, let reason): "a key cannot name an entry: \(reason)"
        default: description
        }
    }
}
