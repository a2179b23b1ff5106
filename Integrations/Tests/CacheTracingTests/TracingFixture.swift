import AsyncHTTPClientCaching
import CacheLoader
import CacheStore
import CacheStoreTesting
import CacheTracing
import Dispatch
import HTTPTypes
import InMemoryTracing
import LoopbackOrigin
import Tracing

/// A cache and a loader on one store, with spans, in front of an origin on loopback.
struct TracingFixture {
    let tracer = InMemoryTracer()
    let clock = ManualClock()
    let origin: LoopbackOrigin
    let store: ResponseStore
    let cache: HTTPCache
    let loader: ResourceLoader

    init(
        lanes: LaneWidths = LaneWidths(), reply: @escaping @Sendable (OriginRequest) async -> OriginReply
    ) async throws {
        origin = try await LoopbackOrigin(reply: reply)
        store = try .temporary(clock: clock)
        let transport = TracingTransport(AsyncHTTPClientTransport(), tracer: tracer)
        var caching = HTTPCache.Configuration()
        caching.observer = CacheTracer(tracer)
        cache = HTTPCache(store: store, transport: transport, clock: clock, configuration: caching)
        var loading = ResourceLoader.Configuration()
        loading.observer = CacheTracer(tracer)
        loading.lanes = lanes
        loading.retry = .never
        loader = ResourceLoader(store: store, transport: transport, clock: clock, configuration: loading)
    }

    func request(_ path: String, _ method: HTTPRequest.Method = .get) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: origin.authority, path: path)
    }

    /// Returns the spans whose parent has this name, in the order of their ends.
    func spans(in parent: String) -> [FinishedInMemorySpan] {
        let spans = tracer.finishedSpans
        guard let parent = spans.first(where: { $0.operationName == parent }) else { return [] }
        return spans.filter { $0.parentSpanID == parent.spanID }
    }

    func names(in parent: String) -> [String] { spans(in: parent).map(\.operationName) }
}

extension FinishedInMemorySpan {
    func text(_ name: String) -> String? {
        if case .string(let text)? = attributes.get(name)?.toSpanAttribute() { text } else { nil }
    }

    func flag(_ name: String) -> Bool? {
        if case .bool(let flag)? = attributes.get(name)?.toSpanAttribute() { flag } else { nil }
    }

    func number(_ name: String) -> Int64? {
        switch attributes.get(name)?.toSpanAttribute() {
        case .int64(let number): number
        case .int32(let number): Int64(number)
        default: nil
        }
    }
}

/// A gate that opens once, for any number of waiters.
struct Gate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    /// Returns once the gate is open or the calling task is cancelled.
    func wait() async { for await _ in stream {} }
}

/// Runs the jobs of tasks one at a time, in the order of their arrival.
final class InOrderExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "InOrderExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Returns once all earlier jobs have run.
    func settled() async {
        await withCheckedContinuation { caller in queue.async { caller.resume() } }
    }
}
