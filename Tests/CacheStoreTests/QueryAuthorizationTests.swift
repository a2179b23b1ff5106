import CSQLite
import TestSupport

@Suite("ResponseStore.query: authorization")
struct QueryAuthorizationTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    /// SQL, and a part of the error's message.
    typealias Refused = (sql: String, message: String)

    private static let statements: [Refused] = [
        ("PRAGMA hard_heap_limit = 9000000000000", "PRAGMA hard_heap_limit"),
        ("SELECT 1; PRAGMA hard_heap_limit = 9000000000000", "PRAGMA hard_heap_limit"),
        ("PRAGMA soft_heap_limit = 9000000000000", "PRAGMA soft_heap_limit"),
        ("PRAGMA query_only = OFF", "PRAGMA query_only"), ("PRAGMA user_version", "PRAGMA user_version"),
        ("PRAGMA user_version = 5", "PRAGMA user_version"), ("PRAGMA journal_mode = DELETE", "PRAGMA journal_mode"),
        ("EXPLAIN PRAGMA user_version", "PRAGMA user_version"), ("ATTACH ':memory:' AS other", "ATTACH"),
        ("ATTACH '/tmp/CacheStoreTests-attached' AS other", "ATTACH"), ("DETACH main", "anything but a SELECT"),
        ("BEGIN", "anything but a SELECT"), ("SAVEPOINT x", "anything but a SELECT"),
        ("CREATE TEMP TABLE x (y)", "anything but a SELECT"),
        ("CREATE TEMP VIEW x AS SELECT 1", "anything but a SELECT"), ("CREATE TABLE x (y)", "anything but a SELECT"),
        ("DROP VIEW cache_stats", "anything but a SELECT"), ("ALTER TABLE entry RENAME TO x", "anything but a SELECT"),
        ("DELETE FROM entry", "anything but a SELECT"), ("EXPLAIN DELETE FROM entry", "anything but a SELECT"),
        ("WITH x AS (SELECT 1) DELETE FROM entry", "anything but a SELECT"),
        ("UPDATE total SET hit_count = 1", "anything but a SELECT"),
        ("INSERT INTO failure VALUES ('', 'x', '', 1, 1, 1)", "anything but a SELECT"),
        ("ANALYZE", "anything but a SELECT"), ("REINDEX", "anything but a SELECT"),
    ]

    /// The SQLite of Apple's systems lacks the function.
    private static let canLoadExtensions = sqlite3_compileoption_used("OMIT_LOAD_EXTENSION") == 0

    private static let loading: [Refused] = [
        ("SELECT load_extension('x')", "the function load_extension"),
        ("SELECT LOAD_EXTENSION('x', 'y')", "load_extension"),
    ]

    private static let functions: [Refused] = [
        ("SELECT key FROM cache_entries WHERE sqlite_log(1, 'x')", "the function sqlite_log"),
        ("SELECT * FROM pragma_table_info('entry')", "a query cannot use"),
        ("SELECT count(*) FROM pragma_table_info('entry')", "a query cannot use"),
        ("SELECT * FROM cache_stats, pragma_database_list", "a query cannot use"),
        ("SELECT * FROM pragma_hard_heap_limit", "a query cannot use"),
    ]

    private static let tables: [Refused] = [
        ("SELECT key FROM entry", "the table entry"),
        ("SELECT rowid FROM main.Entry AS cache_entries", "the table entry"),
        ("SELECT count(*) FROM entry", "the table entry"),
        ("SELECT 1 FROM state", "the table state"),
        ("SELECT value FROM entry_value", "the table entry"),
        ("SELECT entries, (SELECT count(*) FROM blob) FROM cache_stats", "the table blob"),
        ("SELECT * FROM cache_entries JOIN entry USING (id)", "the table entry"),
        ("SELECT * FROM cache_entries WHERE id IN (SELECT entry_id FROM tag)", "the table tag"),
        ("WITH x AS (SELECT * FROM failure) SELECT * FROM x", "the table failure"),
        ("SELECT * FROM (SELECT key FROM entry) AS cache_entries", "the table entry"),
        ("SELECT key FROM cache_errors UNION SELECT key FROM entry", "the table entry"),
        ("SELECT value FROM entry, json_each(entry.tags)", "the table entry"),
        ("EXPLAIN QUERY PLAN SELECT key FROM entry", "the table entry"),
        ("SELECT * FROM sqlite_temp_schema", "the table sqlite_temp_master"),
    ]

    @Test("Denies any statement but a SELECT on the views, and the error lists the views", arguments: statements)
    func statement(_ refused: Refused) throws { try expectDenial(refused) }

    @Test(
        "Denies functions with side effects and table-valued pragmas",
        arguments: functions + (canLoadExtensions ? loading : []))
    func function(_ refused: Refused) throws { try expectDenial(refused) }

    @Test("A table can be read only through a view", arguments: tables)
    func table(_ refused: Refused) throws { try expectDenial(refused) }

    private func expectDenial(_ refused: Refused) throws {
        for query: (String) throws -> SQLRows in [
            { try store.query($0) }, { try ResponseStore.query($0, inStoreAt: sandbox.url) },
        ] {
            let error = try #require(throws: StoreError.self) { try query(refused.sql) }
            let reason = try #require(error.sqlite)
            #expect(reason.code == SQLITE_AUTH)
            #expect(reason.message.lowercased().contains(refused.message.lowercased()), "\(reason.message)")
            #expect(reason.message.contains("cache_entries"))
        }
        #expect(!FileManager.default.fileExists(atPath: "/tmp/CacheStoreTests-attached"))
    }

    @Test(
        "A refused PRAGMA does not change the limits of the process",
        arguments: ["PRAGMA hard_heap_limit = 9000000000000", "SELECT 1; PRAGMA hard_heap_limit = 9000000000000"])
    func heapLimit(_ sql: String) async {
        // In another process: the limit would apply to all tests.
        await #expect(processExitsWith: .success) { [sql] in
            let sandbox = Sandbox()
            let store = try sandbox.open()
            let before = sqlite3_hard_heap_limit64(-1)
            _ = try? store.query(sql)
            precondition(sqlite3_hard_heap_limit64(-1) == before)
        }
    }

    @Test("VACUUM is refused, and VACUUM INTO creates no file", arguments: ["VACUUM", "VACUUM main INTO ?1"])
    func vacuum(_ sql: String) throws {
        let target = sandbox.directory.path + "/copy"
        let arguments: [SQLValue] = sql.contains("?") ? [.text(target)] : []
        for query: () throws -> SQLRows in [
            { try store.query(sql, arguments) }, { try ResponseStore.query(sql, arguments, inStoreAt: sandbox.url) },
        ] {
            let error = #expect(throws: StoreError.self) { try query() }
            #expect(error?.sqlite != nil)
            #expect(try FileManager.default.contentsOfDirectory(atPath: sandbox.directory.path) == ["store"])
        }
    }

    @Test("A second statement is refused, even a SELECT", arguments: ["SELECT 1; SELECT 2", "SELECT 1;;SELECT 2 --"])
    func twoStatements(_ sql: String) throws {
        let error = try #require(throws: StoreError.self) { try store.query(sql) }
        let reason = try #require(error.sqlite)
        #expect(reason.code == SQLITE_MISUSE)
        #expect(reason.message.contains("more than one statement"))
    }

    private static let views = [
        "cache_entries", "cache_stats", "cache_hosts", "cache_partitions", "cache_requests", "cache_errors",
        "cache_derived", "cache_version",
    ]

    @Test("Reads every view, with columns and without, under any spelling", arguments: views)
    func view(_ view: String) throws {
        for sql in [
            "SELECT * FROM \(view)", "SELECT count(*) FROM \(view)", "SELECT 1 FROM \(view)",
            "SELECT * FROM main.\(view) AS x", "SELECT count(*) FROM \(view.uppercased())",
            "SELECT * FROM \"\(view)\" AS a, cache_stats AS b", "SELECT 1 FROM \(view) AS a, \(view) AS b",
            "SELECT 1 FROM cache_hosts, \(view)", "SELECT DISTINCT * FROM \(view) ORDER BY 1",
            "SELECT EXISTS (SELECT 1 FROM \(view))",
            "WITH x AS MATERIALIZED (SELECT * FROM \(view)) SELECT count(*) FROM x",
            "SELECT count(*) FROM (SELECT * FROM \(view) UNION ALL SELECT * FROM \(view))",
            "EXPLAIN QUERY PLAN SELECT * FROM \(view)",
        ] {
            #expect(throws: Never.self, "\(sql)") { try store.query(sql) }
        }
    }

    @Test(
        "A query can use recursion, window functions, JSON and the list of the views",
        arguments: [
            ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT count(*) FROM n", 3),
            ("WITH x AS (SELECT 7 AS i) SELECT count(*) FROM x", 1),
            ("SELECT row_number() OVER (ORDER BY key) FROM cache_entries", 1),
            ("SELECT count(*) FROM cache_entries, json_each(cache_entries.tags)", 2),
            ("SELECT count(*) FROM cache_entries, json_each(tags) WHERE value = 'news'", 1),
            ("SELECT count(*) FROM cache_entries, json_tree(tags)", 3),
            ("SELECT count(*) FROM json_each('[1, 2, 3]')", 3),
            ("SELECT sum(value) FROM json_each('[1, 2, 3]')", 6),
            ("SELECT count(*) FROM sqlite_schema WHERE type = 'view' AND name LIKE 'cache\\_%' ESCAPE '\\'", 8),
            ("SELECT count(*) FROM sqlite_master WHERE type = 'view'", 9),
            ("VALUES (7)", 7),
            ("SELECT iif('A' LIKE 'a' AND upper('a') GLOB 'A*', 1, 0) AS x", 1),
        ])
    func allowed(_ sql: String, _ value: Int64) throws {
        try store.insert(
            Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"), options: EntryOptions(tags: ["news", "x"]))
        #expect(try store.query(sql).rows == [[.integer(value)]])
    }

    @Test(
        "An authorized connection refuses a predicate over tables, and reads and writes its tables afterwards",
        arguments: [
            ("byte_size > 0", true), ("id IN (SELECT id FROM cache_derived)", true),
            ("EXISTS (SELECT 1 FROM cache_entries, json_each(tags))", true), ("id IN (SELECT id FROM entry)", false),
            ("sqlite_log(1, 'x')", false), ("(SELECT max(byte_count) FROM blob)", false),
        ])
    func predicate(_ predicate: String, _ isAllowed: Bool) throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        store.close()
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(5))
        let statement = try connection.prepare("SELECT count(*) FROM entry")
        let result = Result {
            _ = try connection.authorizingQueries { () throws(StoreError) in
                try connection.prepare("SELECT 1 FROM cache_entries WHERE (\(predicate))")
            }
        }
        switch result {
        case .success: #expect(isAllowed)
        case .failure(let error):
            #expect(!isAllowed, "\(error)")
            #expect((error as? StoreError)?.sqlite?.code == SQLITE_AUTH, "\(error)")
        }
        try #require(try statement.step())
        #expect(statement.int64(0) == 1)
        statement.reset()
        try connection.execute("DELETE FROM failure; PRAGMA user_version")
    }
}
