import CacheLoader
import CacheStore
import CacheStoreTesting
import CacheTracing
import HTTPTypes
import InMemoryTracing
import LoopbackOrigin
import Testing
import Tracing

@Suite("CacheTracer: spans of the steps of a request", .timeLimit(.minutes(5)))
struct CacheTracerTests {
    @Test("a miss has lookup, exchange and commit spans, a hit only a lookup span, all in the caller's span")
    func missAndHit() async throws {
        let fixture = try await TracingFixture { _ in .ok("a".utf8, cacheControl: "max-age=60") }
        for name in ["miss", "hit"] {
            try await fixture.tracer.withSpan(name) { _ in
                _ = try await fixture.cache.response(for: fixture.request("/a?sig=secret&b=c")).data()
            }
        }
        let miss = fixture.spans(in: "miss")
        // The span of the exchange ends with its body. The commit follows.
        #expect(miss.filter { $0.operationName != "cache lookup" }.map(\.operationName) == ["GET", "cache commit"])
        let lookups = miss.filter { $0.operationName == "cache lookup" }
        #expect(lookups.count >= 1)
        #expect(lookups.allSatisfy { $0.flag("cachestore.lookup.hit") == false })
        #expect(miss.last?.flag("cachestore.commit.stored") == true)
        #expect(fixture.names(in: "hit") == ["cache lookup"])
        #expect(fixture.spans(in: "hit").first?.flag("cachestore.lookup.hit") == true)
        for span in miss {
            #expect(span.text("http.request.method") == "GET")
            #expect(span.text("url.full") == fixture.origin.url("/a?sig=REDACTED&b=c"))
            #expect(span.kind == (span.operationName == "GET" ? .client : .internal))
            #expect(span.status == nil)
        }
        #expect(fixture.tracer.activeSpans.isEmpty)
    }

    @Test("a validation commits the fields of the 304")
    func validation() async throws {
        let fixture = try await TracingFixture { request in
            request.fields[.ifNoneMatch] == nil
                ? .ok("a".utf8, cacheControl: "max-age=10", etag: "\"1\"")
                : .notModified(etag: "\"1\"", cacheControl: "max-age=10")
        }
        _ = try await fixture.cache.response(for: fixture.request("/a")).data()
        fixture.clock.advance(by: .seconds(20))
        try await fixture.tracer.withSpan("validation") { _ in
            _ = try await fixture.cache.response(for: fixture.request("/a")).data()
        }
        let spans = fixture.spans(in: "validation")
        #expect(spans.filter { $0.operationName != "cache lookup" }.map(\.operationName) == ["GET", "cache commit"])
        #expect(spans.first { $0.operationName == "GET" }?.number("http.response.status_code") == 304)
    }

    @Test("a request that shares an exchange has a wait span and no exchange span")
    func sharedRequest() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let fixture = try await TracingFixture { _ in
            arrived.open()
            await gate.wait()
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        @Sendable func run(_ name: String) async throws {
            try await fixture.tracer.withSpan(name) { _ in
                _ = try await fixture.cache.response(for: fixture.request("/a")).data()
            }
        }
        async let first: Void = run("first")
        await arrived.wait()
        let executor = InOrderExecutor()
        let second = Task(executorPreference: executor) { try await run("second") }
        // The first request looks up twice, the second once, before it waits.
        while fixture.tracer.finishedSpans.filter({ $0.operationName == "cache lookup" }).count < 3 {
            await Task.yield()
        }
        await executor.settled()
        fixture.clock.advance(by: .seconds(3))
        gate.open()
        try await first
        try await second.value
        #expect(fixture.names(in: "first").contains("GET"))
        #expect(!fixture.names(in: "first").contains("cache wait"))
        #expect(!fixture.names(in: "second").contains("GET"))
        let wait = try #require(fixture.spans(in: "second").first { $0.operationName == "cache wait" })
        #expect(wait.text("cachestore.wait.reason") == "sharedRequest")
        #expect(wait.endInstant.nanosecondsSinceEpoch - wait.startInstant.nanosecondsSinceEpoch == 3_000_000_000)
    }

