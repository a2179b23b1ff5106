/// Finds the URLs whose stored responses a reply invalidates (RFC 9111 §4.4).
public enum Invalidation {
    /// Returns the absolute URLs whose stored responses, in all variants, `reply` invalidates. Lists each URL once, the
    /// target first.
    ///
    /// §4.4: "A cache MUST invalidate the target URI … when it receives a non-error status code in response to an
    /// unsafe request method (including methods whose safety is unknown)". A cache "MAY invalidate other URIs": those
    /// in `Location` and `Content-Location`, but "MUST NOT … if the origin … differs".
    ///
    /// - Parameters:
    ///   - request: The request. A safe method invalidates nothing.
    ///   - url: The absolute URL of the target, returned unchanged. The other URLs have no dot segments and no
    ///     fragment, and a scheme in lower case.
    ///   - reply: The reply to the request. An error invalidates nothing.
    public static func targets(of request: HTTPRequest, url: String, reply: HTTPResponse) -> [String] {
        // "one with a 2xx (Successful) or 3xx (Redirection) status code"
        guard !request.method.isSafe, (200..<400).contains(reply.status.code) else { return [] }
        var targets = [url]
        guard let base = URIReference(url.utf8), let origin = base.origin else { return targets }
        for name in [HTTPField.Name.location, .contentLocation] {
            // Neither field is a list, so several lines are ambiguous.
            guard let field = reply.headerFields.onlyLine(name),
                let reference = field.withUnsafeBytesOfValue({ URIReference($0.trimmed) })
            else { continue }
            var target = reference.resolved(against: base)
            target.fragment = nil
            // §4.4: "This helps prevent denial-of-service attacks." One origin must not remove the responses of
            // another.
            guard target.origin == origin, let text = target.text, !targets.contains(text) else { continue }
            targets.append(text)
        }
        return targets
    }
}
