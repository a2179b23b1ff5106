internal import CacheStore
internal import Logging

/// The kinds of messages that a logger receives. The messages are constant; the metadata varies.
///
/// The logs contain no fields, no bodies and no queries of URLs: these may hold secrets.
public struct LogOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt8

    /// Creates options from bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Requests to an origin, at the level `debug`.
    public static let requests = LogOptions(rawValue: 1 << 0)
    /// Responses from origins, and stored responses that replace them, at the level `debug`.
    public static let responses = LogOptions(rawValue: 1 << 1)
    /// Failures to read or write the store, at the level `warning`. Origins that do not answer, or answer with an
    /// error, at the level `info`.
    public static let errors = LogOptions(rawValue: 1 << 2)
    /// Requests that no stored response may answer, at the level `debug`.
    public static let misses = LogOptions(rawValue: 1 << 3)
    /// Values evicted from memory to make room, at the level `debug`.
    ///
    /// The store logs the eviction of its entries itself: `ResponseStore.Configuration.logsEviction`.
    public static let eviction = LogOptions(rawValue: 1 << 4)
    /// Memory pressure to which the loader has responded, at the level `info`.
    public static let pressure = LogOptions(rawValue: 1 << 5)

    /// All options.
    public static let all: LogOptions = [.requests, .responses, .errors, .misses, .eviction, .pressure]
}

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
