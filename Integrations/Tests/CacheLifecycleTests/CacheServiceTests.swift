import AsyncHTTPClientCaching
import CacheLifecycle
import CacheLoader
import CacheStore
import CacheStoreTesting
import HTTPTypes
import Logging
import LoopbackOrigin
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

@Suite("CacheService: a store as a service", .timeLimit(.minutes(5)))
struct CacheServiceTests {
    /// A gate that opens once, for any number of waiters.
    private struct Gate: Sendable {
        private let stream: AsyncStream<Never>
        private let continuation: AsyncStream<Never>.Continuation

        init() { (stream, continuation) = AsyncStream.makeStream() }
        func open() { continuation.finish() }
        func wait() async { for await _ in stream {} }
    }

    private func isClosed(_ store: ResponseStore) -> Bool {
        do throws(StoreError) {
            _ = try store.statistics()
            return false
        } catch {
            if case .closed = error { return true }
            return false
        }
    }

    @Test("evicts at its start, then runs until the graceful shutdown closes the store")
    func life() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        let store = try ResponseStore.temporary()
        let loader = ResourceLoader(store: store, transport: AsyncHTTPClientTransport())
        for path in ["/a", "/b", "/c"] { _ = try await loader.load(origin.url(path)) }
        let service = CacheService(loader: loader, evictingAtStart: [.maxEntries(1)])
        try await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            while try store.statistics().entries != 1 { await Task.yield() }
            _ = try await loader.load(origin.url("/d"))
            #expect(try store.statistics().entries == 2)
            trigger.triggerGracefulShutdown()
            await run
            #expect(isClosed(store))
        }
        // The loader continues without the store.
        #expect(try await loader.load(origin.url("/d")).source == .network)
    }

    @Test("a failed eviction ends neither the service nor its program")
    func failedEviction() async throws {
        let store = try ResponseStore.temporary()
        store.close()
        let service = CacheService(store: store, evictingAtStart: [.maxEntries(1)])
        await testGracefulShutdown { trigger in
            trigger.triggerGracefulShutdown()
            await service.run()
        }
    }

    @Test("a graceful shutdown cancels the loads")
    func cancelledLoads() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let origin = try await LoopbackOrigin { _ in
            arrived.open()
            await gate.wait()
            return .ok()
        }
        let loader = ResourceLoader(store: try .temporary(), transport: AsyncHTTPClientTransport())
        let service = CacheService(loader: loader)
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            let load = Task { try await loader.load(origin.url("/a")) }
            await arrived.wait()
            trigger.triggerGracefulShutdown()
            await run
            await #expect(throws: LoadError.cancelled) { _ = try await load.value }
        }
        gate.open()
    }

    @Test("a graceful shutdown waits until an arriving body is stored")
    func arrivingBody() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok("onetwo".utf8, cacheControl: "max-age=60").delivered(
                .paced(bytes: 3) { index in
                    if index == 1 {
                        arrived.open()
                        await gate.wait()
                    }
                })
        }
        let directory = try TemporaryDirectory()
        let store = try ResponseStore(directory: directory.url)
        let cache = HTTPCache(store: store, transport: AsyncHTTPClientTransport())
        let service = CacheService(cache: cache)
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/a")
        try await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            let response = try await cache.response(for: request)
            let reading = Task { try await response.data() }
            await arrived.wait()
            trigger.triggerGracefulShutdown()
            for _ in 0..<100 { await Task.yield() }
            #expect(!isClosed(store))
            gate.open()
            #expect(try await reading.value.count == 6)
            await run
        }
        let reopened = try ResponseStore(directory: directory.url)
        #expect(try reopened.statistics().entries == 1)
    }

    @Test("a cancellation closes the store without waiting for bodies")
    func cancellation() async throws {
        let arrived = Gate()
        let origin = try await LoopbackOrigin { _ in
            arrived.open()
            return OriginReply.ok("onetwo".utf8, cacheControl: "max-age=60").delivered(.stalling(afterBytes: 3))
        }
        let cache = HTTPCache(store: try .temporary(), transport: AsyncHTTPClientTransport())
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/a")
        let response = try await cache.response(for: request)
        let run = Task { await CacheService(cache: cache).run() }
        await arrived.wait()
        run.cancel()
        await run.value
        #expect(isClosed(cache.store))
        response.body.cancel()
    }

    @Test("a group closes the store after the services that it starts later")
    func order() async throws {
        struct Server: Service {
            let check: @Sendable () -> Void

            func run() async throws {
                try await gracefulShutdown()
                check()
            }
        }
        let store = try ResponseStore.temporary()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = Server { #expect(!isClosed(store)) }
        let group = ServiceGroup(services: [CacheService(store: store), server], logger: logger)
        let run = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await run.value
        #expect(isClosed(store))
    }
}
