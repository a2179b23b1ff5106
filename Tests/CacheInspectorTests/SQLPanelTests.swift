import CacheInspector
import TestSupport

@Suite("SQL panel")
struct SQLPanelTests {
    private func run(_ panel: Panel, _ sql: String, _ others: String = "") async throws -> PanelAnswer {
        let encoded = String(decoding: try JSONEncoder().encode(sql), as: UTF8.self)
        return try await panel.post("api/sql", "{\"sql\": \(encoded)\(others)}")
    }

    @Test("a query returns its columns and values")
    func values() async throws {
        let panel = try Panel()
        let answer = try await run(
            panel, "SELECT 1 AS a, 1.5 AS b, NULL AS c, 'x<y' AS d, x'00ff' AS e, 9007199254740993 AS f, 1e999 AS g")
        #expect(answer.status == 200)
        #expect(
            answer.text.hasPrefix(
                #"{"columns":["a","b","c","d","e","f","g"],"rows":[[1,1.5,null,"x\u003cy",{"hex":"00ff"},"9007199254740993","inf"]]"#
            ))
    }

    @Test("columns of one name have distinct names, because the page makes objects of rows")
    func repeatedColumns() async throws {
        #expect(try await run(Panel(), "SELECT 1 AS a, 2 AS a").text.hasPrefix(#"{"columns":["a","a_2"],"#))
    }

    @Test("runs the saved queries")
    func savedQueries() async throws {
        let panel = try Panel()
        try panel.insert("https://example.com/")
        let session = try await panel.get("api/session")
        let queries = session.strings("sql.queries", "sql")
        #expect(queries.count >= 5)
        for query in queries { #expect(try await run(panel, query).status == 200) }
    }

    @Test(
        "runs only queries on the views",
        arguments: [
            "DELETE FROM entry", "SELECT * FROM entry", "DROP VIEW cache_entries", "PRAGMA journal_mode",
            "ATTACH '/etc/passwd' AS x", "VACUUM INTO '/tmp/inspector-copy'", "SELECT readfile('/etc/passwd')",
            "SELECT load_extension('x')", "INSERT INTO cache_entries DEFAULT VALUES", "SELEC", "", "SELECT ?",
            "SELECT 1; SELECT 2", "WITH x AS (SELECT 1) DELETE FROM entry",
        ])
    func refused(_ sql: String) async throws {
        let panel = try Panel()
        try panel.insert("https://example.com/")
        let answer = try await run(panel, sql)
        #expect(answer.status == 400)
        #expect(try panel.store.statistics().entries == 1)
    }

    private static let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"

    @Test("an endless query ends at the limit of rows")
    func rowLimit() async throws {
        let answer = try await run(Panel(), Self.endless, ", \"max_rows\": 10")
        #expect(answer.count("rows") == 10)
        #expect(answer.bool("is_truncated") == true)
        #expect(try await run(Panel(), Self.endless, ", \"max_rows\": 10001").status == 400)
        let exact = try await run(Panel(), "SELECT 1", ", \"max_rows\": 1")
        #expect(exact.bool("is_truncated") == false)
    }

    @Test("an endless query without rows ends at the limit of time")
    func timeLimit() async throws {
        let answer = try await run(Panel(), "\(Self.endless) WHERE x < 0")
        #expect(answer.status == 408)
        #expect(answer.code == "timed_out")
    }

    @Test("truncates large values and large answers")
    func byteLimit() async throws {
        let panel = try Panel()
        let one = try await run(panel, "SELECT hex(zeroblob(10000000))")
        #expect(one.bytes.count < 100_000)
        // Wide rows reach the byte limit long before the time limit.
        let wide = (0..<8).map { "hex(zeroblob(32000)) AS c\($0)" }.joined(separator: ", ")
        let many = try await run(
            panel, Self.endless.replacing("SELECT x FROM", with: "SELECT x, \(wide) FROM"),
            ", \"max_rows\": 10000")
        #expect(many.bytes.count < 9 << 20)
        #expect(many.bool("is_truncated") == true)
    }
}
