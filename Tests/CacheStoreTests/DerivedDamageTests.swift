import TestSupport

/// Derived bodies follow the limits and the damage rules of all bodies.
@Suite("Limits and damage of derived bodies")
struct DerivedDamageTests {
    let sandbox = Sandbox()
    let form = Data.noise(2_000, seed: 3)

    private func entry(_ store: ResponseStore, _ name: String, options: EntryOptions = EntryOptions()) throws
        -> StoredEntry
    {
        try sandbox.fill(store, [name], options: options)
        return try #require(try store.peek(.path(name)))
    }

    // MARK: Limits

    @Test("a derived representation counts in the limits, and evicts the least recently used", .requirement("J5"))
    func limits() async throws {
        let store = try sandbox.open { $0.limits = Limits(maxBytes: 6_000, maxEntryBytes: 4_000, lowWaterMark: 1) }
        try sandbox.fill(store, ["a", "b", "c", "d"])
        let entry = try #require(try store.peek(.path("d")))
        #expect(try await store.insertDerived(form, name: "form", of: entry))
        #expect(try sandbox.names() == ["a", "b", "c", "d"])
        #expect(try await store.insertDerived(Data.noise(2_000, seed: 4), name: "other", of: entry))
        #expect(try sandbox.names() == ["c", "d"])
        #expect(try sandbox.size().bytes <= 6_000)
        #expect(try await store.insertDerived(Data.noise(4_001, seed: 5), name: "large", of: entry) == false)
        #expect(try store.openDerived(name: "form", of: entry)?.data() == form)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a representation that fits only by evicting a pinned entry, or its own, is not stored")
    func noRoom() async throws {
        let store = try sandbox.open { $0.limits = Limits(maxBytes: 6_000, maxEntryBytes: 6_000, lowWaterMark: 1) }
        let pinned = try entry(store, "pinned", options: EntryOptions(isPinned: true))
        try sandbox.fill(store, ["other"])
        #expect(try await store.insertDerived(Data.noise(5_500, seed: 5), name: "form", of: pinned) == false)
        #expect(try store.openDerived(name: "form", of: pinned) == nil)
        #expect(try await store.insertDerived(Data.noise(4_000, seed: 6), name: "form", of: pinned))
        try await store.setOptions(EntryOptions(isPinned: false), for: pinned.key)
        #expect(try await store.insertDerived(Data.noise(5_500, seed: 5), name: "form", of: pinned) == false)
        try await store.flush()
        #expect(try store.statistics().physicalBytes == sandbox.size().bodyBytes)
        #expect(try sandbox.size().bytes <= 6_000)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a dry run counts a shared derived representation once, with the last entry that needs it", arguments: 0..<6)
    func dryRuns(_ round: Int) throws {
        var generator = SeededGenerator()
        let store = try sandbox.open()
        for number in 0..<40 {
            let entry = try entry(store, "\(number)")
            for form in 0..<Int.random(in: 0..<4, using: &generator) {
                let seed = UInt64.random(in: 0..<20, using: &generator)
                #expect(try store.insertDerived(Data.noise(100 + Int(seed), seed: seed), name: "\(form)", of: entry))
            }
        }
        try store.flush()
        let half = Int.random(in: 0...40, using: &generator)
        if round.isMultiple(of: 2) {
            let dry = try store.evict(.maxEntries(half), dryRun: true)
            #expect(try store.evict(.maxEntries(half)) == dry, "\(generator)")
            let all = try store.evict(.unusedFor(.zero), dryRun: true)
            #expect(try store.evict(.unusedFor(.zero)) == all, "\(generator)")
        } else {
            let selection = EntrySelection.matching("id <= \(half)")
            let dry = try store.removeAll(selection, dryRun: true)
            #expect(try store.removeAll(selection) == dry, "\(generator)")
            #expect(dry.entries == half, "\(generator)")
            let all = try store.removeAll(.everything, dryRun: true)
            #expect(try store.removeAll(.everything) == all, "\(generator)")
        }
        #expect(sandbox.files() == [])
    }

    // MARK: Damage

    static let damages = ["missing", "short", "altered"]

    private func damage(_ way: String) throws {
        let file = sandbox.file(of: ContentDigest(of: form))
        switch way {
        case "missing": try FileManager.default.removeItem(at: file)
        case "short": try FileHandle(forWritingTo: file).truncate(atOffset: 10)
        default:
            try Data.noise(2_000, seed: 9).write(to: file)
            try file.alteredLater()
        }
    }

    @Test(
        "a damaged representation is a miss and is dropped; its entry and the other representations stay",
        .requirement("A7"),
        arguments: damages)
    func damaged(_ way: String) async throws {
        let store = try sandbox.open()
        let (entry, twin) = (try entry(store, "a"), try entry(store, "b"))
        for entry in [entry, twin] {
            #expect(try await store.insertDerived(form, name: "form", of: entry))
            #expect(try await store.insertDerived(Data("other".utf8), name: "other", of: entry))
        }
        try damage(way)
        let reader = try sandbox.open { $0.isReadOnly = true }
        #expect(try reader.openDerived(name: "form", of: entry) == nil)
        #expect(try store.statistics().derivedBodies == 4)
        #expect(try store.openDerived(name: "form", of: entry) == nil)
        var statistics = try store.statistics()
        #expect(statistics.derivedBodies == 3)
        #expect(statistics.damagedBodies == 1)
        #expect(try store.openDerived(name: "form", of: twin) == nil)
        statistics = try store.statistics()
        #expect(statistics.derivedBodies == 2)
        #expect(statistics.damagedBodies == 2)
        #expect(try store.openDerived(name: "other", of: entry)?.data() == Data("other".utf8))
        #expect(try store.openBody(of: entry) != nil)
        #expect(try await store.insertDerived(form, name: "form", of: entry))
        #expect(try store.openDerived(name: "form", of: entry)?.data() == form)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a repair finds a damaged representation and drops it, not its entry", .requirement("A7"), arguments: damages)
    func repair(_ way: String) async throws {
        let store = try sandbox.open()
        let entry = try entry(store, "a")
        #expect(try await store.insertDerived(form, name: "form", of: entry))
        try damage(way)
        let digest = ContentDigest(of: form)
        let problem: CheckReport.Problem = way == "altered" ? .alteredFile(digest) : .missingFile(digest)
        #expect(try await store.repair(digests: true).problems == [problem])
        #expect(try await store.check(digests: true).problems == [])
        #expect(try store.openBody(of: entry) != nil)
        #expect(try store.statistics().derivedBodies == 0)
        #expect(sandbox.files().count == 1)
    }

    @Test("a repair reports an unlisted representation with its key and name, and drops it", .requirement("A7"))
    func unlisted() throws {
        let store = try sandbox.open()
        let entry = try entry(store, "a")
        #expect(try store.insertDerived(form, name: "form", of: entry))
        try RawIndex(sandbox.indexPath).execute("DELETE FROM blob WHERE byte_count = 2000")
        let problem = CheckReport.Problem.unlistedDerivedBody(entry.key, name: "form")
        let problems = try store.repair().problems
        #expect(problems.contains(problem))
        #expect(problem.description.contains("\"form\" of https://example.com/a"))
        #expect(try store.check(digests: true).problems == [])
        #expect(try store.openDerived(name: "form", of: entry) == nil)
        #expect(try store.openBody(of: entry) != nil)
    }

    // MARK: States of the store

    @Test("read-only, suspended and closed stores throw typed errors")
    func phases() async throws {
        let store = try sandbox.open()
        let entry = try entry(store, "a")
        #expect(try await store.insertDerived(form, name: "form", of: entry))
        let reader = try sandbox.open { $0.isReadOnly = true }
        let path = store.directory.path(percentEncoded: false)
        for body in [form, Data()] {
            await #expect(throws: StoreError.readOnly(path: path)) {
                try await reader.insertDerived(body, name: "x", of: entry)
            }
        }
        store.suspend()
        #expect(throws: StoreError.suspended) { try store.insertDerived(form, name: "x", of: entry) }
        #expect(throws: StoreError.suspended) { try store.openDerived(name: "form", of: entry) }
        try store.resume()
        #expect(try store.openDerived(name: "form", of: entry)?.data() == form)
        store.close()
        #expect(throws: StoreError.closed) { try store.insertDerived(form, name: "x", of: entry) }
        #expect(throws: StoreError.closed) { try store.openDerived(name: "form", of: entry) }
    }
}
