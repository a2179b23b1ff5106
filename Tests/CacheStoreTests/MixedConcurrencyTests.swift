import TestSupport

@Suite("Concurrent use of the whole interface")
struct MixedConcurrencyTests {
    private static let operationCount = Repetitions.count(1_000, debug: 150)

    /// A body that begins with its key, followed by noise. All keys share some bodies.
    private static func body(of key: Int, _ generator: inout SeededGenerator) -> Data {
        let owner = Int.random(in: 0..<5, using: &generator) == 0 ? "all" : "\(key)"
        return Data("\(owner)|".utf8)
            + .noise([0, 50, 6_000, 300_000][Int(generator.next() % 4)], seed: generator.next() % 8)
    }

    /// Runs one random call of the store's interface, synchronous or asynchronous, and checks its result.
    static func act(on store: ResponseStore, _ generator: inout SeededGenerator, _ sandbox: Sandbox) async throws {
        let number = Int.random(in: 0..<60, using: &generator)
        let key = try CacheKey(
            url: "https://host-\(number % 3).test/\(number)", partition: number % 2 == 0 ? "" : "odd")
        let options = EntryOptions(
            lifetime: number % 5 == 0 ? .session : .permanent, isPinned: number % 11 == 0, tags: ["tag-\(number % 4)"])
        switch Int.random(in: 0..<1_000, using: &generator) {
        case ..<700:
            guard let entry = try store.lookup(key), let body = try store.openBody(of: entry) else { return }
            let data = try body.data()
            #expect(entry.digest == ContentDigest(of: data))
            let owner = String(decoding: data.prefix { $0 != UInt8(ascii: "|") }, as: UTF8.self)
            #expect(owner == "\(number)" || owner == "all")
            // A representation of other bytes would differ.
            let form = Data("form of \(entry.digest?.description ?? "nothing")".utf8)
            if let found = try store.openDerived(name: "form", of: entry)?.data() {
                #expect(found == form)
            } else if Int.random(in: 0..<3, using: &generator) == 0 {
                try await store.insertDerived(form, name: "form", of: entry)
            }
        case ..<760: _ = try store.contains(key)
        case ..<800: _ = try store.statistics()
        case ..<810: _ = try store.query("SELECT * FROM cache_stats")
        case ..<870:
            try await store.insert(
                body(of: number, &generator), metadata: sandbox.metadata(), for: key, options: options)
        case ..<900: try await storeUnlessRemoved(body(of: number, &generator), key, store, sandbox)
        case ..<920: if let entry = try store.peek(key) { try await store.freshen(entry, with: sandbox.metadata()) }
        case ..<940: try await store.remove(key)
        case ..<955: try await store.recordFailure(for: key, status: 503)
        case ..<965: try await store.setOptions(options, for: key)
        case ..<972: try await store.removeAll(.tag("tag-\(number % 4)"))
        case ..<978: try await store.removeAll(.partition("odd"))
        case ..<984: try await store.evict(.maxEntries(30))
        case ..<988: try await store.evict(.maxBytes(60_000))
        case ..<992: _ = try await store.removeAll(.host("host-1.test"), dryRun: true)
        case ..<995: try await store.flush()
        case ..<997: try await store.sweep()
        case ..<998: try await store.clear()
        default: sandbox.clock.advance(by: 1)
        }
    }

    private static func storeUnlessRemoved(
        _ body: Data, _ key: CacheKey, _ store: ResponseStore, _ sandbox: Sandbox
    ) async throws {
        let generation = try store.generation()
        let writer = store.makeBodyWriter()
        try writer.write(body)
        do {
            try await writer.commit(sandbox.metadata(), for: key, unlessRemovedSince: generation)
        } catch StoreError.removedMeanwhile(key) {
            // Another task was faster.
        }
    }

    @Test("50 tasks use two stores of a directory; another directory's limits are unaffected", .requirement("K6"))
    func everything() async throws {
        let sandbox = Sandbox()
        let stores = try (0..<2).map { _ in
            try sandbox.open { $0.limits = Limits(maxBytes: 3_000_000, maxEntries: 45, maxEntryBytes: 400_000) }
        }
        let neighbour = Sandbox()
        let other = try neighbour.open { $0.limits = Limits(maxEntries: 7, lowWaterMark: 1) }
        for number in 0..<7 {
            try await other.insert(Data("other".utf8), metadata: neighbour.metadata(), for: .path(number))
        }
        let seed = SeededGenerator()
        try await withThrowingTaskGroup { group in
            for task in 0..<50 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed.seed &+ UInt64(task))
                    for _ in 0..<Self.operationCount {
                        do {
                            try await Self.act(on: stores[task % 2], &generator, sandbox)
                        } catch StoreError.bodyTooLarge {
                            // The tasks store more concurrent bodies than the limit allows.
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores { try await store.flush() }
        #expect(try await stores[0].check(digests: true).problems == [], "\(seed)")
        let statistics = try stores[0].statistics()
        #expect(try stores[1].statistics() == statistics)
        #expect(statistics.entries <= 45)
        #expect(statistics.physicalBytes <= 3_000_000)
        #expect(sandbox.files().count == statistics.files)
        #expect(try other.statistics().entries == 7)
    }

    @Test("suspending, resuming and closing during operations gives typed errors, and loses or leaves nothing")
    func lifecycle() async throws {
        let sandbox = Sandbox()
        let store = try sandbox.open { $0.limits = Limits(maxBytes: 3_000_000, maxEntryBytes: 400_000) }
        let seed = SeededGenerator()
        try await withThrowingTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed.seed &+ UInt64(task))
                    while true {
                        do {
                            try await Self.act(on: store, &generator, sandbox)
                        } catch StoreError.suspended {
                            await Task.yield()
                        } catch StoreError.bodyTooLarge {
                            // The tasks store more concurrent bodies than the limit allows.
                        } catch StoreError.closed {
                            return
                        }
                    }
                }
            }
            for _ in 0..<40 {
                store.suspend()
                await Task.yield()
                try store.resume()
                for _ in 0..<50 { await Task.yield() }
            }
            store.close()
            try await group.waitForAll()
        }
        let reopened = try sandbox.open()
        try await reopened.sweep()
        #expect(try await reopened.check(digests: true).problems == [], "\(seed)")
    }
}
