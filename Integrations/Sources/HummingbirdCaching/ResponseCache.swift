internal import AsyncAlgorithms
internal import CacheLoader
internal import CacheStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOFoundationCompat

/// A server that calls a route only if the stored response has expired.
///
///     swift run --package-path Examples cachedserver /tmp/store
///     curl -i http://127.0.0.1:8080/time/London       # the second time within ten seconds, the same time
@main
enum CachedServer {
    static func main() async throws {
        let directory = CommandLine.arguments.dropFirst().first ?? "\(NSTemporaryDirectory())/cachedserver"
        let store = try ResponseStore(directory: URL(filePath: directory))
        defer { store.close() }
        let router = Router()
        router.add(middleware: ResponseCache(store: store))
        router.get("time/:city") { request, context in
            let text = "\(try context.parameters.require("city")): \(Date())\n"
            return Response(
                status: .ok, headers: [.cacheControl: "max-age=10", .contentType: "text/plain"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 8080)))
        try await application.runService()
    }
}

/// Answers requests from a store, as the fields of the routes' responses allow (RFC 9111).
///
/// The rest of the router is the origin and receives the requests that the store cannot answer. Errors of the router
/// bypass the cache.
struct ResponseCache<Context: RequestContext>: RouterMiddleware {
    let store: ResponseStore

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var head = request.head
        head.scheme = "http"
        head.authority = head.authority ?? "localhost"
        // `next` must not escape this function, so the cache sends its requests here, where the function can call
        // `next`.
        let router = RouterTransport()
        async let cached = router.response(for: head, in: store)
        var failure: (any Error)?
        for await head in router.requests {
            do {
                let response = try await next(Request(head: head, body: request.body), context)
                await router.responses.send(response)
            } catch {
                failure = error
                router.responses.finish()
            }
        }
        let response: CachedResponse
        do {
            response = try await cached
        } catch {
            throw failure ?? error
        }
        if let failure { throw failure }
        return Response(
            status: response.status, headers: response.headerFields,
            body: ResponseBody { [body = response.body] writer in
                for try await chunk in body { try await writer.write(ByteBuffer(data: chunk)) }
                try await writer.finish(nil)
            })
    }
}

/// Passes the cache's requests to the middleware, and the router's responses back.
private struct RouterTransport: HTTPTransport {
    let requests = AsyncChannel<HTTPRequest>()
    let responses = AsyncChannel<Response>()

    /// Requests a response from a shared cache. Ends ``requests`` once the cache has answered.
    func response(for head: HTTPRequest, in store: ResponseStore) async throws(LoadError) -> CachedResponse {
        defer { requests.finish() }
        var configuration = HTTPCache.Configuration()
        configuration.policy = .shared
        return try await HTTPCache(store: store, transport: self, configuration: configuration).response(for: head)
    }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Sends the head. The middleware passes the content of the request to the router itself.
    func send(_ request: HTTPRequest, content: RequestContent?) async throws(TransportError) -> TransportResponse {
        await requests.send(request)
        var iterator = responses.makeAsyncIterator()
        guard let response = await iterator.next() else { throw TransportError(.other, message: "the route failed") }
        let body = RouteBody(response.body)
        return TransportResponse(
            head: response.head,
            body: TransportBody { () async throws(TransportError) in try await body.next() })
    }
}

/// The body of a route's response as a sequence: the route waits with each chunk for the reader.
private final class RouteBody: Sendable {
    private let chunks = AsyncThrowingChannel<ByteBuffer, any Error>()
    private let writing: Task<Void, Never>

    init(_ body: ResponseBody) {
        writing = Task { [chunks] in
            do {
                try await body.write(Writer(chunks: chunks))
                chunks.finish()
            } catch {
                chunks.fail(error)
            }
        }
    }

    deinit {
        writing.cancel()
    }

    func next() async throws(TransportError) -> Data? {
        do {
            var iterator = chunks.makeAsyncIterator()
            while let chunk = try await iterator.next() {
                // Skip empty chunks: a transport body contains none.
                if chunk.readableBytes > 0 { return Data(buffer: chunk) }
            }
            return nil
        } catch {
            throw TransportError(.truncated, message: "\(error)")
        }
    }

    private struct Writer: ResponseBodyWriter {
        let chunks: AsyncThrowingChannel<ByteBuffer, any Error>

        func write(_ buffer: ByteBuffer) async throws {
            await chunks.send(buffer)
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }
}
