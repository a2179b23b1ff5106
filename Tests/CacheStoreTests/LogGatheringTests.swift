import TestSupport

/// The writer's connection gathers a transaction's frames for the WAL, and writes them in one call.
@Suite("Writes to the WAL")
struct LogGatheringTests {
    let sandbox = Sandbox()
    private var path: String { sandbox.directory.path + "/test.sqlite" }

    init() throws {
        let connection = try Connection(path: path, role: .writer, busyTimeout: .seconds(1), creates: true)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    }

    /// A connection whose pages exceed its cache, so that single pages reach the WAL before the commit.
    private func writer(pages: Int = 10) throws -> Connection {
        let connection = try Connection(path: path, role: .writer, busyTimeout: .seconds(1), creates: true)
        try connection.execute("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = \(pages)")
        return connection
    }

    private func fill(_ connection: Connection, _ ids: Range<Int>, _ letter: Character, byteCount: Int = 1_000) throws {
        let text = String(repeating: letter, count: byteCount)
        for id in ids { try connection.execute("INSERT OR REPLACE INTO item VALUES (\(id), '\(text)')") }
    }

    /// The letters of the items, read from `path` by a separate connection.
    private func letters(_ path: String) throws -> String {
        let reader = try Connection(path: path, role: .writer, busyTimeout: .seconds(1), creates: true)
        let check = try reader.prepare("PRAGMA integrity_check")
        defer { check.reset() }
        try #require(try check.step())
        #expect(check.text(0) == "ok")
        let statement = try reader.prepare(
            "SELECT group_concat(letter, '') FROM (SELECT substr(text, 1, 1) AS letter FROM item ORDER BY id)")
        defer { statement.reset() }
        return try statement.step() ? statement.text(0) : ""
    }

    /// Expects these letters from another connection, and from a copy that is recovered from the WAL as after a kill.
    private func expect(_ expected: String) throws {
        #expect(try letters(path) == expected)
        let copy = sandbox.directory.path + "/copy-\(UUID().uuidString).sqlite"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        try FileManager.default.copyItem(atPath: path + "-wal", toPath: copy + "-wal")
        #expect(try letters(copy) == expected)
    }

    @Test("gathered frames of a rollback do not overwrite the commit of another connection")
    func rolledBack() throws {
        let first = try writer()
        let second = try writer()
        try fill(first, 0..<3, "a")
        try first.execute("BEGIN IMMEDIATE")
        try fill(first, 0..<100, "b")
        try first.execute("ROLLBACK")
        try second.execute("BEGIN IMMEDIATE")
        try fill(second, 3..<100, "c")
        try second.execute("COMMIT")
        try expect("aaa" + String(repeating: "c", count: 97))
        try fill(first, 2..<3, "d")
        try expect("aad" + String(repeating: "c", count: 97))
    }

    @Test("a page that changes after its write to the WAL has its last bytes, and valid checksums")
    func changedAgain() throws {
        let connection = try writer()
        try connection.execute("BEGIN IMMEDIATE")
        for letter in "abc" { try fill(connection, 0..<150, letter) }
        try connection.execute("COMMIT")
        try expect(String(repeating: "c", count: 150))
        try connection.execute("BEGIN IMMEDIATE")
        try fill(connection, 100..<150, "d")
        try fill(connection, 0..<100, "e")
        try fill(connection, 140..<150, "f")
        try connection.execute("COMMIT")
        try expect(
            String(repeating: "e", count: 100) + String(repeating: "d", count: 40) + String(repeating: "f", count: 10))
    }

    @Test("a rollback to a savepoint drops its pages from the gathered frames")
    func savepoints() throws {
        let connection = try writer()
        try connection.execute("BEGIN IMMEDIATE")
        try fill(connection, 0..<60, "a")
        try connection.execute("SAVEPOINT inner")
        try fill(connection, 30..<120, "b")
        try connection.execute("ROLLBACK TO inner")
        try fill(connection, 60..<80, "c")
        try connection.execute("COMMIT")
        try expect(String(repeating: "a", count: 60) + String(repeating: "c", count: 20))
    }

    @Test("pages of every size, in transactions of every size", arguments: [512, 1_024, 4_096, 32_768, 65_536])
    func pageSizes(_ pageBytes: Int) throws {
        let resized = try Connection(path: path, role: .writer, busyTimeout: .seconds(1), creates: true)
        try resized.execute("PRAGMA journal_mode = DELETE; PRAGMA page_size = \(pageBytes); VACUUM")
        try resized.execute("PRAGMA journal_mode = WAL")
        let connection = try writer(pages: 1_000)
        for (letter, rows) in zip("abcd", [1, 5, 40, 300]) {
            try connection.execute("BEGIN IMMEDIATE")
            try fill(connection, 0..<rows, letter)
            try connection.execute("COMMIT")
            try expect(String(repeating: letter, count: rows))
        }
    }

    @Test("a restarted WAL is written from its start")
    func beginsAgain() throws {
        let connection = try writer(pages: 1_000)
        let other = try writer()
        for round in 0..<6 {
            try fill(connection, 0..<20, round.isMultiple(of: 2) ? "a" : "b")
            // One connection restarts the WAL; either connection writes next.
            try other.execute("PRAGMA wal_checkpoint(RESTART)")
            try fill(round < 3 ? other : connection, 20..<25, "c")
            try fill(connection, 25..<26, "d")
            try expect(String(repeating: round.isMultiple(of: 2) ? "a" : "b", count: 20) + "cccccd")
        }
    }
}
