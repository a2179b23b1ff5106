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
    let engine = try PlainEngine(
        "https://tier.example/feeds", transport: DefaultTransport(configuration: connections))
    let tier = SharedTier(engine: engine, keys: keys)
    let transport = TieredTransport(tier: tier, origin: DefaultTransport())
    return (ResourceLoader(store: store, transport: transport), tier)
}

func makeBucket() throws -> any TierEngine {
    var connections = DefaultTransport.Configuration()
    connections.connectionsPerHost = 32
    let transport = DefaultTransport(configuration: connections)
    return try S3Engine(
        "https://s3.eu-west-1.amazonaws.com/bucket/feeds", region: "eu-west-1",
        credentials: S3Credentials.standard(
            environment: ProcessInfo.processInfo.environment, transport: transport),
        transport: transport)
}

func removeHost(_ tier: SharedTier) async throws {
    try await tier.removeAll(in: .host("example.com"))
    await tier.waitForWrites()
}

let secrets = (names: Data((0..<32).map { _ in .random(in: 0...255) }), key: Data(repeating: 7, count: 32))
_ = try makeLoader(in: FileManager.default.temporaryDirectory, names: secrets.names, secret: secrets.key)
_ = try makeBucket()
