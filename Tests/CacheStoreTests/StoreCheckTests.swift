import TestSupport

@Suite("StoreCheck")
struct StoreCheckTests {
    let sandbox = Sandbox()
    static let body = Data.noise(1_000, seed: 1)
    let digest = ContentDigest(of: body)

    func filled() throws -> ResponseStore {
        let store = try sandbox.open()
        for number in 0..<3 { try store.insert(Self.body, metadata: sandbox.metadata(), for: .path(number)) }
        try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
        try store.insert(Data(), metadata: sandbox.metadata(.error), for: .path("empty"))
        try store.recordFailure(for: .path("failing"), status: 500)
        return store
    }

    @Test("a store after normal use is sound")
    func sound() throws {
        let store = try filled()
        try store.remove(.path("other"))
        for digests in [false, true] {
            let report = try store.check(digests: digests)
            #expect(report.problems == [])
            #expect(report.isSound)
            #expect(report.files == 1)
            #expect(report.foreignFiles == [])
        }
    }

    @Test("an empty store is sound")
    func empty() throws {
        #expect(try sandbox.open().check(digests: true).isSound)
    }

    @Test(
        "finds a missing file and one of another length, and an altered one when digests are requested",
        arguments: [nil, body.prefix(999), .noise(1_000, seed: 2)] as [Data?])
    func damaged(bytes: Data?) throws {
        let store = try filled()
        try FileManager.default.removeItem(at: sandbox.file(of: digest))
        try bytes?.write(to: sandbox.file(of: digest))
        let isAltered = bytes?.count == 1_000
        #expect(try store.check().problems == (isAltered ? [] : [.missingFile(digest)]))
        #expect(try store.check(digests: true).problems == [isAltered ? .alteredFile(digest) : .missingFile(digest)])
    }

    @Test("finds an orphan, and reports a foreign file that is not a problem")
    func orphanAndForeign() throws {
        let store = try filled()
        let orphan = sandbox.file(of: ContentDigest(of: Data("orphan".utf8)))
        try FileManager.default.createDirectory(
            at: orphan.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("orphan".utf8).write(to: orphan)
        let blobs = sandbox.url.appending(path: "blobs")
        let shard = orphan.deletingLastPathComponent().lastPathComponent
        try Data("notes".utf8).write(to: blobs.appending(path: "notes.txt"))
        try Data("notes".utf8).write(to: blobs.appending(path: "\(shard)/notes.txt"))
        let report = try store.check(digests: true)
        #expect(report.problems == [.orphanFile(path: "blobs/\(shard)/\(orphan.lastPathComponent)")])
        #expect(Set(report.foreignFiles) == ["blobs/notes.txt", "blobs/\(shard)/notes.txt"])
        #expect(FileManager.default.fileExists(atPath: orphan.path(percentEncoded: false)))
    }

    @Test("a problem has the recorded and the actual value")
    func counts() throws {
        let store = try filled()
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("UPDATE blob SET reference_count = 5 WHERE byte_count = 1000")
        #expect(try store.check().problems == [.wrongReferenceCount(digest, recorded: 5, actual: 3)])
        try index.execute("UPDATE blob SET reference_count = 3 WHERE byte_count = 1000; UPDATE total SET hit_count = 7")
        #expect(try store.check().isSound)
        try index.execute("UPDATE total SET logical_bytes = 1")
        #expect(try store.check().problems == [.wrongTotal("logical_bytes", recorded: 1, actual: 3_005)])
    }

    @Test("finds damage to the index")
    func damagedIndex() throws {
        let store = try filled()
        store.close()
        // A row of an SQL index that is missing in the table.
        let index = try RawIndex(sandbox.indexPath)
        try index.execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, '(failed_at)', '(error_count)') WHERE name = 'failure_by_time';
            """)
        let report = try sandbox.open().check()
        #expect(!report.isSound)
        #expect(report.problems.allSatisfy { if case .damagedIndex = $0 { true } else { false } })
    }

    @Test("damage that keeps SQLite from reading is a finding, not a failure")
    func unreadableIndex() throws {
        let store = try filled()
        let head = String(repeating: "Name: value\n", count: 100)
        for number in 0..<300 {
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(head: head), for: .path(number))
        }
        store.close()
        let file = URL(filePath: sandbox.indexPath)
        var bytes = try Data(contentsOf: file)
        // Opening reads the schema in the first pages, and the last entry.
        for index in bytes.indices.dropFirst(bytes.count / 2).dropLast(bytes.count / 4) { bytes[index] = 0xAA }
        try bytes.write(to: file)
        let report = try sandbox.open().check(digests: true)
        #expect(!report.isSound)
        #expect(report.problems.contains { if case .damagedIndex = $0 { true } else { false } })
    }

    @Test("a planted link or pipe is a missing file, and is not followed", arguments: DamageTests.Damage.allCases)
    func planted(_ damage: DamageTests.Damage) throws {
        let scene = try DamageTests.Scene()
        let store = try scene.sandbox.open()
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        try scene.inflict(damage)
        let problems = try store.check(digests: true).problems
        #expect(problems == [damage == .altered ? .alteredFile(scene.digest) : .missingFile(scene.digest)])
        #expect(try scene.foreignIsUntouched())
    }
}
