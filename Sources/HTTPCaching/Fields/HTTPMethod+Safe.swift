extension HTTPRequest.Method {
    /// Whether IANA registers the method as safe: a safe method changes nothing at the origin (RFC 9110 §9.2.1).
    /// Methods are case-sensitive. An unknown method is not safe.
    package var isSafe: Bool { Self.safeMethods.contains(rawValue) }

    /// Whether a success carries the content of a resource: of the target (GET) or of the equivalent resource (QUERY,
    /// RFC 10008 §2.2).
    package var isRetrieval: Bool { self == .get || self == .query }

    /// The safe methods of https://www.iana.org/assignments/http-methods.
    private static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE",
    ]
}
