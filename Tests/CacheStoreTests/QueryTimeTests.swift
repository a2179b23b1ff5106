import TestSupport

@Suite("The time of queries")
struct QueryTimeTests {
    let sandbox = Sandbox()
    let store: ResponseStore

    init() throws { store = try sandbox.open() }

    static let now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

    @Test(
        "SQL's 'now' is the time of the store's clock",
        arguments: [
            ("1994-11-06T08:49:37.000Z", 784_111_777.0), ("1969-12-31T23:59:59.500Z", -0.5),
            ("2100-03-01T00:00:00.250Z", 4_107_542_400.25),
            // SQLite has no later and no earlier times.
            ("9999-12-31T23:59:59.999Z", 1e15), ("-4713-11-24T12:00:00.001Z", -1e15),
        ])
    func now(_ text: String, _ seconds: TimeInterval) throws {
        sandbox.clock.set(Date(timeIntervalSince1970: seconds))
        #expect(try store.query("SELECT \(Self.now)").rows == [[.text(text)]])
    }

    @Test("An entry is stale in the view from the second at which the store's clock reaches its expiry")
    func freshness() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(expiresIn: 60), for: .path("a"))
        for (seconds, expected) in [(59.0, "fresh"), (1, "stale"), (-1, "fresh")] {
            sandbox.clock.advance(by: seconds)
            #expect(try store.query("SELECT freshness FROM cache_entries").rows == [[.text(expected)]])
        }
    }

    @Test("Other SQLite clients, and queries on a store that is not open, use the system's time")
    func others() throws {
        let year = "strftime('%Y', 'now')"
        #expect(try store.query("SELECT \(year)").rows == [[.text("1994")]])
        let present = try RawIndex(sandbox.indexPath).value("SELECT \(year)")
        #expect(present != "1994")
        #expect(try ResponseStore.query("SELECT \(year)", inStoreAt: sandbox.url).rows.first?.first?.text == present)
    }
}
