internal import HTTPTypes

extension HTTPRequest.Method {
    /// Whether a request with this method changes nothing at the origin (RFC 9110 §9.2.1): the methods that IANA registers
    /// as safe. A method is case-sensitive, and an unknown one is not safe.
    var isSafe: Bool { Self.safeMethods.contains(rawValue) }

    /// The safe methods of https://www.iana.org/assignments/http-methods.
    private static let safeMethods: Set<String> = [
        "GET", "HEAD", "OPTIONS", "PRI", "PROPFIND", "QUERY", "REPORT", "SEARCH", "TRACE",
    ]
}
