import TestSupport

@Suite("Concurrent use of the whole interface")
struct MixedConcurrencyTests {
    private static let operationCount = Repetitions.count(1_000, debug: 150)

    /// Runs one random call of the store's interface, synchronous or asynchronous, and checks its result.
    private static func act(
        on store: ResponseStore, _ generator: inout SeededGenerator, _ sandbox: Sandbox
    ) async throws {
        let number = Int.random(in: 0..<60, using: &generator)
        let key = try CacheKey(
            url: "https://host-\(number % 3).test/\(number)", partition: number % 2 == 0 ? "" : "odd")
        let body = Data("\(number)|".utf8) + Data.noise(Int.random(in: 0..<6_000, using: &generator), seed: 1)
        let options = EntryOptions(
            lifetime: number % 5 == 0 ? .session : .permanent, isPinned: number % 11 == 0, tags: ["tag-\(number % 4)"])
        switch Int.random(in: 0..<1_000, using: &generator) {
        case ..<700:
            guard let entry = try store.lookup(key), let body = try store.openBody(of: entry) else { return }
            let data = try body.data()
            #expect(String(decoding: data.prefix { $0 != UInt8(ascii: "|") }, as: UTF8.self) == "\(number)")
        case ..<760: _ = try store.contains(key)
        case ..<800: _ = try store.statistics()
        case ..<810: _ = try store.query("SELECT * FROM cache_stats")
        case ..<870: try await store.insert(body, metadata: sandbox.metadata(), for: key, options: options)
        case ..<900:
            try await storeUnlessRemoved(body, key, store, sandbox)
        case ..<920: if let entry = try store.peek(key) { try await store.freshen(entry, with: sandbox.metadata()) }
        case ..<940: try await store.remove(key)
        case ..<955: try await store.recordFailure(for: key, status: 503)
        case ..<965: try await store.setOptions(options, for: key)
        case ..<972: try await store.removeAll(.tag("tag-\(number % 4)"))
        case ..<978: try await store.removeAll(partition: "odd")
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

    @Test("50 tasks run 1,000 operations each; a second store's limits are unaffected", .requirement("K6"))
    func everything() async throws {
        let sandbox = try Sandbox()
        let limits = Limits(maxBytes: 120_000, maxEntries: 45)
        let store = try sandbox.open { $0.limits = limits }
        let neighbour = try Sandbox()
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
                            try await Self.act(on: store, &generator, sandbox)
                        } catch StoreError.bodyTooLarge {
                            // The tasks store more concurrent bodies than the limit allows.
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await store.flush()
        #expect(try await store.check(digests: true).problems == [], "\(seed)")
        let statistics = try store.statistics()
        #expect(statistics.entries <= 45)
        #expect(statistics.physicalBytes <= 120_000)
        #expect(sandbox.files().count == statistics.files)
        #expect(try other.statistics().entries == 7)
    }

    @Test("suspending, resuming and closing during operations gives typed errors, and loses or leaves nothing")
    func lifecycle() async throws {
        let sandbox = try Sandbox()
        let store = try sandbox.open { $0.limits = Limits(maxBytes: 120_000) }
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
