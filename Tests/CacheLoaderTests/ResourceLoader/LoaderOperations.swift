import CacheModels
import TestSupport

/// Performs random operations of a loader, one after another, and checks the results.
struct LoaderOperations {
    static let urlCount = 60

    private var generator: SeededGenerator
    /// The number of operations so far.
    private(set) var count = 0

    init(_ generator: SeededGenerator) { self.generator = generator }

    static func url(_ number: Int) -> String { "https://host-\(number % 3).test/\(number)" }

    private mutating func number() -> Int { Int.random(in: 0..<Self.urlCount, using: &generator) }

    /// A request of any kind, and the expected prefix of its body.
    private mutating func request() -> (request: ResourceRequest, prefix: String) {
        let number = number()
        var request = ResourceRequest(Self.url(number))
        if Int.random(in: 0..<4, using: &generator) == 0 { request.lane = .background }
        if Int.random(in: 0..<4, using: &generator) == 0 { request.abandonment = .finishAndStore }
        if Int.random(in: 0..<8, using: &generator) == 0 { request.usesMemory = false }
        if Int.random(in: 0..<8, using: &generator) == 0 { request.timeout = .seconds(1_000) }
        let modes: [CachePolicy.Mode] = [.remoteOnly, .cacheOnly, .cacheFirst, .revalidateAlways]
        if Int.random(in: 0..<8, using: &generator) == 0, let mode = modes.randomElement(using: &generator) {
            request.policy.mode = mode
        }
        return (request, "/\(number)|")
    }

    private func expect(_ data: Data, _ prefix: String) { #expect(data.starts(with: prefix.utf8), "\(generator)") }

    /// Passes errors that a loader may report, but no failure of its store.
    private func tolerant<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let error as LoadError {
            switch error {
            case .httpStatus, .transport, .cancelled, .notCached, .tooManyRedirects: return nil
            // More concurrent bodies than the limit allows.
            case .store(.bodyTooLarge): return nil
            default: throw error
            }
        }
    }

    mutating func perform(
        on fixture: LoaderFixture, _ pressure: MemoryPressureSource, _ leases: [LeasedResource<Data>]
    ) async throws {
        let loader = fixture.loader
        count += 1
        // Operations that empty the cache are rare, so that other operations find stored responses.
        switch Int.random(in: 0..<1_000, using: &generator) {
        case ..<370:
            let (request, prefix) = request()
            if let loaded = try await tolerant({ try await loader.load(request) }) { expect(loaded.data, prefix) }
        case ..<460:
            let (request, prefix) = request()
            let loaded = try await tolerant { try await loader.load(request, as: .text) }
            if let loaded { #expect(loaded.value.hasPrefix(prefix), "\(generator)") }
        case ..<560: try await cancel(loader)
        case ..<640: await readEvents(loader)
        case ..<680: await handle(loader)
        case ..<690: await prefetch(loader)
        case ..<740: await lease(leases)
        case ..<930: try await local(loader)
        case ..<970:
            try loader.setLane(Bool.random(using: &generator) ? .urgent : .background, of: request().request)
        case ..<975: configure(loader)
        case ..<978:
            let scope = ResourceLoader.ClearScope.allCases.randomElement(using: &generator) ?? .memory
            try await loader.clear(scope)
        case ..<981: pressure.signal(Bool.random(using: &generator) ? .warning : .critical)
        case ..<982: loader.evictMemory()
        case ..<983: loader.cancelAll()
        case ..<984: try await fixture.store.evict(.maxEntries(20))
        default:
            if Int.random(in: 0..<4, using: &generator) == 0 { fixture.clock.advance(by: 5) }
        }
    }

    // MARK: Operations

    private mutating func cancel(_ loader: ResourceLoader) async throws {
        let (request, prefix) = request()
        let task = Task { try await loader.load(request) }
        for _ in 0..<Int.random(in: 0..<6, using: &generator) { await Task.yield() }
        task.cancel()
        if let loaded = try await tolerant({ try await task.value }) { expect(loaded.data, prefix) }
    }

    private mutating func readEvents(_ loader: ResourceLoader) async {
        let (request, prefix) = request()
        let isPatient = Bool.random(using: &generator)
        var events: [LoadEvent<Data>] = []
        for await event in loader.events(for: request, deliversStale: Bool.random(using: &generator)) {
            events.append(event)
            if case .completed(let loaded) = event { expect(loaded.data, prefix) }
            if case .cached(let loaded) = event { expect(loaded.data, prefix) }
            if case .storeFailed(let error) = event { Issue.record("\(error), \(generator)") }
            // A reader that releases the events receives no more.
            if !isPatient, !event.isLast { return }
        }
        expectGrammatical(events)
    }

    private actor Home {
        var isOver = false

        func note(_ event: LoadEvent<Data>) { isOver = event.isLast }
    }

    private mutating func handle(_ loader: ResourceLoader) async {
        let home = Home()
        let handle = loader.start(request().request, on: home) { home, event in home.note(event) }
        for _ in 0..<Int.random(in: 0..<6, using: &generator) { await Task.yield() }
        if Bool.random(using: &generator) { handle.cancel() }
        await eventually { await home.isOver }
    }

    private mutating func prefetch(_ loader: ResourceLoader) async {
        let requests = (0..<5).map { _ in request().request }
        let prefetch = loader.prefetch(requests)
        let isCancelled = Bool.random(using: &generator)
        if isCancelled { prefetch.cancel() }
        let progress = await prefetch.finished()
        #expect(isCancelled ? progress.completed <= 5 : progress.completed == 5, "\(generator)")
    }

    private mutating func lease(_ leases: [LeasedResource<Data>]) async {
        let lease = leases[Int.random(in: 0..<leases.count, using: &generator)]
        lease.acquire()
        for _ in 0..<Int.random(in: 0..<6, using: &generator) { await Task.yield() }
        #expect(lease.leases > 0, "\(generator)")
        if let value = lease.value { #expect(value.contains(UInt8(ascii: "|")), "\(generator)") }
        #expect(throws: Never.self) { try lease.release() }
    }

    private mutating func local(_ loader: ResourceLoader) async throws {
        let number = number()
        let url = Self.url(number)
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: _ = try await tolerant { try await loader.insert(Data("/\(number)|inserted".utf8), for: url) }
        case 1: try await loader.remove(url)
        case 2: _ = try loader.contains(url)
        case 3: _ = try loader.isLoading(ResourceRequest(url))
        case 4: #expect(loader.waiterCount(of: ResourceRequest(url)) >= 0)
        default: if let data = try loader.peek(url) { expect(data, "/\(number)|") }
        }
    }

    private mutating func configure(_ loader: ResourceLoader) {
        var configuration = loader.configuration
        switch Int.random(in: 0..<5, using: &generator) {
        case 0:
            configuration.lanes = LaneWidths(
                urgent: .random(in: 1..<9, using: &generator), background: .random(in: 1..<4, using: &generator),
                perHost: .random(in: 1..<9, using: &generator))
        case 1: configuration.memoryLimit = ([nil, 0, 5_000, 50_000] as [Int?]).randomElement(using: &generator) ?? nil
        case 2: configuration.policy.defaultLifetime = .seconds(.random(in: 0..<10, using: &generator))
        case 3: configuration.maxRedirects = .random(in: 1..<20, using: &generator)
        default:
            let lifetime = ([nil, 0, 1, 2] as [Int?]).randomElement(using: &generator) ?? nil
            configuration.negativeCaching = NegativeCaching(lifetime: lifetime.map { .seconds($0) })
        }
        loader.configuration = configuration
    }
}

/// An origin that answers each path with a body that begins with the path, after a random time or never.
final class BusyOrigin: HTTPTransport {
    /// The open exchanges and bodies, counted outside the origin.
    final class Counts: Sendable {
        private struct State {
            var exchanges = 0
            var openExchanges = 0
            var openBodies = 0
        }

