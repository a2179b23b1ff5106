internal import CacheLoader
internal import HTTPTypes

/// Turns what a client asks for into what the cache is asked for.
///
/// A target in origin form belongs to the configured origin, and `Host` goes there as the client sent it: an origin that
/// builds links from it builds the client's. Stored responses are found by the origin's URL all the same, so that two names
/// of the proxy share them. A target in absolute form names its own origin, and `Host` follows it (RFC 9112 §3.2.2).
struct Gateway: Sendable {
    let cache: HTTPCache
    /// Where targets in origin form lead; `nil` refuses them.
    let origin: OriginAddress?

    /// The request to put to the cache.
    ///
    /// - Throws: A refusal for a target that leads nowhere.
    func request(for head: RequestHead) throws(Refusal) -> HTTPRequest {
        // RFC 9112 §3.2: no form of a target has a fragment.
        guard !head.target.utf8.contains(UInt8(ascii: "#")) else { throw .malformed }
        var fields = head.fields.endToEnd
        if head.expectsContinue { fields.removeAll { $0.name == .expect } }
        try forwardOnceLess(head.method, &fields)
        if head.target.utf8.first == UInt8(ascii: "/") {
            guard let origin else { throw .malformed }
            return HTTPRequest(
                method: head.method, scheme: origin.scheme, authority: origin.authority, path: head.target,
                headerFields: fields)
        }
        let (authority, path) = try Self.absoluteForm(head)
        for index in fields.indices where fields[index].name.canonicalName == "host" {
            fields[index].value = authority
        }
        return HTTPRequest(
            method: head.method, scheme: "http", authority: authority, path: path, headerFields: fields)
    }

    private static func absoluteForm(_ head: RequestHead) throws(Refusal) -> (authority: String, path: String) {
        // Tunnels, targets without a path, and other schemes are beyond a cache for http.
        guard head.method != .connect, head.target != "*" else { throw Refusal(.notImplemented) }
        guard let colon = head.target.firstRange(of: "://") else { throw .malformed }
        guard head.target[..<colon.lowerBound].lowercased() == "http" else { throw Refusal(.notImplemented) }
        let rest = head.target[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.isEmpty, !authority.contains("@") else { throw .malformed }
        let path = rest[end...]
        return (String(authority), path.first == "/" ? String(path) : "/" + path)
    }

    /// RFC 9110 §7.6.2: OPTIONS and TRACE may say how many proxies they pass; whom the count ends at answers.
    private func forwardOnceLess(_ method: HTTPRequest.Method, _ fields: inout HTTPFields) throws(Refusal) {
        guard method == .options || method == .trace,
            let index = fields.firstIndex(where: { $0.name == .maxForwards }), let count = Int(fields[index].value)
        else { return }
        guard count > 0 else { throw Refusal(method == .options ? .ok : .notImplemented) }
        fields[index].value = "\(count - 1)"
    }

    /// The answer that the store has; `nil` if the origin must be asked. Waits for nobody.
    func storedResponse(for request: HTTPRequest) -> CachedResponse? {
        // What is wrong with a request is found again by whoever asks in earnest.
        try? cache.storedResponse(for: request)
    }

    /// The answer to a request.
    func response(
        for request: HTTPRequest, content: RequestContentStream?
    ) async throws(LoadError) -> CachedResponse {
        try await cache.response(
            for: request,
            content: content.map { content in
                RequestContent(length: content.length) { () async throws(TransportError) in try await content.next() }
            })
    }
}
