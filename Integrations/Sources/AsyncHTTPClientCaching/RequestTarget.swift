/// The parts of the URL of a request (RFC 3986 §3), byte for byte.
///
/// Avoids `URLComponents`, which encodes percent signs a second time in a URL with characters such as brackets. The
/// cache validates the parts.
struct RequestTarget {
    let scheme: String
    /// The host and the port. Omits a user and a password, which belong in `Authorization`.
    let authority: Substring
    /// The path with the query, without the fragment.
    let path: Substring

    /// Returns `nil` without a scheme or a host.
    init?(_ url: String) {
        let url = url.prefix { $0 != "#" }
        guard let colon = url.firstRange(of: "://") else { return nil }
        scheme = url[..<colon.lowerBound].lowercased()
        let rest = url[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let userAndHost = rest[..<end]
        authority = userAndHost.lastIndex(of: "@").map { userAndHost[userAndHost.index(after: $0)...] } ?? userAndHost
        path = rest[end...]
        guard !scheme.isEmpty, !authority.isEmpty else { return nil }
    }

    /// The scheme, host and port in lower case, or `nil` for a scheme other than http and https.
    var origin: String? {
        let defaultPort: String
        switch scheme {
        case "http": defaultPort = "80"
        case "https": defaultPort = "443"
        default: return nil
        }
        // The brackets of an IPv6 address contain colons.
        let closing = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[closing...].firstIndex(of: ":") ?? authority.endIndex
        let port = authority[colon...].dropFirst()
        return "\(scheme)://\(authority[..<colon].lowercased()):\(port.isEmpty ? defaultPort[...] : port)"
    }
}
