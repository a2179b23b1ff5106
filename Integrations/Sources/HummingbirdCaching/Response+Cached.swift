public import CacheLoader
internal import HTTPTypes
public import Hummingbird
internal import NIOCore
internal import NIOFoundationCompat

extension Response {
    /// Creates a server's response from a cached response, for example from an upstream call of a route.
    ///
    /// ```swift
    /// router.get("feed") { _, _ in Response(try await cache.response(for: feedRequest)) }
    /// ```
    ///
    /// The body streams at the pace of the client. A truncated body truncates the response. Drops the fields of a
    /// single connection (RFC 9110 §7.6.1), and `Trailer`, because a cache keeps no trailers.
    public init(_ response: CachedResponse) {
        self.init(response, trailers: nil)
    }

    init(_ response: CachedResponse, trailers: (@Sendable () -> HTTPFields?)?) {
        var fields = response.headerFields.endToEnd
        if trailers == nil { fields[.trailer] = nil }
        let body = Hummingbird.ResponseBody(contentLength: response.body.byteCount.flatMap { Int(exactly: $0) }) {
            [body = response.body] writer in
            for try await chunk in body { try await writer.write(ByteBuffer(data: chunk)) }
            try await writer.finish(trailers?())
        }
        self.init(status: response.status, headers: fields, body: body)
        // A response without content, such as one to HEAD, keeps its stated length and gets no other.
        if fields[.contentLength] == nil, body.contentLength == 0 { headers[.contentLength] = nil }
    }
}

extension HTTPFields {
    /// The fields without those of a single connection (RFC 9110 §7.6.1), in the same order.
    var endToEnd: HTTPFields {
        let listed = self[values: .connection].flatMap { $0.split(separator: ",") }.map {
            $0.trimmingPrefix { $0 == " " || $0 == "\t" }.lowercased().split(whereSeparator: \.isWhitespace).joined()
        }
        // `Connection` must not name these fields, because their absence would change the meaning of a message.
        let dropped = Self.connectionFields.union(
            Set(listed).subtracting(["age", "cache-control", "content-length", "date", "expires", "vary"]))
        var fields = HTTPFields()
        for field in self where !dropped.contains(field.name.canonicalName) { fields.append(field) }
        return fields
    }

    private static let connectionFields: Set<String> = [
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "transfer-encoding", "upgrade",
    ]
}
