internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Where a redirect leads, and what must not be taken along.
enum Redirect {
    /// The target of a redirect (RFC 9110 §15.4); `nil` if the response is none, or does not say where to.
    static func target(of response: HTTPResponse, from url: URL) throws(LoadError) -> URL? {
        guard [301, 302, 303, 307, 308].contains(response.status.code), let location = response.headerFields[.location]
        else { return nil }
        guard let target = URL(string: location, relativeTo: url)?.absoluteURL else {
            throw .invalidURL(location, reason: "\(url.absoluteString) redirects to it")
        }
        return target
    }

    /// Whether two URLs have the same scheme, host and port.
    static func isSameOrigin(_ first: URL, _ second: URL) -> Bool {
        origin(of: first) == origin(of: second)
    }

    /// What was meant for one origin is not told another.
    static func removeCredentials(from fields: inout HTTPFields) {
        for name in [HTTPField.Name.authorization, .proxyAuthorization, .cookie] { fields[name] = nil }
    }

    private static func origin(of url: URL) -> [String] {
        let scheme = url.scheme?.lowercased() ?? ""
        let defaultPort = ["http": 80, "https": 443][scheme]
        return [scheme, url.host()?.lowercased() ?? "", (url.port ?? defaultPort).map(String.init) ?? ""]
    }
}

extension HTTPRequest {
    /// A GET for an absolute URL, without its fragment.
    init(url: URL, fields: HTTPFields) {
        // From the text and not from URL's components: those decode and encode again, and may change the bytes.
        let text = url.absoluteString.prefix { $0 != "#" }
        var rest = text[...]
        var scheme: String?
        var authority: String?
        if let separator = rest.firstRange(of: "://") {
            scheme = String(rest[..<separator.lowerBound])
            rest = rest[separator.upperBound...]
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            authority = String(rest[..<end])
            rest = rest[end...]
        }
        let path = rest.hasPrefix("/") ? String(rest) : "/" + rest
        self.init(method: .get, scheme: scheme, authority: authority, path: path, headerFields: fields)
    }
}