    @Test("a refused commit has the attribute stored = false")
    func failedCommit() async throws {
        let gate = Gate()
        let fixture = try await TracingFixture { _ in
            OriginReply.ok("ab".utf8, cacheControl: "max-age=60").delivered(
                .paced(bytes: 1) { index in if index == 1 { await gate.wait() } })
        }
        try await fixture.tracer.withSpan("request") { _ in
            let response = try await fixture.cache.response(for: fixture.request("/a"))
            _ = try await fixture.store.clear()
            gate.open()
            _ = try await response.data()
        }
        let commit = try #require(fixture.spans(in: "request").first { $0.operationName == "cache commit" })
        #expect(commit.flag("cachestore.commit.stored") == false)
    }

    @Test("a load that waits for its lane has a wait span in its caller's span")
    func lane() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let fixture = try await TracingFixture(lanes: LaneWidths(urgent: 1)) { request in
            if request.path == "/first" {
                arrived.open()
                await gate.wait()
            }
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        @Sendable func load(_ path: String) async throws {
            try await fixture.tracer.withSpan(path) { _ in _ = try await fixture.loader.load(fixture.origin.url(path)) }
        }
        async let first: Void = load("/first")
        await arrived.wait()
        let second = Task { try await load("/second") }
        while try !fixture.loader.isLoading(ResourceRequest(fixture.origin.url("/second"))) { await Task.yield() }
        gate.open()
        try await first
        try await second.value
        #expect(!fixture.names(in: "/first").contains("cache wait"))
        for path in ["/first", "/second"] {
            let exchange = try #require(fixture.spans(in: path).first { $0.operationName == "GET" })
            #expect(exchange.text("url.full") == fixture.origin.url(path))
            #expect(fixture.names(in: path).contains("cache commit"))
        }
        let waits = fixture.spans(in: "/second").filter { $0.operationName == "cache wait" }
        #expect(waits.map { $0.text("cachestore.wait.reason") } == ["lane"])
    }

    @Test("a load outside any span does not join the span of the load that it waited for")
    func noSpan() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let fixture = try await TracingFixture(lanes: LaneWidths(urgent: 1)) { request in
            if request.path == "/first" {
                arrived.open()
                await gate.wait()
            }
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        async let first: Void = fixture.tracer.withSpan("first") { _ in
            _ = try await fixture.loader.load(fixture.origin.url("/first"))
        }
        await arrived.wait()
        let second = Task { _ = try await fixture.loader.load(fixture.origin.url("/second")) }
        while try !fixture.loader.isLoading(ResourceRequest(fixture.origin.url("/second"))) { await Task.yield() }
        gate.open()
        try await first
        try await second.value
        let spans = fixture.tracer.finishedSpans.filter { $0.text("url.full")?.hasSuffix("/second") == true }
        #expect(spans.contains { $0.operationName == "GET" })
        #expect(spans.allSatisfy { $0.parentSpanID == nil })
    }

    @Test("each caller of a shared load has its own wait span")
    func sharedLoad() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let fixture = try await TracingFixture { _ in
            arrived.open()
            await gate.wait()
            return .ok("a".utf8, cacheControl: "max-age=60")
        }
        let url = fixture.origin.url("/a")
        @Sendable func load(_ name: String) async throws {
            try await fixture.tracer.withSpan(name) { _ in _ = try await fixture.loader.load(url) }
        }
        async let first: Void = load("first")
        await arrived.wait()
        let executor = InOrderExecutor()
        let second = Task(executorPreference: executor) { try await load("second") }
        // The first load looks up three times, the second once, before it waits.
        while fixture.tracer.finishedSpans.filter({ $0.operationName == "cache lookup" }).count < 4 {
            await Task.yield()
        }
        await executor.settled()
        gate.open()
        try await first
        try await second.value
        #expect(!fixture.names(in: "first").contains("cache wait"))
        #expect(fixture.names(in: "second").filter { $0 != "cache lookup" } == ["cache wait"])
    }
}
