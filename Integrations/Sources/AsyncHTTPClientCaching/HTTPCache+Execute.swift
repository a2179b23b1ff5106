public import AsyncHTTPClient
public import CacheLoader
internal import HTTPTypes
public import NIOCore
internal import NIOFoundationCompat
internal import NIOHTTP1

/// The methods of `HTTPClient` for Swift concurrency, with the same names, types and meanings.
///
/// To use the cache, a program on AsyncHTTPClient changes the receiver:
///
/// ```swift
/// let cache = HTTPCache(store: store, transport: AsyncHTTPClientTransport())
/// let response = try await client.execute(request, timeout: .seconds(30))
/// let response = try await cache.execute(request, timeout: .seconds(30))
/// ```
///
/// Differences from `HTTPClient`:
///
/// - A response may come from the store, by RFC 9111. `Cache-Status` and `Age` tell. Its version is always HTTP/1.1.
/// - A failed exchange throws a `LoadError`. A timeout throws `HTTPClientError.deadlineExceeded`, and a cancellation of
///   the calling task throws `CancellationError`.
/// - A response has neither trailers nor the field `Trailer`, because a store keeps no trailers.
/// - The TLS configuration and the local address belong to the transport's client. A request with either fails, because
///   its responses must not answer other requests. So does a request with a `Host` other than its URL's.
/// - There is no parameter `logger`. The logger of the cache is `HTTPCache.Configuration.logger`.
extension HTTPCache {
    /// Executes a request through the cache, and follows redirects. Each redirect is cached under its own URL.
    ///
    /// Returns once the head of the last response has arrived. Bodies stream in both directions, at the pace of their
    /// readers. A body in memory is sent again where HTTP requires it. A stream is sent once. May be called from any
    /// task. A hit costs one lookup on the calling thread, and ignores the deadline.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - deadline: The time by which the head of the last response must have arrived.
    ///   - maxRedirects: The maximum number of redirects, 5 by default, as for `HTTPClient`. The response is the
    ///     redirect itself with 0, and for a redirect that requires sending a stream again.
    /// - Throws: `LoadError` if the request cannot be sent, or if the origin fails and no stored response may answer.
    ///   `HTTPClientError.deadlineExceeded`, `HTTPClientError.redirectLimitReached`,
    ///   `HTTPClientError.redirectCycleDetected`, and `CancellationError`. Reading the body throws `LoadError`.
    public func execute(
        _ request: HTTPClientRequest, deadline: NIODeadline, maxRedirects: Int = 5
    ) async throws -> HTTPClientResponse {
        var redirects = Redirects(from: request.url, limit: maxRedirects)
        var history: [HTTPClientRequestResponse] = []
        var request = request
        while true {
            let message = try await RequestMessage(request)
            let response = try await response(for: message, deadline)
            let head = HTTPResponseHead(response)
            history.append(HTTPClientRequestResponse(request: request, responseHead: head))
            let redirect = HTTPResponse(status: response.status, headerFields: response.headerFields)
            if let next = try redirects.request(after: redirect, to: request, message) {
                request = next
                continue
            }
            return HTTPClientResponse(
                version: head.version, status: head.status, headers: head.headers,
                body: .stream(response.body.map { ByteBuffer(data: $0) }), history: history)
        }
    }

    /// Executes a request like ``execute(_:deadline:maxRedirects:)``, with a deadline after `timeout`.
    public func execute(
        _ request: HTTPClientRequest, timeout: TimeAmount, maxRedirects: Int = 5
    ) async throws -> HTTPClientResponse {
        try await execute(request, deadline: .now() + timeout, maxRedirects: maxRedirects)
    }

    private func response(for message: RequestMessage, _ deadline: NIODeadline) async throws -> CachedResponse {
        do {
            // A hit needs no timer.
            if message.content == nil, let stored = try storedResponse(for: message.head) {
                return try stored.unlessGenerated()
            }
            return try await deadline.limiting(with: configuration.sleep) {
                try await self.response(for: message.head, content: message.content).unlessGenerated()
            }
        } catch LoadError.cancelled {
            throw CancellationError()
        }
    }
}

extension CachedResponse {
    /// Throws the failure for which the cache generated this response.
    fileprivate func unlessGenerated() throws -> CachedResponse {
        if source == .generated, let failure { throw failure }
        return self
    }
}

extension NIODeadline {
    /// Returns the result of `operation`. Cancels the operation at the deadline.
    ///
    /// - Throws: `HTTPClientError.deadlineExceeded`, and the errors of the operation.
    fileprivate func limiting<Value: Sendable>(
        with sleep: @escaping @Sendable (Duration) async throws -> Void,
        _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        if self == .distantFuture { return try await operation() }
        let rest = self - .now()
        guard rest > .zero else { throw HTTPClientError.deadlineExceeded }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await sleep(.nanoseconds(rest.nanoseconds))
                throw HTTPClientError.deadlineExceeded
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}

extension HTTPResponseHead {
    /// Keeps every field line except `Trailer`, because no trailers follow.
    fileprivate init(_ response: CachedResponse) {
        let fields = response.headerFields.filter { $0.name != .trailer }
        self.init(
            version: .http1_1,
            status: HTTPResponseStatus(
                statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase),
            headers: HTTPHeaders(fields.map { ($0.name.rawName, $0.value) }))
    }
}
