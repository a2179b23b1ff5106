/// The configuration of a machine.
struct Setup: Codable {
    /// The folder of the store.
    var store: String
    /// The URL of the tier, or `nil` for a machine without a tier.
    var tier: String?
    /// The region of an S3 engine, or `nil` for plain `GET` and `PUT`.
    var region: String?
    /// The deadline of the tier in milliseconds, or `nil` for the default.
    var deadline: Int?
    /// The delay of removals in milliseconds, or `nil` for the default.
    var removalDelay: Int?
    /// The maximum number of entries of the store, or `nil` for the default limits.
    var maxEntries: Int?
    /// Whether the machine replaces the origin and answers after the delay in the URL.
    var isOriginInside: Bool?
}

/// The work of a machine.
enum Order: Codable {
    case run(Load)
    case report
    /// Waits for the writes of the tier.
    case drain
    /// Removes all responses from the tier.
    case removeAll
}

/// The requests, which `width` tasks send.
struct Load: Codable {
    /// The URLs, in turn. Without URLs, `range` generates them.
    var urls: [String]?
    /// A file with one URL per line, which replaces `urls`.
    var file: String?
    var range: Numbered?
    var width: Int
    /// The number of rounds over the URLs; 1 by default.
    var repetitions: Int?
    /// The seconds after which no new request begins; no limit by default.
    var seconds: Double?
    /// The milliseconds between two requests of a task; 0 by default.
    var pause: Double?
    /// Whether the result contains the times of each request.
    var hasSamples: Bool?

    /// Numbers that replace `*` in a URL. Any count takes the same memory.
    struct Numbered: Codable {
        var url: String
        var from: Int
        var to: Int
    }
}