        /// Guards the counts.
        private let state = Mutex(State())

        var exchanges: Int { state.withLock { $0.exchanges } }
        var openExchanges: Int { state.withLock { $0.openExchanges } }
        var openBodies: Int { state.withLock { $0.openBodies } }

        fileprivate func begin() {
            state.withLock { state in
                state.exchanges += 1
                state.openExchanges += 1
            }
        }

        fileprivate func end() { state.withLock { $0.openExchanges -= 1 } }
        fileprivate func beginBody() { state.withLock { $0.openBodies += 1 } }
        fileprivate func endBody() { state.withLock { $0.openBodies -= 1 } }
    }

    /// Counts a body until its last reference is released.
    private final class OpenBody: Sendable {
        private let counts: Counts
        private let chunks: TransportBody

        init(_ counts: Counts, _ chunks: TransportBody) {
            self.counts = counts
            self.chunks = chunks
            counts.beginBody()
        }

        deinit { counts.endBody() }

        func next() async throws(TransportError) -> Data? {
            await Task.yield()
            if Task.isCancelled { throw TransportError(.cancelled) }
            return try await chunks.next()
        }
    }

    private let counts: Counts
    /// Guards the random numbers.
    private let generator: Mutex<SeededGenerator>

    init(_ counts: Counts, seed: UInt64) {
        self.counts = counts
        generator = Mutex(SeededGenerator(seed: seed))
    }

    private func chance(_ count: Int) -> Int { generator.withLock { Int.random(in: 0..<count, using: &$0) } }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        counts.begin()
        defer { counts.end() }
        for _ in 0..<chance(20) { await Task.yield() }
        if Task.isCancelled { throw TransportError(.cancelled) }
        let path = request.path ?? ""
        var fields: HTTPFields = [.cacheControl: "max-age=\(chance(20))", .eTag: "\"\(path)\""]
        let kind = chance(20)
        switch kind {
        case 0: throw TransportError(.connectionLost)
        case 1: return .reply(503)
        case 2: return .reply(404)
        case 3: return .reply(302, [.location: path])
        case 4: fields[.cacheControl] = "no-store"
        default: break
        }
        if kind > 8, request.headerFields[.ifNoneMatch] != nil { return .reply(304, fields) }
        let body = Data(path.utf8) + Data("|".utf8) + Data(repeating: UInt8(ascii: "x"), count: chance(3_000))
        let failure = kind == 5 ? TransportError(.truncated) : nil
        let open = OpenBody(counts, TransportBody(chunks: [body.prefix(20), body.dropFirst(20)], failure: failure))
        return TransportResponse(
            head: HTTPResponse(status: .ok, headerFields: fields),
            body: TransportBody { () async throws(TransportError) in try await open.next() })
    }
}
