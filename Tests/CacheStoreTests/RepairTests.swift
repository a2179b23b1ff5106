import TestSupport

@Suite("Repair")
struct RepairTests {
    let sandbox = Sandbox()
    let body = Data.noise(1_000, seed: 1)

    private func filled() throws -> ResponseStore {
        let store = try sandbox.open()
        for number in 0..<3 { try store.insert(body, metadata: sandbox.metadata(), for: .path(number)) }
        let other = try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
        try store.insertDerived(Data("form".utf8), name: "form", of: other)
        try store.insertDerived(body, name: "shared", of: other)
        return store
    }

    @Test(
        "After a repair the store is sound, and undamaged entries are still there", .requirement("A7"),
        arguments: [
            "UPDATE blob SET reference_count = 5", "UPDATE total SET entry_count = 9",
            "UPDATE total SET physical_bytes = 0",
            "DELETE FROM total", "UPDATE total SET last_id = \(Int64.max)", "UPDATE total SET unused_id = 3",
            "INSERT INTO access VALUES (99, 1, 1, 1, 0)", "INSERT INTO priority VALUES (99, 1)",
            "DELETE FROM blob WHERE byte_count = 1000", "UPDATE blob SET byte_count = 7 WHERE byte_count = 1000",
            "UPDATE derived SET entry_id = 99", "UPDATE derived SET body = NULL", "UPDATE derived SET byte_count = 7",
            "UPDATE derived SET body = x'00'", "DELETE FROM blob WHERE byte_count = 4",
            "UPDATE total SET derived_count = 9, derived_bytes = 9", "UPDATE entry SET body = NULL WHERE id = 1",
            "UPDATE entry SET body = x'00' WHERE id = 1", "UPDATE total SET logical_bytes = 9",
            "UPDATE total SET blob_count = 9", "UPDATE total SET failure_count = 9",
            "UPDATE total SET failing_count = 9", "UPDATE total SET last_id = 0",
            "INSERT INTO partition_total VALUES ('p', 1, 1)",
        ])
    func edited(_ sql: String) throws {
        let store = try filled()
        try RawIndex(sandbox.indexPath).execute("PRAGMA ignore_check_constraints = ON; \(sql)")
        #expect(try !store.check().isSound)
        let report = try store.repair(digests: true)
        #expect(!report.isSound)
        for problem in report.problems { #expect(!problem.description.isEmpty) }
        #expect(try store.check(digests: true).problems == [])
        #expect(try store.bytes(.path("other")) == Data("other".utf8))
        // The repaired store works.
        try store.insert(body, metadata: sandbox.metadata(), for: .path(0))
        #expect(try store.bytes(.path(0)) == body)
        try store.evict(maxBytes: 0)
        #expect(sandbox.files().isEmpty)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("Entries whose body is missing, short or altered are removed, orphans deleted", .requirement("A7"))
    func files() throws {
        for damage in ["missing", "short", "altered", "orphan"] {
            let sandbox = Sandbox()
            let store = try sandbox.open()
            let entry = try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
            try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
            let file = sandbox.file(of: try #require(entry.digest))
            switch damage {
            case "missing": try FileManager.default.removeItem(at: file)
            case "short": try FileHandle(forWritingTo: file).truncate(atOffset: 10)
            case "altered": try Data.noise(1_000, seed: 2).write(to: file)
            default:
                // A recount would write this row, and takes seconds in a large store.
                try RawIndex(sandbox.indexPath).execute(
                    "CREATE TRIGGER refuse BEFORE UPDATE ON total BEGIN SELECT RAISE(ABORT, 'refused'); END")
                try Data("x".utf8).write(
                    to: file.deletingLastPathComponent().appending(path: String(repeating: "0", count: 62)))
            }
            #expect(try !store.repair(digests: true).isSound, "\(damage)")
            #expect(try store.check(digests: true).problems == [], "\(damage)")
            #expect(try store.contains(.path("a")) == (damage == "orphan"))
            #expect(try store.bytes(.path("other")) == Data("other".utf8))
            #expect(sandbox.files().count == (damage == "orphan" ? 2 : 1))
        }
    }

    @Test("The rebuild of a damaged index is one transaction, so an interrupted rebuild leaves the tags")
    func rebuild() throws {
        try sandbox.fillQuickly(3_000)
        let store = try sandbox.open()
        try store.insert(body, metadata: sandbox.metadata(), for: .path("body"))
        let index = try RawIndex(sandbox.indexPath)
        try index.execute(
            """
            UPDATE entry SET tags = '["x"]';
            PRAGMA ignore_check_constraints = ON; UPDATE blob SET reference_count = -1
            """)
        let call = ThreadCall { try store.repair() }
        var tagCounts: Set<String?> = []
        try spinWhile {
            let row = try index.rows("SELECT count(*), (SELECT min(reference_count) FROM blob) FROM tag")[0]
            tagCounts.insert(row[0])
            return row[1] == "-1"
        }
        #expect(try call.error() == nil)
        #expect(tagCounts == ["3001"])
        #expect(try store.check().problems == [])
        #expect(try store.bytes(.path("body")) == body)
    }

    @Test("A sound store stays unchanged")
    func sound() async throws {
        let store = try filled()
        let before = try store.statistics()
        #expect(try await store.repair(digests: true).isSound)
        #expect(try store.statistics() == before)
    }
}
