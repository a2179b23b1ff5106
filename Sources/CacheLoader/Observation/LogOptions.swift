/// What a logger is told of. The messages are constant; what varies is metadata.
///
/// Neither fields nor bodies are logged, and of URLs not the query, which may hold secrets.
public struct LogOptions: OptionSet, Hashable, Sendable {
    /// The options as bits.
    public let rawValue: UInt8

    /// Options of bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Requests that go to an origin; at the level `debug`.
    public static let requests = LogOptions(rawValue: 1 << 0)
    /// Responses that origins give, and stored ones that answer in their place; at the level `debug`.
    public static let responses = LogOptions(rawValue: 1 << 1)
    /// What could not be read or written in the store, at the level `warning`; origins that do not answer, or with an error,
    /// at the level `info`.
    public static let errors = LogOptions(rawValue: 1 << 2)
    /// Requests that nothing stored may answer; at the level `debug`.
    public static let misses = LogOptions(rawValue: 1 << 3)
    /// Values that have to go from memory to make room; at the level `debug`.
    ///
    /// Of its entries the store itself tells: `ResponseStore.Configuration.logsEviction`.
    public static let eviction = LogOptions(rawValue: 1 << 4)
    /// Memory pressure that was answered; at the level `info`.
    public static let pressure = LogOptions(rawValue: 1 << 5)

    /// All of it.
    public static let all: LogOptions = [.requests, .responses, .errors, .misses, .eviction, .pressure]
}
