import TestSupport

@Suite("Derived bodies")
struct DerivedTests {
    let sandbox = Sandbox()
    let store: ResponseStore
    let image = Data.noise(5_000, seed: 1)
    let small = Data.noise(300, seed: 2)
    let large = Data.noise(2_000, seed: 3)

    init() throws { store = try sandbox.open() }

    /// Stores a tagged entry with two derived representations in a separate partition.
    @discardableResult
    private func fill(options: EntryOptions = EntryOptions(tags: ["x"])) throws -> StoredEntry {
        let entry = try store.insert(image, metadata: sandbox.metadata(), for: key, options: options)
        #expect(try store.insertDerived(small, name: "small", of: entry))
        #expect(try store.insertDerived(large, name: "large", of: entry))
        return entry
    }

    private var key: CacheKey { get throws { try CacheKey(url: "https://example.com/image", partition: "p") } }

    private func rowCount() throws -> String? { try RawIndex(sandbox.indexPath).value("SELECT count(*) FROM derived") }

    private func bytes(_ store: ResponseStore, _ name: String, _ entry: StoredEntry) throws -> Data? {
        try store.openDerived(name: name, of: entry)?.data()
    }

    // MARK: Finding

    @Test("a store finds a derived representation by entry and name, also reopened; it is no entry", .requirement("F4"))
    func found() async throws {
        let entry = try fill()
        let other = try await store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
        for store in [try sandbox.open { $0.isReadOnly = true }, try sandbox.open(), store] {
            #expect(try bytes(store, "small", entry) == small)
            #expect(try bytes(store, "large", entry) == large)
            #expect(try bytes(store, "small", other) == nil)
            #expect(try bytes(store, "Small", entry) == nil)
            #expect(try bytes(store, "", entry) == nil)
            #expect(try store.responses(for: key).count == 1)
            #expect(try store.statistics().entries == 2)
            store.close()
        }
        let reopened = try sandbox.open()
        #expect(try bytes(reopened, "small", entry) == small)
        #expect(try await reopened.check(digests: true).problems == [])
    }

    @Test("Statistics and views count derived representations as logical and physical bytes, not as entries")
    func sums() throws {
        let entry = try fill()
        // The same bytes under another name, and as a body, share one file.
        #expect(try store.insertDerived(small, name: "same", of: entry))
        try store.insert(small, metadata: sandbox.metadata(), for: .path("small"))
        #expect(try store.insertDerived(Data(), name: "empty", of: entry))
        #expect(try store.openDerived(name: "empty", of: entry)?.byteCount == 0)
        let statistics = try store.statistics()
        #expect(statistics.entries == 2)
        #expect(statistics.files == 3)
        #expect(statistics.derivedBodies == 4)
        #expect(statistics.derivedBytes == 2_600)
        #expect(statistics.logicalBytes == 5_000 + 300 + 2_600)
        #expect(statistics.physicalBytes == 7_300)
        #expect(statistics.limitedBytes >= 7_300)
        #expect(
            try store.query("SELECT entries, derived_bodies, derived_bytes FROM cache_stats").rows
                == [[.integer(2), .integer(4), .integer(2_600)]])
        let digest = ContentDigest(of: small).description
        let expected: [[SQLValue]] = [
            [.text("empty"), .integer(0), .null],
            [.text("large"), .integer(2_000), .text(ContentDigest(of: large).description)],
            [.text("same"), .integer(300), .text(digest)], [.text("small"), .integer(300), .text(digest)],
        ]
        #expect(try store.query("SELECT name, byte_size, sha256 FROM cache_derived ORDER BY name").rows == expected)
        let row = try #require(try store.query("SELECT * FROM cache_derived WHERE name = 'same'").first)
        #expect(try Data(contentsOf: sandbox.url.appending(path: row["file_path"]?.text ?? "")) == small)
        #expect(row["entry_id"]?.integer == entry.id)
        #expect(row["created_at"]?.text == "1994-11-06T08:49:37.000Z")
        #expect(row["partition"]?.text == "p")
        #expect(row["key"]?.text == "https://example.com/image")
        #expect(try store.query("SELECT sum(byte_size) FROM cache_hosts").rows == [[.integer(5_300)]])
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a lookup counts as one access, even if only a derived representation is read", .requirement("J1"))
    func use() throws {
        let entry = try fill()
        sandbox.clock.advance(by: 1)
        try store.insert(Data.noise(5_000, seed: 7), metadata: sandbox.metadata(), for: .path("later"))
        sandbox.clock.advance(by: 1)
        let found = try #require(try store.lookup(entry.key))
        #expect(try bytes(store, "small", found) == small)
        #expect(try store.evict(.maxEntries(1)).entries == 1)
        #expect(try bytes(store, "small", found) == small)
        #expect(try store.statistics().hits == 1)
    }

