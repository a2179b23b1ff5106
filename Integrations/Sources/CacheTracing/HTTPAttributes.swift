internal import HTTPTypes
internal import Tracing

/// Attributes by OpenTelemetry's conventions for HTTP spans.
///
/// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
extension SpanAttributes {
    /// Sets the method. A method unknown to the conventions becomes `_OTHER`, so that a client cannot invent values.
    mutating func setMethod(_ method: HTTPRequest.Method) {
        guard Self.knownMethods.contains(method.rawValue) else {
            self["http.request.method"] = "_OTHER"
            self["http.request.method_original"] = method.rawValue
            return
        }
        self["http.request.method"] = method.rawValue
    }

    static func isKnown(_ method: HTTPRequest.Method) -> Bool { knownMethods.contains(method.rawValue) }

    private static let knownMethods: Set<String> = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]

    /// Sets host and port of an authority. Without a port, uses the default port of the scheme.
    mutating func setServer(_ authority: String, scheme: String) {
        let hostAndPort = authority.split(separator: "@").last ?? ""
        var host = hostAndPort
        var port = scheme == "https" ? 443 : 80
        // The colons of an IPv6 address are in brackets.
        if let colon = hostAndPort.lastIndex(of: ":"), !hostAndPort[colon...].contains("]") {
            host = hostAndPort[..<colon]
            port = Int(hostAndPort[hostAndPort.index(after: colon)...]) ?? port
        }
        self["server.address"] = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host)
        self["server.port"] = port
    }
}

/// A URL by the conventions: without credentials, and without the values of query items that are signatures.
struct TracedURL: CustomStringConvertible {
    let description: String

    init(_ url: String) {
        var text = url[...]
        if let scheme = text.firstRange(of: "://") {
            let end = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
            if let at = text[scheme.upperBound..<end].lastIndex(of: "@") {
                text = Substring(text[..<scheme.upperBound] + "REDACTED:REDACTED" + text[at...])
            }
        }
        guard let mark = text.firstIndex(of: "?") else {
            description = String(text)
            return
        }
        let items = text[text.index(after: mark)...].split(separator: "&", omittingEmptySubsequences: false).map {
            item in
            guard let equals = item.firstIndex(of: "="), Self.signatures.contains(item[..<equals]) else { return item }
            return item[...equals] + "REDACTED"
        }
        description = text[...mark] + items.joined(separator: "&")
    }

    private static let signatures: Set<Substring> = ["AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature"]
}
