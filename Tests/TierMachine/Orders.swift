/// How a machine is made.
struct Setup: Codable {
    /// The folder of the store.
    var store: String
    /// The URL of the tier; `nil` for a machine without one.
    var tier: String?
    /// The region of an engine that speaks S3; `nil` for plain `GET` and `PUT`.
    var region: String?
    /// The deadline of the tier in milliseconds; the default one without it.
    var deadline: Int?
    /// The lifetime of an epoch in milliseconds; the default one without it.
    var epochLifetime: Int?
    /// The most entries of the store; the default limits without it.
    var maxEntries: Int?
    /// Whether the machine itself answers in place of the origin, after the delay that the URL states.
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

/// Requests, which `width` tasks send.
struct Load: Codable {
    /// The URLs, in turn. Without them, `range` generates them.
    var urls: [String]?
    /// A file with one URL in each line, in the place of `urls`.
    var file: String?
    var range: Numbered?
    var width: Int
    /// How often the URLs are requested; once by default.
    var repetitions: Int?
    /// The seconds after which no request begins; no limit by default.
    var seconds: Double?
    /// The milliseconds between two requests of one task; 0 by default.
    var pause: Double?
    /// Whether the result has the times of each request.
    var hasSamples: Bool?

    /// Numbers in the place of `*` in a URL. Their count takes no memory.
    struct Numbered: Codable {
        var url: String
        var from: Int
        var to: Int
    }
}
