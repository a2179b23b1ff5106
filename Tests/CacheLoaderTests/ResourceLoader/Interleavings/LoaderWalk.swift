import TestSupport

/// Random steps of two loaders on one store, and the rules that must hold after every step.
struct LoaderWalk {
    /// The events that may occur on a walk.
    enum Scene: CaseIterable {
        /// One user, and only storable answers: a resource has at most one request at a time.
        case plain
        /// Two users, removals, errors, redirects, pauses, and unstorable answers.
        case everything
    }

    /// A load that has begun, and its result once it has ended.
    private final class Begun: Sendable {
        let path: String
        let user: String
        let date: Date
        /// The first version of each path that was not removed before the load began.
        let firstVersions: [String: Int]
        /// Guards the result.
        private let result = Mutex<Result<Loaded<Data>, LoadError>?>(nil)
        /// Guards the task.
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ path: String, _ user: String, _ date: Date, firstVersions: [String: Int]) {
            self.path = path
            self.user = user
            self.date = date
            self.firstVersions = firstVersions
        }

        var current: Result<Loaded<Data>, LoadError>? { result.withLock { $0 } }

        func run(_ load: @escaping @Sendable () async throws(LoadError) -> Loaded<Data>) {
            let task = Task {
                let result: Result<Loaded<Data>, LoadError>
                do throws(LoadError) {
                    result = .success(try await load())
                } catch {
                    result = .failure(error)
                }
                self.result.withLock { $0 = result }
            }
            self.task.withLock { $0 = task }
        }

