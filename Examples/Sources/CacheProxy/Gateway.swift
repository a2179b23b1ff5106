internal import CacheLoader
internal import HTTPTypes

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Converts requests of clients to requests for the cache.
///
/// For a target in origin form, `Host` states the authority (RFC 9110 §7.1). An origin may answer two names of a
/// reverse proxy differently, so they share no stored responses. A target in absolute form contains the authority,
/// which replaces `Host` (RFC 9112 §3.2.2).
struct Gateway: Sendable {
    let cache: HTTPCache
    /// The origin of a reverse proxy, which receives all requests. `nil` for a forward proxy, which refuses targets in
    /// origin form.
    let origin: OriginAddress?
    /// Whether the origin gets its own name as `Host`, so that all names of a reverse proxy share stored responses.
    let replacesHost: Bool
    /// The only authorities that clients may request, in lower case. Empty for all.
    let hosts: Set<String>

    /// Returns the request for the cache.
    ///
    /// - Throws: A refusal for a target without a possible origin.
    func request(for head: RequestHead) throws(Refusal) -> HTTPRequest {
        // RFC 9112 §3.2: a target has no fragment.
        guard !head.target.utf8.contains(UInt8(ascii: "#")) else { throw .malformed }
        var fields = head.fields.endToEnd
        if head.expectsContinue { fields.removeAll { $0.name == .expect } }
        try forwardOnceLess(head.method, &fields)
        let hostIndex = fields.firstIndex { $0.name.canonicalName == "host" }
        let (authority, path): (String, String)
        if head.target.utf8.first == UInt8(ascii: "/") {
            guard let origin else { throw .malformed }
            (authority, path) = (hostIndex.map { fields[$0].value } ?? origin.authority, head.target)
        } else {
            (authority, path) = try Self.absoluteForm(head)
            if let hostIndex { fields[hostIndex].value = authority }
        }
        // RFC 9110 §15.5.20
        guard hosts.isEmpty || hosts.contains(authority.lowercased()) else { throw Refusal(.misdirectedRequest) }
        if replacesHost, let origin {
            fields.removeAll { $0.name.canonicalName == "host" }
            return HTTPRequest(
                method: head.method, scheme: origin.scheme, authority: origin.authority, path: path,
                headerFields: fields)
        }
        return HTTPRequest(
            method: head.method, scheme: origin?.scheme ?? "http", authority: authority, path: path,
            headerFields: fields)
    }

    private static func absoluteForm(_ head: RequestHead) throws(Refusal) -> (authority: String, path: String) {
        // This proxy supports no tunnels, no targets without a path, and only the scheme http.
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

    /// RFC 9110 §7.6.2: `Max-Forwards` limits the number of proxies on the path of OPTIONS and TRACE. The proxy that
    /// receives 0 answers.
    private func forwardOnceLess(_ method: HTTPRequest.Method, _ fields: inout HTTPFields) throws(Refusal) {
        guard method == .options || method == .trace,
            let index = fields.firstIndex(where: { $0.name == .maxForwards }), let count = Int(fields[index].value)
        else { return }
        guard count > 0 else { throw Refusal(method == .options ? .ok : .notImplemented) }
        fields[index].value = "\(count - 1)"
    }

    /// Returns the response of the store, or `nil` when the origin is needed. Never waits.
    func storedResponse(for request: HTTPRequest) -> CachedResponse? {
        // The content of a QUERY selects the stored response, and may not have arrived.
        guard request.method != .query else { return nil }
        // Ignores errors: ``response(for:content:onInterimResponse:)`` reports them.
        return try? cache.storedResponse(for: request)
    }

    /// Returns the response to a request.
    ///
    /// - Parameter onInterimResponse: Receives the interim responses of the origin, if set.
    func response(
        for request: HTTPRequest, content: RequestContentStream?,
        onInterimResponse: (@Sendable (HTTPResponse) -> Void)?
    ) async throws(LoadError) -> CachedResponse {
        guard let content else { return try await cache.response(for: request, onInterimResponse: onInterimResponse) }
        return try await cache.response(
            for: request, content: try await Self.content(content, of: request), onInterimResponse: onInterimResponse)
    }

    /// Returns the content of a short QUERY as data, which the cache needs to find a stored response. Returns other
    /// content as a stream.
    private static func content(
        _ stream: RequestContentStream, of request: HTTPRequest
    ) async throws(LoadError) -> RequestContent {
        guard request.method == .query, let length = stream.length, length <= QueryKey.maxContentByteCount else {
            return RequestContent(length: stream.length) { () async throws(TransportError) in try await stream.next() }
        }
        var data = Data()
        do throws(TransportError) {
            while let chunk = try await stream.next() { data.append(chunk) }
        } catch {
            // The client has disconnected.
            throw .cancelled
        }
        return RequestContent(data)
    }
}
