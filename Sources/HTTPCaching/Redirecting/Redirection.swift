/// Finds the URL to which a response redirects (RFC 9110 §15.4).
public enum Redirection {
    /// Returns the URL to which a response to a request for `url` redirects. Returns `nil` for other responses, and for
    /// a redirect without exactly one location.
    ///
    /// Resolves `Location` by RFC 3986 §5.2 and keeps its bytes: nothing is decoded or encoded twice. Percent-encodes
    /// only spaces, control characters and bytes beyond ASCII. The result inherits the fragment of `url` (§10.2.2).
    ///
    /// The result may have any scheme: check it before you send a request. Returns a `Location` that is no URI
    /// reference unchanged.
    ///
    /// - Parameters:
    ///   - response: The response. Its redirects are the statuses 301, 302, 303, 307 and 308.
    ///   - url: The absolute URL of the request.
    public static func target(of response: HTTPResponse, from url: String) -> String? {
        guard [301, 302, 303, 307, 308].contains(response.status.code) else { return nil }
        let locations = Set(response.headerFields.filledLines(.location).map(\.trimmedBytes))
        // The field is no list, so different lines are ambiguous.
        guard let location = locations.first, locations.count == 1 else { return nil }
        guard let reference = URIReference(location), let base = URIReference(url.utf8) else {
            return location.fieldText
        }
        var target = reference.resolved(against: base)
        target.fragment = target.fragment ?? base.fragment
        return target.text ?? location.fieldText
    }
}