        func cancel() { task.withLock { $0 }?.cancel() }
    }

    private static let paths = ["/0", "/1", "/2"]
    private static let users = ["Bearer one", "Bearer two"]
    private static let maxLoads = 12
    private static let timeout = Duration.seconds(30)
    private static let freshFor = 60.0
    private static let staleFor = 600.0

    private let scene: Scene
    private let fixture: LoaderFixture
    private let loaders: [ResourceLoader]
    private let origin = InterleavingOrigin()
    private let sleeper = ManualClock()
    private var generator: SeededGenerator
    private var loads: [Begun] = []
    /// Loads that continue without a waiter.
    private var finishing: [(loader: ResourceLoader, request: ResourceRequest)] = []
    private var prefetches: [(handle: Prefetch, isOver: CallCount)] = []
    /// The time at which the next version replaced each version of a path.
    private var replaced: [String: [Date]] = [:]
    private var firstVersions: [String: Int] = [:]
    /// The last time at which the origin asked a user to pause the requests of a path.
    private var pausedAt: [[String]: Date] = [:]
    /// The number of steps by kind, and of loads by outcome.
    private(set) var counts: [String: Int] = [:]
    /// The first broken rule.
    private(set) var fault: String?

    init(_ scene: Scene, _ generator: SeededGenerator) throws {
        self.scene = scene
        self.generator = generator
        let sleep = sleeper.sleep
        fixture = try LoaderFixture(transport: origin) {
            $0.memoryLimit = 1 << 20
            $0.sleep = sleep
        }
        // Without a memory cache: it gets every stored response from the store.
        var configuration = fixture.loader.configuration
        configuration.memoryLimit = 0
        loaders = [
            fixture.loader, ResourceLoader(store: fixture.store, transport: origin, configuration: configuration),
        ]
    }

    // MARK: Steps

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Takes a random step, runs the tasks for a while, and checks the ended loads.
    mutating func step() async throws {
        let name = try await takeStep()
        counts[name, default: 0] += 1
        for _ in 0..<random(8) { await Task.yield() }
        collect()
        if random(8) == 0 { await expectRules() }
    }

    private mutating func takeStep() async throws -> String {
        let paths = scene == .plain ? Self.paths : Self.paths + [InterleavingOrigin.moved]
        let path = paths[random(paths.count)]
        switch random(100) {
        case ..<35: return load(path)
        case ..<70: return answer()
        case ..<78: return cancel()
        case ..<84: return prefetch()
        case ..<90:
            // A response that arrives after its freshness lifetime answers only its own request.
            if scene == .plain { await answerAll() }
            fixture.clock.advance(by: [1, 30, 61, 700][random(4)])
            return "expire"
        case ..<95:
            change(path)
            return "change"
        case ..<97:
            sleeper.advance(by: Self.timeout)
            return "time out"
        case ..<99 where scene == .everything:
            change(path)
            try await loaders[random(2)].remove(request(path, Self.users[0]).url)
            firstVersions[path] = origin.version(of: path)
            return "remove"
        default:
            guard scene == .everything else {
                loaders[random(2)].evictMemory()
                return "evict memory"
            }
            let isWhole = random(2) == 0
            if isWhole { for path in paths { change(path) } }
            _ = try await loaders[random(2)].clear(isWhole ? .all : .memory)
            if isWhole { for path in paths { firstVersions[path] = origin.version(of: path) } }
            return "clear"
        }
    }

    private func request(_ path: String, _ user: String) -> ResourceRequest {
        ResourceRequest("https://example.com" + path, headerFields: [.authorization: user])
    }

    private mutating func load(_ path: String) -> String {
        guard loads.count < Self.maxLoads else { return "nothing" }
        let user = Self.users[scene == .plain ? 0 : random(Self.users.count)]
        var request = request(path, user)
        if random(8) == 0 {
            request.policy.mode = .revalidateAlways
            request.headerFields[.forced] = "1"
        }
        if random(4) == 0 { request.lane = .background }
        if random(4) == 0 { request.abandonment = .finishAndStore }
        if random(6) == 0 { request.timeout = Self.timeout }
        let begun = Begun(path, user, fixture.clock.now, firstVersions: firstVersions)
        let loader = loaders[random(2)]
        if request.abandonment == .finishAndStore { finishing.append((loader, request)) }
        begun.run { [request] () async throws(LoadError) in try await loader.load(request) }
        loads.append(begun)
        return "load"
    }

    private mutating func prefetch() -> String {
        guard prefetches.count < Self.maxLoads / 2 else { return "nothing" }
        let requests = (0...random(2)).map { request(Self.paths[$0], Self.users[0]) }
        let prefetch = loaders[random(2)].prefetch(requests)
        let isOver = CallCount()
        Task {
            await prefetch.finished()
            isOver.increment()
        }
        prefetches.append((prefetch, isOver))
        return "prefetch"
    }

    private mutating func answer() -> String {
        let waiting = origin.waiting
        guard !waiting.isEmpty else { return "nothing" }
        let answers: [InterleavingOrigin.Answer] =
            scene == .plain ? [.success, .success, .success, .connectionLost] : InterleavingOrigin.Answer.allCases
        let (exchange, answer) = (waiting[random(waiting.count)], answers[random(answers.count)])
        if answer == .paused {
            pausedAt[[exchange.path, exchange.user]] = fixture.clock.now
            counts["pause", default: 0] += 1
        }
        origin.answer(exchange, answer)
        return "answer"
    }

    private mutating func cancel() -> String {
        switch random(20) {
        case 0: loaders[random(2)].cancelAll()
        case 1: try? loaders[random(2)].cancel("https://example.com" + Self.paths[random(Self.paths.count)])
        case 2: prefetches.randomElement(using: &generator)?.handle.cancel()
        default: loads.randomElement(using: &generator)?.cancel()
        }
        return "cancel"
    }

    private mutating func change(_ path: String) {
        replaced[path, default: []].append(fixture.clock.now)
        origin.change(path)
    }

    // MARK: Rules

    /// Checks the ended loads, and removes them.
    private mutating func collect() {
        prefetches.removeAll { $0.isOver.value > 0 }
        for load in loads {
            switch load.current {
            case .success(let resource):
                counts["\(resource.source)", default: 0] += 1
                check(resource, of: load)
            case .failure(.transport), .failure(.cancelled), .failure(.httpStatus): counts["failed", default: 0] += 1
            case .failure(let error): report("\(load.path) failed: \(error)")
            case nil: break
            }
        }
        loads.removeAll { $0.current != nil }
    }

    /// Checks that the bytes belong to the path, to the user and to an allowed version.
    private mutating func check(_ resource: Loaded<Data>, of load: Begun) {
        let parts = resource.text.split(separator: "|")
        let targets = load.path == InterleavingOrigin.moved ? ["/1", "/2"] : [load.path]
        guard parts.count == 3, let path = targets.first(where: { $0 == parts[0] }), parts[1] == load.user,
            let version = Int(parts[2])
        else { return report("\(load.user) got \(resource.text) from \(load.path)") }
        if path != load.path { counts["redirected", default: 0] += 1 }
        if let first = load.firstVersions[path], version < first {
            report(
                "\(load.path): version \(version) of \(path) from \(resource.source), \(resource.age) s old, stale:"
                    + " \(resource.isStale), failure: \(resource.failure.map { "\($0)" } ?? "none"), after the removal of"
                    + " those before \(first)")
        }
        if path == InterleavingOrigin.tolerant, resource.isStale, resource.failure == nil, resource.source == .disk {
            counts["stale in a pause", default: 0] += 1
            // The clock may have moved between the answer and the start of the pause.
            let latest = pausedAt[[path, load.user]]?.addingTimeInterval(InterleavingOrigin.pause + 1_400)
            if latest.map({ $0 < load.date }) ?? true { report("\(load.user) kept a pause that nobody asked for") }
            return
        }
        // A response may be served stale after a failure for any time. An unstorable response, or one that is stale on
        // arrival, answers only the loads that wait for it.
        guard resource.failure == nil, resource.headerFields[.cacheControl] != "no-store",
            ![.network, .notModified].contains(resource.source) || Double(resource.age) <= Self.freshFor,
            version < replaced[path]?.count ?? 0
        else { return }
        let limit = Self.freshFor + (path == "/0" ? Self.staleFor : 0)
        let age = load.date.timeIntervalSince(replaced[path]?[version] ?? load.date)
        guard age > limit else { return }
        report(
            "\(path): version \(version) from \(resource.source), \(resource.age) s old, was replaced \(age) s before"
                + " the load")
    }

    private mutating func report(_ text: String) { fault = fault ?? text }

    /// Waits until the tasks cannot continue without an answer, and checks the number of requests.
    private mutating func expectRules() async {
        while true {
            collect()
            let excess = scene == .plain ? origin.mostShareable > 1 : false
            let isStuck = !loads.isEmpty && origin.waiting.isEmpty
            guard excess || isStuck else { return }
            // No task can continue. The time limit of the test cancels the walk.
            guard !Task.isCancelled else {
                return report(excess ? "two requests at once" : "\(loads.count) loads wait for nothing")
            }
            await Task.yield()
        }
    }

    /// Answers all requests until every load has ended.
    private mutating func answerAll() async {
        while fault == nil {
            finishing.removeAll { (try? $0.loader.isLoading($0.request)) != true }
            let isIdle = loads.isEmpty && finishing.isEmpty && prefetches.isEmpty && origin.waiting.isEmpty
            if isIdle, !fixture.cache.isRevalidating { return }
            for exchange in origin.waiting { origin.answer(exchange, .success) }
            await Task.yield()
            await expectRules()
        }
    }

    /// Answers all requests until every load has ended; then equal loads need at most one request each.
    mutating func end() async throws {
        await answerAll()
        fixture.clock.advance(by: 10_000)
        for path in Self.paths {
            for user in Self.users {
                var forwarded = 0
                for loader in loaders + loaders {
                    let begun = Begun(path, user, fixture.clock.now, firstVersions: firstVersions)
                    let request = request(path, user)
                    begun.run { () async throws(LoadError) in try await loader.load(request) }
                    while begun.current == nil {
                        for exchange in origin.waiting { origin.answer(exchange, .success) }
                        await Task.yield()
                    }
                    if case .success(let resource) = begun.current, [.network, .notModified].contains(resource.source) {
                        forwarded += 1
                    }
                    loads.append(begun)
                    collect()
                }
                if forwarded > 1 { report("\(forwarded) requests for \(path)") }
            }
        }
        for loader in loaders {
            for path in Self.paths { #expect(loader.waiterCount(of: request(path, Self.users[0])) == 0) }
        }
        #expect(try await fixture.store.check(digests: true).problems == [])
        fixture.store.close()
    }
}
