public import CacheLoader
internal import Foundation
internal import HTTPTypes
public import Hummingbird
internal import NIOCore
internal import NIOFoundationCompat

/// Forwards requests to another server through a cache.
///
/// ```swift
/// let upstream = try Upstream("https://api.example.com/v2", cache: cache)
/// router.get("users/**") { request, _ in try await upstream.response(to: request) }
/// router.add(middleware: UpstreamMiddleware(upstream))       // all paths without a route
/// ```
///
/// Equal requests share one exchange and its response, as far as RFC 9111 allows. Give the cache the policy `.shared`,
/// because it answers several users. For a route with its own URL, call `cache.response(for:)` and pass the result on
/// with `Response(response)`.
public struct Upstream: Sendable {
    private let cache: HTTPCache
    private let scheme: String
    private let authority: String
    private let basePath: String

    /// Creates an upstream.
    ///
    /// - Parameters:
    ///   - url: The absolute URL. Its path precedes the path of each request.
    ///   - cache: The cache with the transport to the upstream.
    /// - Throws: `LoadError.invalidURL(_:reason:)`.
    public init(_ url: String, cache: HTTPCache) throws(LoadError) {
        guard let parts = URLComponents(string: url), let scheme = parts.scheme?.lowercased(),
            ["http", "https"].contains(scheme), let host = parts.percentEncodedHost, !host.isEmpty
        else { throw .invalidURL(url, reason: "it is not the URL of a server") }
        self.cache = cache
        self.scheme = scheme
        authority = parts.port.map { "\(host):\($0)" } ?? host
        let path = parts.percentEncodedPath
        basePath = path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Forwards a request with its method, path, query, fields and content. Returns once the head of the response has
    /// arrived.
    ///
    /// Bodies stream in both directions. Drops the fields of a single connection, and adds `Via` (RFC 9110 §7.6).
    /// `Host` is the upstream's own name. If the upstream is unreachable and no stored response may answer, the
    /// response is a 502 or 504. A hit runs on the calling thread, with one lookup.
    ///
    /// - Throws: `HTTPError` with the status 400 for a target that is no path, and `CancellationError`.
    public func response(to request: Request) async throws -> Response {
        guard let path = request.head.path, path.hasPrefix("/") else { throw HTTPError(.badRequest) }
        var head = HTTPRequest(
            method: request.method, scheme: scheme, authority: authority, path: basePath + path,
            headerFields: request.headers.endToEnd)
        head.headerFields.append(HTTPField(name: .via, value: "1.1 hummingbird"))
        let announced = request.headers[.contentLength].flatMap { Int64($0) }
        let hasContent = request.headers[.transferEncoding] != nil || (announced ?? 0) > 0
        head.headerFields[.contentLength] = nil
        do throws(LoadError) {
            if !hasContent, let stored = try cache.storedResponse(for: head) { return Response(stored) }
            let content = hasContent ? RequestContent(length: announced, request.body.map { Data(buffer: $0) }) : nil
            return Response(try await cache.response(for: head, content: content))
        } catch .cancelled {
            throw CancellationError()
        } catch {
            throw HTTPError(.badRequest)
        }
    }
}

/// Forwards the requests that match no route.
///
/// ```swift
/// router.add(middleware: UpstreamMiddleware(try Upstream("https://example.com", cache: cache)))
/// ```
///
/// A 404 from a route is returned unchanged. Middleware before this one also sees the forwarded requests.
public struct UpstreamMiddleware<Context: RequestContext>: RouterMiddleware {
    private let upstream: Upstream

    /// Creates a middleware that forwards to `upstream`.
    public init(_ upstream: Upstream) {
        self.upstream = upstream
    }

    /// Calls the route of a request, or forwards a request without a route.
    ///
    /// - Throws: The errors of the route and of ``Upstream/response(to:)``.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        // A router sets the endpoint path before it calls the middleware, and sets `NotFound` without a route.
        let hasRoute = context.endpointPath != nil
        do {
            return try await next(request, context)
        } catch let error as any HTTPResponseError
            where error.status == .notFound && !hasRoute && context.endpointPath ?? "NotFound" == "NotFound"
        {
            return try await upstream.response(to: request)
        }
    }
}
