// A cache on an HTTP server that many machines share: the samples of the article A shared tier.

import CacheLoader
import CacheStore
import CacheTier
import Foundation

func makeLoader(in caches: URL, names: Data, secret: Data) throws -> (ResourceLoader, SharedTier) {
    let store = try ResponseStore(directory: caches.appending(path: "feeds"))
    let keys = try TierKeys(names: names, writing: .hmac(id: "2026-11", secret: secret))
    var connections = DefaultTransport.Configuration()
    connections.connectionsPerHost = 32
    let engine = try TierEngine.plain(
        "https://tier.example/feeds", transport: DefaultTransport(configuration: connections))
    let tier = SharedTier(engine: engine, keys: keys)
    let transport = TieredTransport(tier: tier, origin: DefaultTransport())
    return (ResourceLoader(store: store, transport: transport), tier)
}

func makeBucket() throws -> TierEngine {
    var connections = DefaultTransport.Configuration()
    connections.connectionsPerHost = 32
    return try .s3(
        "https://s3.eu-west-1.amazonaws.com/bucket/feeds", region: "eu-west-1",
        credentials: {
            guard let found = S3Credentials(environment: ProcessInfo.processInfo.environment) else {
                throw TierError.engine("no credentials in the environment")
            }
            return found
        }, transport: DefaultTransport(configuration: connections))
}

func removeHost(_ tier: SharedTier) async throws {
    try await tier.removeAll(in: .host("example.com"))
    await tier.waitForWrites()
}

let secrets = (names: Data((0..<32).map { _ in .random(in: 0...255) }), key: Data(repeating: 7, count: 32))
_ = try makeLoader(in: FileManager.default.temporaryDirectory, names: secrets.names, secret: secrets.key)
_ = try makeBucket()
