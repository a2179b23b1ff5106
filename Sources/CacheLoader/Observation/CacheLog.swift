internal import CacheStore
internal import Logging

/// A logger, and what it is to be told of.
struct CacheLog: Sendable {
    let logger: Logger
    let options: LogOptions

    /// The metadata is made only if somebody is going to have it.
    func callAsFunction(
        _ option: LogOptions, _ level: Logger.Level, _ message: Logger.Message,
        _ metadata: @autoclosure () -> Logger.Metadata
    ) {
        guard options.contains(option) else { return }
        logger.log(level: level, message, metadata: metadata())
    }
}

extension HTTPCache.Configuration {
    var log: CacheLog { CacheLog(logger: logger, options: logOptions) }
}

extension ResourceLoader.Configuration {
    var log: CacheLog { CacheLog(logger: logger, options: logOptions) }
}

/// A URL as logs may have it: without the query, whose values may be secret. The text is that of a key, which has no user, no
/// password and no fragment.
struct LoggedURL: CustomStringConvertible {
    let description: String

    init(_ url: String) {
        description = url.firstIndex(of: "?").map { url[..<$0] + "?…" } ?? url
    }
}

extension StoreError {
    /// What logs may have of it: without the key, which may be a URL.
    var logged: String {
        switch self {
        case .removedMeanwhile: "the key was removed while a response for it was on its way"
        case .invalidKey(_, let reason): "a key cannot name an entry: \(reason)"
        default: description
        }
    }
}
