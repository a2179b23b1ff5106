internal import CacheStore

/// Determines the target of a redirect, and removes the fields that must not reach it.
package enum Redirect {
    /// Returns the target of a redirect (RFC 9110 §15.4), or `nil` for any other response and without `Location`. A key
    /// has no fragment, so the target inherits none.
    static func target(of response: HTTPResponse, from key: CacheKey) throws(LoadError) -> CacheKey? {
        guard let target = Redirection.target(of: response, from: key.text) else { return nil }
        return try .loading(target, partition: key.partition)
    }

    /// 303 changes all methods but HEAD to GET; 301 and 302 change POST to GET (RFC 9110 §15.4).
    package static func method(after method: HTTPRequest.Method, status: HTTPResponse.Status) -> HTTPRequest.Method {
        switch status.code {
        case 303 where method != .head: .get
        case 301, 302: method == .post ? .get : method
        default: method
        }
    }

    /// Removes the fields that describe request content, after a change to a method without content (RFC 9110 §15.4).
    package static func removeContentFields(from fields: inout HTTPFields) {
        for name in contentFields { fields[name] = nil }
    }

    private static let contentFields: [HTTPField.Name] = [
        .contentEncoding, .contentLanguage, .contentLocation, .contentType, .contentLength, .lastModified,
        HTTPField.Name("Digest"), HTTPField.Name("Content-Digest"), HTTPField.Name("Repr-Digest"),
        HTTPField.Name("Unencoded-Digest"),
    ].compactMap { $0 }

    /// Whether two URLs have the same scheme, host and port.
    static func isSameOrigin(_ first: CacheKey, _ second: CacheKey) -> Bool {
        first.origin == second.origin
    }

    /// Removes the credentials and the name of one origin before a request to another.
    package static func removeCredentials(from fields: inout HTTPFields) {
        fields.removeAll {
            ["authorization", "cookie", "host", "proxy-authorization"].contains($0.name.canonicalName)
        }
    }
}
