import TestSupport

@Suite("ResponseStore.query: time limit and row limit")
struct QueryLimitTests {
    let sandbox = Sandbox()

    /// Takes many seconds, but ends: without its time limit the query fails the test instead of hanging it.
    private static let numbers =
        "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 100000000)"

    private static let endless = [
        "\(numbers) SELECT max(n) FROM number", "\(numbers) SELECT n FROM number WHERE n < 0",
        "\(numbers) SELECT count(*) FROM number, cache_stats",
        "SELECT count(*) FROM (\(numbers) SELECT n FROM number) WHERE n % 2 = 0",
    ]

    @Test("A query ends after its time limit, and the store continues", arguments: endless)
    func timeout(_ sql: String) throws {
        let limit = Duration.milliseconds(50)
        let store = try sandbox.open { $0.queryTimeout = limit }
        #expect(throws: StoreError.queryTimedOut(limit: limit)) { try store.query(sql) }
        #expect(throws: StoreError.queryTimedOut(limit: limit)) {
            try ResponseStore.query(sql, inStoreAt: sandbox.url, timeout: limit)
        }
        #expect(try store.query("SELECT entries FROM cache_stats").rows == [[0]])
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.query("SELECT entries FROM cache_stats").rows == [[1]])
    }

    @Test("A query within its time limit, or without one, returns its rows", arguments: [nil, Duration.seconds(3600)])
    func inTime(_ limit: Duration?) throws {
        let store = try sandbox.open { $0.queryTimeout = limit }
        let sql =
            "WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 100000) SELECT max(n) FROM x"
        #expect(try store.query(sql).rows == [[100_000]])
        #expect(try ResponseStore.query(sql, inStoreAt: sandbox.url, timeout: limit).rows == [[100_000]])
    }

    @Test("The error of a time limit names the limit")
    func message() {
        #expect(ResponseStore.Configuration().queryTimeout == .seconds(5))
        #expect("\(StoreError.queryTimedOut(limit: .seconds(5)))".contains("5.0 seconds"))
    }

    @Test(
        "A query keeps at most 128 long values in memory",
        arguments: [
            ("SELECT randomblob(900000000)", false),
            ("SELECT \(Self.list(128, "randomblob(500000)"))", true),
            ("SELECT \(Self.list(129, "1"))", false),
            ("SELECT \(Self.list(32, "length(hex(zeroblob(200000)))", by: "+"))", true),
            ("SELECT \(Self.list(64, "length(hex(zeroblob(200000)))", by: "+"))", false),
            // The functions in the views do not count.
            ("SELECT a.url, b.url, c.url FROM cache_entries AS a, cache_entries AS b, cache_entries AS c", true),
        ])
    func memory(_ sql: String, _ isAllowed: Bool) throws {
        let store = try sandbox.open()
        let rows = try? store.query(sql)
        #expect((rows != nil) == isAllowed)
    }

    private static func list(_ count: Int, _ expression: String, by separator: String = ", ") -> String {
        Array(repeating: expression, count: count).joined(separator: separator)
    }

    @Test("A query with too many function calls names their limit")
    func calls() throws {
        let store = try sandbox.open()
        do {
            _ = try store.query("SELECT \(Self.list(129, "abs(1)", by: "+"))")
            Issue.record("the query is allowed")
        } catch {
            #expect("\(error)".contains("more than 128 function calls"))
        }
    }

    @Test(
        "maxRows limits the rows of a query, and the result tells whether more exist",
        arguments: [
            (nil, 3, false), (-1, 0, true), (0, 0, true), (1, 1, true), (2, 2, true), (3, 3, false), (4, 3, false),
        ] as [(Int?, Int, Bool)])
    func maxRows(_ maxRows: Int?, _ count: Int, _ isTruncated: Bool) throws {
        let store = try sandbox.open()
        for rows in [
            try store.query("VALUES (1), (2), (3)", maxRows: maxRows),
            try ResponseStore.query("VALUES (1), (2), (3)", inStoreAt: sandbox.url, maxRows: maxRows),
        ] {
            #expect(rows.rows == (0..<count).map { [.integer(Int64($0) + 1)] })
            #expect(rows.isTruncated == isTruncated)
            #expect(rows.columns == ["column1"])
        }
    }

    @Test("maxRows ends a query without its remaining work")
    func endlessRows() throws {
        let store = try sandbox.open { $0.queryTimeout = .seconds(5) }
        let rows = try store.query(
            "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number) SELECT n FROM number",
            maxRows: 5)
        #expect(rows.count == 5)
        #expect(rows.isTruncated)
    }

    @Test("forEachRow passes each row before the query finds the next, until the caller stops it")
    func rowByRow() throws {
        let store = try sandbox.open { $0.queryTimeout = .seconds(3600) }
        let sql = "WITH RECURSIVE number (n) AS (SELECT ? UNION ALL SELECT n + 1 FROM number) SELECT n FROM number"
        var rows: [SQLRows.Row] = []
        let take: (SQLRows.Row) -> Bool = { row in
            rows.append(row)
            return rows.count % 3 > 0
        }
        #expect(try store.forEachRow(of: sql, [7], take) == ["n"])
        #expect(try ResponseStore.forEachRow(of: sql, [8], inStoreAt: sandbox.url, timeout: nil, take) == ["n"])
        #expect(rows.map { $0["n"]?.integer } == [7, 8, 9, 8, 9, 10])
        #expect(try store.forEachRow(of: "SELECT url, id FROM cache_entries") { _ in false } == ["url", "id"])
    }

    @Test("forEachRow has the time limit and the refusals of query")
    func rowByRowErrors() throws {
        let limit = Duration.milliseconds(50)
        let store = try sandbox.open { $0.queryTimeout = limit }
        var count = 0
        #expect(throws: StoreError.queryTimedOut(limit: limit)) {
            try store.forEachRow(of: "\(Self.numbers) SELECT n FROM number") { _ in
                count += 1
                return true
            }
        }
        #expect(count > 0)
        #expect(throws: StoreError.self) { try store.forEachRow(of: "DELETE FROM entry") { _ in true } }
        #expect(throws: StoreError.self) { try store.forEachRow(of: "SELECT key FROM entry") { _ in true } }
        store.close()
        #expect(throws: StoreError.closed) { try store.forEachRow(of: "SELECT 1") { _ in true } }
    }
}
