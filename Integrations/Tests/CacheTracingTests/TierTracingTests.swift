import AsyncHTTPClientCaching
import CacheLoader
import CacheStore
import CacheStoreTesting
import CacheTier
import CacheTracing
import Foundation
import HTTPTypes
import InMemoryTracing
import LoopbackOrigin
import Synchronization
import Testing
import Tracing

@Suite("CacheTracer: spans of lookups in a shared tier", .timeLimit(.minutes(5)))
struct TierTracingTests {
    @Test("a miss and a hit of the tier are children of the load, with the result and the name of the tier")
    func results() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let engine = try await LoopbackOrigin(reply: Objects().reply)
        let tracer = InMemoryTracer()
        let tier = try tier(on: engine, tracer)
        // The second store is empty, so the tier is asked again.
        for name in ["miss", "hit"] {
            try await load(name, "/a?sig=secret", origin, tier, tracer)
            await tier.waitForWrites()
        }
        #expect(origin.requestCount == 1)
        for name in ["miss", "hit"] {
            let load = try #require(tracer.finishedSpans.first { $0.operationName == name })
            let children = tracer.finishedSpans.filter { $0.parentSpanID == load.spanID }
            let lookup = try #require(children.first { $0.operationName == "upstream lookup" })
            #expect(lookup.text("cachestore.upstream.result") == name)
            #expect(lookup.text("cachestore.upstream.name") == "edge")
            #expect(lookup.text("url.full") == origin.url("/a?sig=REDACTED"))
            #expect(lookup.text("http.request.method") == "GET")
            #expect(lookup.kind == .internal)
            #expect(children.contains { $0.operationName == "GET" } == (name == "miss"))
        }
        #expect(tracer.activeSpans.isEmpty)
    }

    @Test("a failing engine produces spans with error, then with skipped once the circuit breaker is open")
    func failures() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let engine = try await LoopbackOrigin { _ in .status(.internalServerError) }
        let tracer = InMemoryTracer()
        let tier = try tier(on: engine, tracer)
        var results: [String] = []
        // On a busy system the breaker's pause may have passed, and a probe produces another error.
        for number in 0..<100 where results.last != "skipped" {
            try await load("load", "/\(number)", origin, tier, tracer)
            results = tracer.finishedSpans.filter { $0.operationName == "upstream lookup" }
                .compactMap { $0.text("cachestore.upstream.result") }
        }
        #expect(results.count >= 6)
        #expect(results.last == "skipped")
        #expect(results.dropLast().allSatisfy { $0 == "error" })
    }

    private func tier(on engine: LoopbackOrigin, _ tracer: InMemoryTracer) throws -> SharedTier {
        var configuration = SharedTier.Configuration()
        configuration.name = "edge"
        configuration.deadline = .seconds(120)
        configuration.observer = CacheTracer(tracer)
        return SharedTier(
            engine: try PlainEngine(engine.url("/tier"), transport: AsyncHTTPClientTransport()),
            keys: try TierKeys(secret: Data(repeating: 1, count: 32)), configuration: configuration)
    }

    /// Loads a path through a new store, in a span.
    private func load(
        _ span: String, _ path: String, _ origin: LoopbackOrigin, _ tier: SharedTier, _ tracer: InMemoryTracer
    ) async throws {
        let transport = TieredTransport(
            tier: tier, origin: TracingTransport(AsyncHTTPClientTransport(), tracer: tracer))
        let cache = HTTPCache(store: try .temporary(), transport: transport)
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: path)
        try await tracer.withSpan(span) { _ in
            _ = try await cache.response(for: request).data()
        }
    }
}

/// The objects of an engine, in memory.
private final class Objects: Sendable {
    /// Guards the objects.
    private let objects = Mutex([String: [UInt8]]())

    @Sendable func reply(to request: OriginRequest) async -> OriginReply {
        objects.withLock { objects in
            guard request.method != .put else {
                objects[request.path] = request.body
                return .status(.created)
            }
            guard let bytes = objects[request.path] else { return .status(.notFound) }
            return OriginReply(
                fields: [.lastModified: OriginDate.text(secondsSince1970: Int(Date().timeIntervalSince1970))],
                body: bytes)
        }
    }
}
