import TestSupport

@Suite("ResponseStore.query")
struct QueryTests {
    let sandbox = Sandbox()

    @Test(
        "A refused statement leaves no state for the next query, and blocks no writer",
        arguments: [
            "PRAGMA query_only = OFF", "BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT x", "ATTACH ':memory:' AS other",
            "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA case_sensitive_like = ON",
        ])
    func stateless(_ sql: String) throws {
        let store = try sandbox.open { $0.readerCount = 1 }
        _ = try? store.query(sql)
        #expect(throws: StoreError.self) { try store.query("DELETE FROM entry") }
        #expect(throws: StoreError.self) { try store.query("SELECT * FROM other.sqlite_schema") }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == Data("a".utf8))
        #expect(try store.query("SELECT entries FROM cache_stats").rows == [[.integer(1)]])
        #expect(try store.query("SELECT 'a' LIKE 'A'").rows == [[.integer(1)]])
    }

    @Test(
        "Text without a statement, or with more than one, is an error",
        arguments: [
            "", " ", ";", "-- nothing", "SELEC 1", "SELECT 1 2", "SELECT * FROM nowhere", "SELECT 1; SELECT 2",
            "SELECT 1; DELETE FROM entry", "SELECT load_extension('x')", "SELECT '\0", "SELECT abs(\(Int64.min))",
            String(repeating: "(", count: 10_000), "SELECT " + String(repeating: "1,", count: 20_000) + "1",
        ])
    func malformed(_ sql: String) throws {
        let store = try sandbox.open()
        #expect(throws: StoreError.self) { try store.query(sql) }
    }

    @Test("A value keeps its type", arguments: ["", ";", " ; ", "-- end", ";\n-- end\n"])
    func values(tail: String) throws {
        let store = try sandbox.open()
        let rows = try store.query(
            "SELECT NULL AS a, 1 AS b, -9223372036854775808, 1.5, 'é' || char(0) || 'x', x'00ff', x'', CAST(x'ff' AS TEXT)"
                + tail)
        #expect(rows.columns.prefix(2) == ["a", "b"])
        #expect(
            rows.rows == [
                [
                    .null, .integer(1), .integer(.min), .real(1.5), .text("é\0x"), .blob([0, 255]), .blob([]),
                    .text("\u{fffd}"),
                ]
            ])
    }

    @Test("A store that is not open can be queried, and a missing one is not created")
    func notOpen() throws {
        #expect(throws: StoreError.self) { try ResponseStore.query("SELECT 1", inStoreAt: sandbox.url) }
        #expect(!FileManager.default.fileExists(atPath: sandbox.path))
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        #expect(throws: StoreError.self) { try ResponseStore.query("SELECT 1", inStoreAt: sandbox.url) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.path) == [])

        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let query = "SELECT entries FROM cache_stats"
        #expect(try ResponseStore.query(query, inStoreAt: sandbox.url).rows == [[.integer(1)]])
        store.close()
        #expect(try ResponseStore.query(query, inStoreAt: sandbox.url).rows == [[.integer(1)]])
    }

    @Test("A query sees a change as soon as its call has returned")
    func current() throws {
        let store = try sandbox.open()
        for number in 1...20 {
            try store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
            #expect(try store.query("SELECT entries FROM cache_stats").rows == [[.integer(Int64(number))]])
        }
    }

    @Test("Arguments keep their types, and their text is not parsed as SQL")
    func arguments() throws {
        let store = try sandbox.open()
        let hostile = "'; DROP TABLE entry; --"
        let arguments: [SQLValue] = [.text(hostile), .integer(.min), .real(0.5), .blob([0, 255]), .blob([]), .null]
        let row = try #require(
            try store.query("SELECT ?1 AS t, ?2 AS i, ?3 AS r, ?4 AS b, ?5 AS e, ?6 AS n", arguments).first)
        #expect(row.values == arguments)
        #expect(row["t"]?.text == hostile)
        #expect(row["i"]?.integer == .min)
        #expect(row["i"]?.real == Double(Int64.min))
        #expect(row["r"]?.real == 0.5)
        #expect(row["b"]?.blob == [0, 255])
        #expect(row["n"]?.isNull == true)
        #expect(row["t"]?.integer == nil)
        #expect(row["none"] == nil)
        #expect(throws: StoreError.self) { try store.query("SELECT ?1, ?2", [.integer(1)]) }
        #expect(throws: StoreError.self) { try store.query("SELECT ?1", [.integer(1), .integer(2)]) }
        #expect(throws: StoreError.self) { try store.query("SELECT ?1") }
    }
}