    // MARK: Removing

    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case remove, removeEntry, invalidate, tag, partition, clear, evictBytes, evictEntries, unused, old, replacement
        case emptied, variants, lapse, damagedOriginal, repair, foreignSQL

        var testDescription: String { rawValue }

        func callAsFunction(_ test: DerivedTests, _ store: ResponseStore, _ entry: StoredEntry) async throws {
            let metadata = test.sandbox.metadata()
            switch self {
            case .remove: #expect(try await store.remove(entry.key))
            case .removeEntry: #expect(try await store.remove(entry))
            case .invalidate: #expect(try await store.invalidate([entry.key]) == 1)
            case .tag: #expect(try await store.removeAll(.tag("x")).bytes == 7_300)
            case .partition: #expect(try await store.removeAll(.partition("p")).entries == 1)
            case .clear: #expect(try await store.clear().bytes == 7_300)
            case .evictBytes: #expect(try store.evict(maxBytes: 7_299).bytes == 7_300)
            case .evictEntries: #expect(try await store.evict(.maxEntries(0)).bytes == 7_300)
            case .unused: #expect(try await store.evict(.unusedFor(.zero)).bytes == 7_300)
            case .old: #expect(try await store.evict(.olderThan(.zero)).bytes == 7_300)
            case .replacement: try await store.insert(Data("new".utf8), metadata: metadata, for: entry.key)
            case .emptied: try await store.insert(Data(), metadata: metadata, for: entry.key)
            case .variants:
                for number in 0..<Int(Connection.maxVariants) {
                    test.sandbox.clock.advance(by: 1)
                    let newer = test.sandbox.metadata(variant: "\(number)")
                    try await store.insert(Data("\(number)".utf8), metadata: newer, for: entry.key)
                }
            case .lapse:
                try await store.setOptions(.init(lifetime: .session), for: entry.key)
                store.close()
                let next = try test.sandbox.open()
                #expect(try test.bytes(next, "small", entry) == nil)
                #expect(try await next.insertDerived(test.small, name: "late", of: entry) == false)
                #expect(try next.query("SELECT * FROM cache_derived").isEmpty)
                try await next.flush()
            case .damagedOriginal:
                let file = test.sandbox.file(of: ContentDigest(of: test.image))
                try Data.noise(5_000, seed: 9).write(to: file)
                try file.alteredLater()
                #expect(try store.openBody(of: entry) == nil)
            case .repair:
                try FileManager.default.removeItem(at: test.sandbox.file(of: ContentDigest(of: test.image)))
                #expect(try await !store.repair().isSound)
            case .foreignSQL:
                try RawIndex(test.sandbox.indexPath).execute("DELETE FROM entry")
            }
        }
    }

    @Test(
        "every removal of an entry removes its derived representations, rows and files", .requirement("F4", "J2", "J3"),
        arguments: Way.allCases)
    func gone(_ way: Way) async throws {
        let entry = try fill()
        sandbox.clock.advance(by: 1)
        try await way(self, store, entry)
        #expect(try rowCount() == "0")
        let reader = try sandbox.open()
        for name in ["small", "large"] { #expect(try bytes(reader, name, entry) == nil) }
        #expect(try await reader.insertDerived(small, name: "late", of: entry) == false)
        try await reader.sweep()
        try await reader.flush()
        for body in [small, large] {
            #expect(!FileManager.default.fileExists(atPath: sandbox.file(of: ContentDigest(of: body)).path()))
        }
        let statistics = try reader.statistics()
        #expect(statistics.derivedBodies == 0)
        #expect(statistics.derivedBytes == 0)
        #expect(try await reader.check(digests: true).problems == [])
    }

    @Test("derived representations leave in their entry's transaction, and return by its rollback", .requirement("J2"))
    func oneTransaction() throws {
        let entry = try fill()
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("BEGIN IMMEDIATE; DELETE FROM entry")
        #expect(try index.value("SELECT count(*) FROM derived") == "0")
        #expect(try index.value("SELECT derived_count + derived_bytes + logical_bytes FROM total") == "0")
        #expect(try index.value("SELECT count(*) FROM blob WHERE reference_count > 0") == "0")
        try index.execute("ROLLBACK")
        #expect(try bytes(store, "large", entry) == large)
        try index.execute("BEGIN IMMEDIATE; UPDATE entry SET body = NULL, byte_count = 0")
        #expect(try index.value("SELECT count(*) FROM derived") == "0")
        try index.execute("ROLLBACK")
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a 304, new options, an equal body and other variants keep the derived representations", .requirement("F4"))
    func kept() async throws {
        let entry = try fill()
        #expect(try await store.freshen(entry, with: sandbox.metadata(etag: "\"2\"")))
        try await store.setOptions(.init(isPinned: true, tags: []), for: entry.key)
        sandbox.clock.advance(by: 5)
        let again = try await store.insert(image, metadata: sandbox.metadata(etag: "\"3\""), for: entry.key)
        let variant = try await store.insert(image, metadata: sandbox.metadata(variant: "v"), for: entry.key)
        #expect(try await store.insertDerived(Data("v".utf8), name: "small", of: variant))
        #expect(try bytes(store, "small", variant) == Data("v".utf8))
        #expect(try await store.remove(variant))
        #expect(try await store.remove(.path("other")) == false)
        try await store.repair(digests: true)
        #expect(try bytes(store, "small", again) == small)
        #expect(try bytes(store, "large", again) == large)
        // A replaced entry has another id.
        #expect(try bytes(store, "small", entry) == nil)
        #expect(try bytes(store, "small", variant) == nil)
        #expect(try rowCount() == "2")
        #expect(try await store.check(digests: true).problems == [])
    }

    // MARK: Storing

    @Test("a representation derived from a replaced body or a removed entry is not stored")
    func outdated() async throws {
        let entry = try fill()
        let newer = try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: entry.key)
        #expect(try await store.insertDerived(small, name: "small", of: entry) == false)
        #expect(try await store.insertDerived(small, name: "small", of: newer))
        #expect(try bytes(store, "small", entry) == nil)
        try await store.remove(entry.key)
        let stranger = try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("stranger"))
        #expect(stranger.id != newer.id)
        #expect(stranger.digest == newer.digest)
        #expect(try await store.insertDerived(small, name: "small", of: newer) == false)
        #expect(try await store.insertDerived(large, name: "small", of: stranger))
        #expect(try bytes(store, "small", newer) == nil)
        try await store.flush()
        #expect(sandbox.files().count == 2)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a derived representation replaces its namesake, and deletes its file")
    func replaced() async throws {
        let entry = try fill()
        for body in [large, Data(), small, image] {
            #expect(try await store.insertDerived(body, name: "small", of: entry))
            #expect(try bytes(store, "small", entry) == body)
            #expect(try await store.check(digests: true).problems == [])
        }
        try await store.flush()
        let statistics = try store.statistics()
        #expect(statistics.derivedBodies == 2)
        #expect(statistics.files == 2)
        // The entry's body shares its file with a derived representation.
        try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: entry.key)
        try await store.flush()
        #expect(sandbox.files().count == 1)
    }

    @Test("each entry keeps its latest 64 derived representations")
    func bounded() throws {
        let entry = try fill()
        for number in 0..<Int(Connection.maxDerived) {
            sandbox.clock.advance(by: 1)
            #expect(try store.insertDerived(Data("\(number)".utf8), name: "\(number)", of: entry))
        }
        #expect(try rowCount() == "\(Connection.maxDerived)")
        #expect(try bytes(store, "small", entry) == nil)
        #expect(try bytes(store, "large", entry) == nil)
        #expect(try bytes(store, "0", entry) == Data("0".utf8))
        // The newest representation stays, even after the clock was set back.
        sandbox.clock.advance(by: -1_000)
        #expect(try store.insertDerived(Data("early".utf8), name: "early", of: entry))
        #expect(try bytes(store, "early", entry) == Data("early".utf8))
        #expect(try bytes(store, "0", entry) == nil)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test(
        "names are any text of 1 to 1,024 bytes without NUL, compared byte by byte",
        arguments: [
            ("", "it is empty"), (String(repeating: "é", count: 513), "it has more than 1024 bytes"),
            ("a\0b", "it contains a NUL character"),
        ])
    func invalidName(_ name: String, _ reason: String) async throws {
        let entry = try fill()
        let error = StoreError.invalidName(name, reason: reason)
        #expect(throws: error) { try store.insertDerived(small, name: name, of: entry) }
        await #expect(throws: error) { try await store.insertDerived(small, name: name, of: entry) }
        #expect(error.description.contains(reason))
        #expect(try store.openDerived(name: name, of: entry) == nil)
        for (number, name) in ["e\u{301}", "\u{e9}", "../../x", "' OR 1", String(repeating: "é", count: 512)]
            .enumerated()
        {
            #expect(try await store.insertDerived(Data("\(number)".utf8), name: name, of: entry))
            #expect(try bytes(store, name, entry) == Data("\(number)".utf8))
        }
        #expect(try rowCount() == "7")
    }
}
