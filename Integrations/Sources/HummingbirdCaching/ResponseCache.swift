public import CacheLoader
public import CacheStore
internal import HTTPCaching
internal import HTTPTypes
public import Hummingbird

/// Answers requests from a store, as the fields of the routes' responses allow (RFC 9111).
///
/// The rest of the router acts as the origin. It receives the requests that the store cannot answer:
///
/// ```swift
/// let router = Router()
/// router.add(middleware: ResponseCacheMiddleware(store: store))
/// router.get("time/:city") { request, context in
///     Response(status: .ok, headers: [.cacheControl: "max-age=10"], body: …)
/// }
/// ```
///
/// - Concurrent equal requests that miss call the route once, and share its response as it arrives. If the route fails
///   or its client leaves, each other request calls the route itself.
/// - The cache validates a stale response with the route, and answers conditional and range requests itself.
/// - An error that a route throws leaves the middleware unchanged, unless a stale response may answer (RFC 5861 §4). An
///   unsafe method calls its route, and its success invalidates the stored responses of the URL.
/// - `stale-while-revalidate` has no effect, because a route runs only while a request waits for it. A GET or HEAD with
///   content bypasses the cache.
/// - The URL of a stored response is the URL of the request with the scheme http. Hummingbird sets the `Date` of every
///   response to the current time; `Age` tells the age of a stored response.
///
/// Middleware before this one sees every request. Middleware after it sees only requests that call a route, so put
/// permission checks before it. Trailers reach only the client whose request called the route.
///
/// A hit runs on the calling thread, with one lookup.
public struct ResponseCacheMiddleware<Context: RequestContext>: RouterMiddleware {
    private let cache: HTTPCache

    /// Creates a middleware that keeps responses in `store`.
    ///
    /// - Parameters:
    ///   - store: The store of the responses.
    ///   - configuration: The configuration of the cache. By default a shared cache: it does not store responses with
    ///     `private`, nor most responses to requests with `Authorization`. Set a partition if the store also has
    ///     responses of other servers.
    public init(store: ResponseStore, configuration: HTTPCache.Configuration? = nil) {
        var shared = HTTPCache.Configuration()
        shared.policy = .shared
        cache = HTTPCache(store: store, transport: RouteTransport(), configuration: configuration ?? shared)
    }

    /// Answers a request from the store, or with the response of its route.
    ///
    /// - Throws: The errors of the route.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard let head = CachedHead(request) else { return try await next(request, context) }
        if let stored = try? cache.storedResponse(for: head.forCache) { return Response(stored) }
        // `next` must not escape this function. So the cache passes its requests back here, where the function can call
        // it.
        let exchange = RouteExchange()
        async let answer = exchange.answer(head.forCache, from: cache)
        var routeError: (any Error)?
        var hasRun = false
        while let call = await exchange.nextCall() {
            hasRun = true
            do {
                call.succeed(try await next(Request(head: head.forRoute(call.request), body: request.body), context))
            } catch {
                routeError = error
                call.fail(isCancelled: Task.isCancelled)
            }
        }
        switch await answer {
        case .success(let response) where response.source != .generated || isFinal(response, hasRun, routeError):
            // The trailers belong to the route that ran for this request.
            let hasTrailers = hasRun && response.source == .network
            return Response(response, trailers: hasTrailers ? exchange.trailers : nil)
        case .success, .failure:
            if let routeError { throw routeError }
            try Task.checkCancellation()
            // The route failed for another request, the client of that request left, or this URL cannot be cached.
            return try await next(request, context)
        }
    }

    /// Whether a generated response is the answer, because the request forbids calling the route or the route's own
    /// response is malformed.
    private func isFinal(_ response: CachedResponse, _ hasRun: Bool, _ routeError: (any Error)?) -> Bool {
        if case .notCached = response.failure { return true }
        return hasRun && routeError == nil
    }
}

/// The head of a request as presented to the cache.
private struct CachedHead {
    /// A malformed `max-stale` permits no stale response, not even with revalidation in the background. Unlike
    /// `min-fresh`, it still lets a stale response replace an error.
    private static let refusesStale = "max-stale=none"

    private let original: HTTPRequest
    let forCache: HTTPRequest

    /// Returns `nil` for a request that bypasses the cache.
    init?(_ request: Request) {
        let fields = request.headers
        if request.method == .get || request.method == .head {
            guard fields[.transferEncoding] == nil, fields[.contentLength] ?? "0" == "0" else { return nil }
        }
        original = request.head
        var head = request.head
        head.scheme = "http"
        head.authority = head.authority ?? "localhost"
        head.headerFields.append(HTTPField(name: .cacheControl, value: Self.refusesStale))
        forCache = head
    }

    /// Returns a cache's request in the form for the route: with the target and the directives of the client.
    func forRoute(_ sent: HTTPRequest) -> HTTPRequest {
        var head = original
        head.headerFields = sent.headerFields
        let added = head.headerFields.lastIndex { $0.name == .cacheControl && $0.value == Self.refusesStale }
        if let added { head.headerFields.remove(at: added) }
        return head
    }
}
