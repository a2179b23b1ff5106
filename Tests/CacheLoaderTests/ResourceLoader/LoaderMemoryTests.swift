import Logging
import TestSupport

@Suite("ResourceLoader: memory", .timeLimit(.minutes(5))) struct LoaderMemoryTests {
    private let url = "https://example.com/a"
    private let runs = Counter()

    private var processor: ClosureProcessor<Data, String> {
        ClosureProcessor(ProcessorID("text")) { [runs] data, _ in
            runs.next()
            return String(decoding: data, as: UTF8.self)
        }
    }

    private func fixture(_ directives: String = "max-age=60") throws -> (LoaderFixture, ScriptedTransport) {
        let transport = ScriptedTransport(.ok("body".utf8, cacheControl: directives, etag: "\"1\""))
        let fixture = try LoaderFixture(transport: transport)
        fixture.loader.configuration.memoryLimit = 1 << 20
        return (fixture, transport)
    }

    @Test("A load fills memory; the next load hits there without a lookup in the store", .requirement("G6"))
    func filling() async throws {
        let (fixture, transport) = try fixture()
        #expect(try await fixture.loader.load(url, as: processor).source == .network)
        #expect(try await fixture.loader.load(url, as: processor).source == .memory)
        // A hit makes no lookup and reads no file.
        #expect(fixture.loader.counters.hits == 0)
        #expect(fixture.loader.counters.diskBytes == 0)
        fixture.clock.advance(by: 5)
        let hit = try await fixture.loader.load(url, as: processor)
        #expect(hit.source == .memory)
        #expect(hit.value == "body")
        #expect(hit.age == 5)
        #expect(hit.headerFields[.age] == "5")
        #expect(runs.count == 1)
        #expect(transport.requestCount == 1)
    }

    @Test("The fields of a hit have its age, and one member in Cache-Status that says hit", .requirement("A01"))
    func fieldsOfHit() async throws {
        let transport = ScriptedTransport { _, _ in
            .reply(200, [.cacheControl: "max-age=60", .age: "3", .cacheStatus: "other;hit"], "body")
        }
        let fixture = try LoaderFixture(transport: transport) {
            $0.memoryLimit = 1 << 20
            $0.cacheStatus = CacheStatusOptions(name: "own")
        }
        let loaded = try await fixture.loader.load(url)
        #expect(loaded.headerFields[values: .cacheStatus].last?.hasPrefix("own;fwd=") == true)
        for seconds in [0, 5] {
            fixture.clock.advance(by: Double(seconds))
            let hit = try await fixture.loader.load(url)
            #expect(hit.source == .memory)
            #expect(hit.headerFields[values: .age] == ["\(3 + seconds)"])
            #expect(hit.headerFields[values: .cacheStatus] == ["other;hit", "own;hit"])
        }
    }

    @Test("While the store is suspended, memory answers nothing and keeps its values", .requirement("G8"))
    func suspended() async throws {
        let (fixture, transport) = try fixture()
        _ = try await fixture.loader.load(url)
        fixture.store.suspend()
        #expect(try await fixture.loader.load(url).source == .network)
        try fixture.store.resume()
        #expect(try await fixture.loader.load(url).source == .memory)
        #expect(transport.requestCount == 2)
    }

    @Test(
        "Removes the memory value when another store removes, replaces or evicts the entry", .requirement("G8"),
        arguments: 0..<3)
    func otherStore(change: Int) async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.load(url).source == .memory)
        let other = try ResponseStore(directory: fixture.store.directory, configuration: fixture.store.configuration)
        let key = try CacheKey(url: url)
        switch change {
        case 0: _ = try await other.remove(key)
        case 1:
            let entry = try #require(try other.peek(key))
            try await other.insert(Data("new".utf8), metadata: entry.metadata, for: key)
        default: try other.evict(maxBytes: 0)
        }
        let loaded = try await fixture.loader.load(url)
        #expect(loaded.source == (change == 1 ? .disk : .network))
        #expect(loaded.text == (change == 1 ? "new" : "body"))
    }

    @Test("A value stays in memory when other keys or unrelated parts of the configuration change")
    func others() async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        _ = try await fixture.loader.load(url + "b")
        try await fixture.store.remove(CacheKey(url: url + "b"))
        fixture.loader.configuration.lanes = LaneWidths()
        #expect(try await fixture.loader.load(url).source == .memory)
        fixture.loader.configuration.policy.mode = .cacheFirst
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("URLs that differ only in their Unicode normalisation have separate values")
    func normalisation() async throws {
        let transport = ScriptedTransport { request, _ in
            .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        let urls = ["https://example.com/\u{e9}", "https://example.com/e\u{301}"]
        for url in urls { _ = try await fixture.loader.load(url) }
        #expect(try await fixture.loader.load(urls[0]).value != fixture.loader.load(urls[1]).value)
        #expect(transport.requestCount == 2)
    }

    @Test("A value is not kept if a validation during its processing makes the response less fresh")
    func validatedMeanwhile() async throws {
        let number = Counter()
        let transport = ScriptedTransport { _, _ in
            number.next() == 1
                ? .reply(200, [.cacheControl: "max-age=600", .eTag: "\"1\""], "body")
                : .reply(304, [.cacheControl: "no-cache", .eTag: "\"1\""], "")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.memoryLimit = 1 << 20 }
        let gate = Gate()
        let slow = ClosureProcessor<Data, String>(ProcessorID("slow")) { data, _ in
            await gate.wait()
            return String(decoding: data, as: UTF8.self)
        }
        async let load = fixture.loader.load(url, as: slow)
        await gate.reached(1)
        _ = try await fixture.loader.load(ResourceRequest(url, policy: .revalidateAlways))
        gate.open()
        #expect(try await load.value == "body")
        _ = try await fixture.loader.load(url, as: slow)
        #expect(transport.requestCount == 3)
    }

    @Test("A load that begins before a change of the partition leaves no value for later loads", .requirement("K4"))
    func changedPartition() async throws {
        struct Refusal: Error {}
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: "max-age=60"], "body") }
        let fixture = try LoaderFixture(transport: transport) {
            $0.memoryLimit = 1 << 20
            $0.partition = "a"
        }
        try await fixture.loader.insert(Data("refused".utf8), for: url)
        let processor = ClosureProcessor<Data, String>(ProcessorID("choosy")) { data, _ in
            guard String(decoding: data, as: UTF8.self) == "refused" else { return "body" }
            await gate.wait()
            throw Refusal()
        }
        async let load = fixture.loader.load(url, as: processor)
        await gate.reached(1)
        // The load asks the origin and waits for it before the change.
        fixture.loader.configuration.partition = "b"
        gate.open()
        #expect(try await load.source == .network)
        #expect(try await fixture.loader.load(url, as: processor).source == .network)
    }

    @Test("The metadata of values count within the limit", .requirement("G9"))
    func bookkeeping() async throws {
        let (fixture, _) = try fixture()
        fixture.loader.configuration.memoryLimit = 20_000
        for number in 0..<100 { _ = try await fixture.loader.load("\(url)/\(number)") }
        var kept = 0
        for number in 0..<100 where try await fixture.loader.load("\(url)/\(number)").source == .memory { kept += 1 }
        #expect(kept < 20)
    }

    @Test("Evicted objects that are released lose their keys, too", .requirement("G9"))
    func evictedObjects() {
        struct Probe { weak var metadata: Box? }
        let cache = MemoryCache<MetadataKey, Box>(costLimit: 10)
        var probes: [Probe] = []
        for number in 0..<100 {
            let metadata = Box(number)
            probes.append(Probe(metadata: metadata))
            cache.insert(Box(number), for: MetadataKey(number: number, metadata: metadata), cost: 1)
        }
        #expect(probes.count { $0.metadata != nil } == 10)
    }

    private struct MetadataKey: Hashable, Sendable {
        let number: Int
        let metadata: Box

        static func == (left: Self, right: Self) -> Bool { left.number == right.number }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    @Test(
        "A hit in the store also fills memory, unless the request opts out", .requirement("G6"),
        arguments: [true, false])
    func optOut(usesMemory: Bool) async throws {
        let (fixture, _) = try fixture()
        try await fixture.loader.insert(Data("stored".utf8), for: url)
        let request = ResourceRequest(url, usesMemory: usesMemory)
        #expect(try await fixture.loader.load(request, as: processor).source == .disk)
        #expect(
            try await fixture.loader.load(ResourceRequest(url), as: processor).source == (usesMemory ? .memory : .disk))
        #expect(try await fixture.loader.load(request, as: processor).source == (usesMemory ? .memory : .disk))
    }

    @Test("A log handler may change the configuration when a lower limit evicts values")
    func logHandler() async throws {
        let (fixture, _) = try fixture()
        let (loader, calls) = (fixture.loader, Counter())
        loader.configuration.logOptions = .eviction
        loader.configuration.logger = Logger(label: "test") { _ in
            CallingHandler { [weak loader] in
                if calls.next() == 1 { loader?.configuration.memoryLimit = 1 << 20 }
            }
        }
        _ = try await loader.load(url)
        loader.configuration.memoryLimit = 0
        #expect(calls.count == 1)
        #expect(loader.configuration.memoryLimit == 1 << 20)
    }

    private struct CallingHandler: LogHandler {
        let call: @Sendable () -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        init(_ call: @escaping @Sendable () -> Void) { self.call = call }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { call() }
    }

    @Test("A limit of 0 or below a value's cost empties memory immediately", .requirement("G1"))
    func limit() async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.load(url).source == .memory)
        fixture.loader.configuration.memoryLimit = 0
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(try await fixture.loader.load(url).source == .disk)
        fixture.loader.configuration.memoryLimit = 1_000
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(try await fixture.loader.load(url).source == .disk, "larger than the limit")
        fixture.loader.configuration.memoryLimit = 2_000
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(try await fixture.loader.load(url).source == .memory)
    }

    @Test("A limit of 0 keeps nothing, not even an empty value", .requirement("G1"), arguments: ["", "body"])
    func zeroLimit(body: String) async throws {
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok(body.utf8, cacheControl: "max-age=60")))
        fixture.loader.configuration.memoryLimit = 0
        _ = try await fixture.loader.load(url)
        for _ in 0..<2 { #expect(try await fixture.loader.load(url).source == .disk) }
    }

    @Test("Int.max is no limit, and pressure still frees a share of the values", .requirement("G1", "G4"))
    func unlimited() async throws {
        let pressure = MemoryPressureSource()
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok("body".utf8, cacheControl: "max-age=60"))) {
            $0.memoryLimit = .max
            $0.memoryPressure = pressure
        }
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.load(url).source == .memory)
        pressure.signal(.critical)
        #expect(try await fixture.loader.load(url).source == .disk)
    }

    @Test("Memory follows the same decision as the store", .requirement("B8"))
    func decision() async throws {
        let (fixture, transport) = try fixture()
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 59)
        #expect(try await fixture.loader.load(url).source == .memory)
        fixture.clock.advance(by: 1)
        _ = try await fixture.loader.load(url)
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(transport.requestCount == 2)
    }

    @Test(
        "Memory keeps no response that needs validation before each use", .requirement("B6", "B8"),
        arguments: ["no-store", "no-cache", "max-age=0", "private, max-age=0"])
    func forbidden(directives: String) async throws {
        let (fixture, transport) = try fixture(directives)
        _ = try await fixture.loader.load(url)
        _ = try await fixture.loader.load(url)
        #expect(transport.requestCount == 2)
    }

    @Test(
        "Memory does not answer a request that wants more than a fresh value", .requirement("B5", "B7"),
        arguments: [
            ResourceRequest("https://example.com/a", headerFields: [.cacheControl: "no-cache"]),
            ResourceRequest("https://example.com/a", policy: .revalidateAlways),
            ResourceRequest("https://example.com/a", policy: .remoteOnly),
        ])
    func demanding(request: ResourceRequest) async throws {
        let (fixture, transport) = try fixture()
        _ = try await fixture.loader.load(url)
        for count in 2...3 {
            #expect(try await fixture.loader.load(request).source != .memory)
            #expect(transport.requestCount == count)
        }
    }

    @Test("Setting the clock back makes no value fresher")
    func clock() async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: -10)
        #expect(try await fixture.loader.load(url).source != .memory)
    }

    @Test("A hit in memory counts as an access to the entry", .requirement("J1"))
    func access() async throws {
        let (fixture, _) = try fixture("max-age=1000")
        _ = try await fixture.loader.load(url)
        fixture.clock.advance(by: 500)
        #expect(try await fixture.loader.load(url).source == .memory)
        try await fixture.store.flush()
        #expect(try await fixture.store.evict(.unusedFor(.seconds(100))).entries == 0)
        #expect(try fixture.store.statistics().hits == 1)
    }

    @Test("Removes the memory value of a removed or replaced response", .requirement("J2"))
    func removing() async throws {
        let (fixture, transport) = try fixture()
        _ = try await fixture.loader.load(url)
        #expect(try await fixture.loader.remove(url))
        #expect(try await fixture.loader.load(url).source == .network)
        #expect(transport.requests.last?.headerFields[.ifNoneMatch] == nil)
        try await fixture.loader.insert(Data("mine".utf8), for: url)
        #expect(try await fixture.loader.load(url).text == "mine")
        let post = ResourceRequest(url, method: .post, content: Data("x".utf8))
        _ = try await fixture.loader.load(post)
        #expect(try await fixture.loader.load(url).source == .network)
    }

    @Test(
        "Clearing memory keeps the store; clearing the store removes its values; each is reported", .requirement("J3"),
        arguments: ResourceLoader.ClearScope.allCases)
    func clearing(scope: ResourceLoader.ClearScope) async throws {
        let (fixture, _) = try fixture()
        _ = try await fixture.loader.load(url)
        let sentinel = fixture.directory.url.appending(path: "sentinel")
        try Data("foreign".utf8).write(to: sentinel)
        let report = try await fixture.loader.clear(scope)
        #expect(report.memory?.count == (scope == .disk ? nil : 1))
        #expect(report.disk?.entries == (scope == .memory ? nil : 1))
        #expect(try fixture.loader.contains(url) == (scope == .memory))
        let source = try await fixture.loader.load(url).source
        #expect(source == (scope == .memory ? .disk : .network))
        #expect(FileManager.default.fileExists(atPath: sentinel.path))
    }

    @Test("A load that began before a removal delivers, but leaves nothing in store or memory", .requirement("J4"))
    func removedMeanwhile() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        fixture.loader.configuration.memoryLimit = 1 << 20
        async let load = fixture.loader.load(url)
        await gate.reached(1)
        try await fixture.loader.clear(.all)
        gate.open()
        #expect(try await load.text == "body")
        #expect(try !fixture.loader.contains(url))
        #expect(try await fixture.loader.load(url).source == .network)
    }

    private final class Picture: Sendable {
        let bytes: Int
        init(_ bytes: Int) { self.bytes = bytes }
    }

    @Test("Finds a value that the program still holds after memory was freed", .requirement("G7"))
    func heldElsewhere() async throws {
        let (fixture, _) = try fixture()
        let decoder = ClosureProcessor<Data, Picture>(ProcessorID("picture")) { [runs] data, _ in
            runs.next()
            return Picture(data.count)
        }
        let held = try await fixture.loader.load(url, as: decoder).value
        fixture.loader.evictMemory()
        let again = try await fixture.loader.load(url, as: decoder)
        #expect(again.value === held)
        #expect(runs.count == 1)
    }
}
