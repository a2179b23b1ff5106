internal import CacheLifecycle
internal import CacheLoader
internal import CacheStore
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCaching
internal import NIOCore

/// A server that calls a route only after the stored response has expired, and forwards paths without a route.
///
///     swift run --package-path Examples cachedserver /tmp/store https://example.com
///     curl -i http://127.0.0.1:8080/time/London       # the second time within ten seconds, the same time
///     curl -i http://127.0.0.1:8080/                  # from https://example.com, through the cache
@main
enum CachedServer {
    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let directory = arguments.first ?? "\(NSTemporaryDirectory())/cachedserver"
        let store = try ResponseStore(directory: URL(filePath: directory))
        var configuration = HTTPCache.Configuration()
        configuration.policy = .shared
        let cache = HTTPCache(store: store, transport: DefaultTransport(), configuration: configuration)

        let router = Router()
        if let url = arguments.dropFirst().first {
            router.add(middleware: UpstreamMiddleware(try Upstream(url, cache: cache)))
        }
        router.add(middleware: ResponseCacheMiddleware(store: store))
        router.get("time/:city") { request, context in
            let text = "\(try context.parameters.require("city")): \(Date())\n"
            return Response(
                status: .ok, headers: [.cacheControl: "max-age=10", .contentType: "text/plain"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 8080)),
            services: [CacheService(cache: cache, evictingAtStart: [.unusedFor(.seconds(30 * 86_400))])])
        try await application.runService()
    }
}
