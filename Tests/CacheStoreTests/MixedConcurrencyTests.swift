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

    /// A change of the store that has a synchronous and an asynchronous overload.
    private enum Change {
        case insert(Data, EntryMetadata, CacheKey, EntryOptions)
        case insertDerived(Data, StoredEntry)
        case freshen(StoredEntry, EntryMetadata)
        case remove(CacheKey)
        case recordFailure(CacheKey)

        /// Calls one of the two overloads, at random.
        func apply(to store: ResponseStore, _ generator: inout SeededGenerator) async throws {
            if Bool.random(using: &generator) {
                try applySynchronously(to: store)
            } else {
                try await applyAsynchronously(to: store)
            }
        }

        /// Calls the synchronous overloads. In an asynchronous function, the compiler would select the others.
        private func applySynchronously(to store: ResponseStore) throws {
            switch self {
            case .insert(let body, let metadata, let key, let options):
                try store.insert(body, metadata: metadata, for: key, options: options)
            case .insertDerived(let data, let entry): try store.insertDerived(data, name: "form", of: entry)
            case .freshen(let entry, let metadata): try store.freshen(entry, with: metadata)
            case .remove(let key): try store.remove(key)
            case .recordFailure(let key): try store.recordFailure(for: key, status: 503)
            }
        }

        private func applyAsynchronously(to store: ResponseStore) async throws {
            switch self {
            case .insert(let body, let metadata, let key, let options):
                try await store.insert(body, metadata: metadata, for: key, options: options)
            case .insertDerived(let data, let entry): try await store.insertDerived(data, name: "form", of: entry)
            case .freshen(let entry, let metadata): try await store.freshen(entry, with: metadata)
            case .remove(let key): try await store.remove(key)
            case .recordFailure(let key): try await store.recordFailure(for: key, status: 503)
            }
        }
    }

    /// The numbers of calls of three kinds among 1,000 calls. The rest are other changes and maintenance.
    struct Mix {
        var lookups = 700
        var otherReads = 110
        var inserts = 60

        static let manyChanges = Mix(lookups: 450, otherReads: 20, inserts: 300)
    }

    /// Runs one random call of the store's interface and checks its result.
    ///
    /// Each ``Change`` uses its synchronous or its asynchronous overload, at random. Other changes use the asynchronous
    /// overload.
    static func act(
        on store: ResponseStore, _ generator: inout SeededGenerator, _ sandbox: Sandbox, _ mix: Mix = Mix()
    ) async throws {
        let number = Int.random(in: 0..<60, using: &generator)
        let key = try CacheKey(
            url: "https://host-\(number % 3).test/\(number)", partition: number % 2 == 0 ? "" : "odd")
        let options = EntryOptions(
            lifetime: number % 5 == 0 ? .session : .permanent, isPinned: number % 11 == 0, tags: ["tag-\(number % 4)"])
        switch Int.random(in: 0..<1_000, using: &generator) {
        case ..<mix.lookups:
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
                try await Change.insertDerived(form, entry).apply(to: store, &generator)
            }
        case ..<(mix.lookups + mix.otherReads):
            switch Int.random(in: 0..<11, using: &generator) {
            case ..<6: _ = try store.contains(key)
            case ..<10: _ = try store.statistics()
            default: _ = try store.query("SELECT * FROM cache_stats")
            }
        case ..<(mix.lookups + mix.otherReads + mix.inserts):
            let body = Self.body(of: number, &generator)
            try await Change.insert(body, sandbox.metadata(), key, options).apply(to: store, &generator)
        default: try await changeOtherwise(key, number, options, store, &generator, sandbox)
        }
    }

    /// Runs one random change other than `insert`, or one step of maintenance.
    private static func changeOtherwise(
        _ key: CacheKey, _ number: Int, _ options: EntryOptions, _ store: ResponseStore,
        _ generator: inout SeededGenerator, _ sandbox: Sandbox
    ) async throws {
        switch Int.random(in: 0..<130, using: &generator) {
        case ..<30: try await storeUnlessRemoved(body(of: number, &generator), key, store, sandbox)
        case ..<50:
            guard let entry = try store.peek(key) else { return }
            try await Change.freshen(entry, sandbox.metadata()).apply(to: store, &generator)
        case ..<70: try await Change.remove(key).apply(to: store, &generator)
        case ..<85: try await Change.recordFailure(key).apply(to: store, &generator)
        case ..<95: try await store.setOptions(options, for: key)
        case ..<102: try await store.removeAll(.tag("tag-\(number % 4)"))
        case ..<108: try await store.removeAll(.partition("odd"))
        case ..<114: try await store.evict(.maxEntries(30))
        case ..<118: try await store.evict(.maxBytes(60_000))
        case ..<122: _ = try await store.removeAll(.host("host-1.test"), dryRun: true)
        case ..<125: try await store.flush()
        case ..<127: try await store.sweep()
        case ..<128: try await store.clear()
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
            try sandbox.open {
                $0.limits = Limits(maxBytes: 1_200_000, maxEntries: 45, maxEntryBytes: 400_000)
                $0.readerCount = 2
            }
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
                        } catch StoreError.exceedsLimits {
                            // The pinned entries leave no room for the body.
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
        #expect(statistics.physicalBytes <= 1_200_000)
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
