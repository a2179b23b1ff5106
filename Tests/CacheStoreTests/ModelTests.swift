import TestSupport

/// The expected content of a store, kept in a dictionary.
private struct Model {
    struct Row: Hashable {
        var key: CacheKey
        var kind: EntryMetadata.Kind
        var variant: String
    }

    struct Entry {
        var body: Data
        var metadata: EntryMetadata
        var createdAt: Date
        var accessedAt: Date
        var forms: [String: Data] = [:]

        var bodies: [Data] { [body] + forms.values }
    }

    var entries: [Row: Entry] = [:]
    var failures: [CacheKey: Int] = [:]
    var hits = 0

    var bodies: Set<Data> { Set(entries.values.flatMap(\.bodies)).subtracting([Data()]) }
    var logicalBytes: Int { entries.values.reduce(0) { $0 + $1.bodies.reduce(0) { $0 + $1.count } } }
    var physicalBytes: Int { bodies.reduce(0) { $0 + $1.count } }

    func content(_ key: CacheKey) -> (row: Row, entry: Entry)? {
        entries.filter { $0.key.key == key && $0.key.kind == .content }
            .max { $0.value.metadata.receivedAt < $1.value.metadata.receivedAt }
            .map { ($0.key, $0.value) }
    }

    mutating func evict(to maxBytes: Int) -> Int {
        let before = entries.count
        while physicalBytes > maxBytes {
            guard let victim = entries.min(by: { $0.value.accessedAt < $1.value.accessedAt }) else { break }
            entries[victim.key] = nil
        }
        return before - entries.count
    }
}

@Suite("ResponseStore against a model")
struct ModelTests {
    @Test("1,000 random operations have the same effect as on a dictionary", arguments: 0..<3)
    func random(_: Int) throws {
        var generator = SeededGenerator()
        let seed = Comment(rawValue: generator.description)
        let sandbox = Sandbox()
        let bodies = (0..<25).map { Data.noise([0, 1, 100, 5_000, 300_000][$0 % 5], seed: UInt64($0)) }
        let keys = try (0..<20).map { try CacheKey(url: "http://a.com/\($0 / 2)", partition: $0 % 2 == 0 ? "" : "p") }
        var model = Model()
        func open() throws -> ResponseStore { try sandbox.open() }
        var store = try open()

        for _ in 0..<1_000 {
            // Each operation has a different millisecond, which makes the order deterministic.
            sandbox.clock.advance(by: 1)
            let key = keys.randomElement(using: &generator) ?? keys[0]
            switch Int.random(in: 0..<100, using: &generator) {
            case ..<35:
                let lifetime =
                    [nil, Double(Int.random(in: -400...400, using: &generator)) + 0.5]
                    .randomElement(using: &generator) ?? nil
                let kind: EntryMetadata.Kind = Int.random(in: 0..<5, using: &generator) == 0 ? .error : .content
                var metadata = sandbox.metadata(
                    kind, variant: Bool.random(using: &generator) ? "" : "v", etag: "\"\(generator.next())\"")
                // The fraction distinguishes this expiry from all others.
                metadata.expiresAt = lifetime.map {
                    sandbox.clock.now + $0 + Double(Int(sandbox.clock.now.timeIntervalSince1970) % 1_000) / 2_000
                }.map { Date(timeIntervalSince1970: ($0.timeIntervalSince1970 * 1000).rounded() / 1000) }
                let body = bodies.randomElement(using: &generator) ?? Data()
                try store.insert(body, metadata: metadata, for: key)
                let row = Model.Row(key: key, kind: kind, variant: metadata.variant)
                // An entry that gets the same bytes keeps its derived representations.
                let forms = model.entries[row].map { $0.body == body ? $0.forms : [:] } ?? [:]
                model.entries[row] = .init(
                    body: body, metadata: metadata, createdAt: sandbox.clock.now, accessedAt: sandbox.clock.now,
                    forms: forms)
                if kind == .content { model.failures[key] = nil }
            case ..<60:
                let found = try store.lookup(key)
                let expected = model.content(key)
                #expect(found?.metadata == expected?.entry.metadata, seed)
                #expect(found?.createdAt == expected?.entry.createdAt, seed)
                guard let found, let expected else { continue }
                #expect(try store.openBody(of: found)?.data() == expected.entry.body, seed)
                for name in ["x", "y"] {
                    let form = try store.openDerived(name: name, of: found)?.data()
                    #expect(form == expected.entry.forms[name], seed)
                }
                model.entries[expected.row]?.accessedAt = sandbox.clock.now
                model.hits += 1
            case ..<67:
                guard let entry = try store.peek(key) else { continue }
                var metadata = entry.metadata
                metadata.etag = "\"freshened \(generator.next())\""
                #expect(try store.freshen(entry, with: metadata), seed)
                model.entries[.init(key: key, kind: .content, variant: metadata.variant)]?.metadata = metadata
                model.failures[key] = nil
            case ..<74:
                guard let entry = try store.peek(key), let row = model.content(key)?.row else { continue }
                let name = Bool.random(using: &generator) ? "x" : "y"
                let form = bodies.randomElement(using: &generator) ?? Data()
                #expect(try store.insertDerived(form, name: name, of: entry), seed)
                model.entries[row]?.forms[name] = form
            case ..<80:
                let rows = model.entries.keys.filter { $0.key == key }
                #expect(try store.remove(key) == (!rows.isEmpty || model.failures[key] != nil), seed)
                for row in rows { model.entries[row] = nil }
                model.failures[key] = nil
            case ..<90:
                model.failures[key, default: 0] += 1
                #expect(try store.recordFailure(for: key, status: 500) == model.failures[key], seed)
            case ..<96:
                // Pending accesses take pages, too.
                try store.flush()
                // Further pages of the index count, but the model has none.
                guard try store.statistics().indexBytes == Connection.emptyPageCount * 4_096 else { continue }
                let limit = Int.random(in: 0...max(1, model.physicalBytes * 5 / 4), using: &generator)
                let expected = model.evict(to: limit)
                let statistics = try store.statistics()
                let report = try store.evict(maxBytes: Int64(limit))
                let after = try store.statistics()
                #expect(report.entries == expected, "\(seed) limit \(limit) before \(statistics) after \(after)")
            default:
                store.close()
                store = try open()
            }
        }

        try store.flush()
        let statistics = try store.statistics()
        #expect(statistics.entries == model.entries.count, seed)
        #expect(statistics.files == model.bodies.count, seed)
        #expect(statistics.logicalBytes == Int64(model.logicalBytes), seed)
        #expect(statistics.physicalBytes == Int64(model.physicalBytes), seed)
        #expect(statistics.hits == model.hits, seed)
        #expect(statistics.failingKeys == model.failures.count, seed)
        #expect(sandbox.files().count == statistics.files, seed)
        #expect(try store.check(digests: true).problems == [], seed)
        for key in keys {
            #expect(try store.failure(for: key)?.count == model.failures[key], seed)
            let rows = model.entries.keys.filter { $0.key == key }
            #expect(try store.responses(for: key).count == rows.count, seed)
        }
    }
}
