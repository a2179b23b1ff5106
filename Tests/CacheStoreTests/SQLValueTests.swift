import TestSupport

@Suite("SQLValue and SQLRows")
struct SQLValueTests {
    @Test(
        "A value prints as itself",
        arguments: [
            (.null, "NULL"), (.integer(42), "42"), (.integer(.min), "-9223372036854775808"), (.real(1.5), "1.5"),
            (.text("example.com"), "example.com"), (.text(""), ""), (.blob([]), "x''"),
            (.blob([0, 15, 16, 255]), "x'000f10ff'"),
        ] as [(SQLValue, String)])
    func description(_ value: SQLValue, _ text: String) {
        #expect("\(value)" == text)
        #expect("\([value])" == "[\(text)]")
    }

    @Test(
        "A literal converts to a value",
        arguments: [
            (nil, .null), (5, .integer(5)), (-5, .integer(-5)), (1.5, .real(1.5)), ("a", .text("a")),
        ] as [(SQLValue, SQLValue)])
    func literal(_ literal: SQLValue, _ value: SQLValue) {
        #expect(literal == value)
    }

    @Test("Literals are arguments of a query, and its rows print as lines of columns and values")
    func rows() throws {
        let sandbox = Sandbox()
        let store = try sandbox.open()
        let rows = try store.query(
            "SELECT ? AS host, ? AS entries, ? AS share, ? AS missing", ["example.com", 5, 0.5, nil])
        #expect(rows.first?.values == [.text("example.com"), .integer(5), .real(0.5), .null])
        #expect(rows.first.map { "\($0)" } == "host: example.com, entries: 5, share: 0.5, missing: NULL")
        #expect("\(rows.rows)" == "[[example.com, 5, 0.5, NULL]]")
        #expect("\(try store.query("SELECT 1 AS n UNION ALL SELECT 2"))" == "n: 1\nn: 2")
        #expect("\(try store.query("SELECT key FROM cache_entries"))" == "")
        #expect(rows[0]["host"] == "example.com")
        #expect(rows[0]["entries"] == 5)
        #expect(rows[0]["none"] == nil)
        #expect(rows[0]["missing"] != nil)
        #expect(rows[0]["missing"]?.isNull == true)
    }
}
