import CacheInspector
import TestSupport

@Suite("Entries panel")
struct EntriesPanelTests {
    /// Returns the keys of all pages.
    private func keys(_ panel: Panel, _ query: String, limit: Int = 3) async throws -> [String] {
        var keys: [String] = []
        var cursor: String?
        repeat {
            let after = cursor.map { "&after=\($0)" } ?? ""
            let page = try await panel.get("api/entries", "limit=\(limit)&\(query)\(after)")
            #expect(page.status == 200)
            keys += page.strings("entries", "key")
            cursor = page.string("next")
        } while cursor != nil
        return keys
    }

    struct Order: CustomTestStringConvertible {
        let query: String
        let expected: [String]
        var testDescription: String { query }
    }

    @Test(
        "the pages of an order contain each entry once",
        arguments: [
            Order(query: "sort=key", expected: ["a", "b", "c", "d", "e", "f", "g"]),
            Order(query: "sort=key&order=descending", expected: ["g", "f", "e", "d", "c", "b", "a"]),
            Order(query: "sort=stored", expected: ["g", "a", "f", "b", "e", "c", "d"]),
            Order(query: "sort=stored&order=descending", expected: ["d", "c", "e", "b", "f", "a", "g"]),
            // The used entry comes last.
            Order(query: "sort=eviction", expected: ["a", "f", "b", "e", "c", "d", "g"]),
        ])
    func orders(_ order: Order) async throws {
        let panel = try Panel()
        for name in ["g", "a", "f", "b", "e", "c", "d"] { try panel.insert("https://example.com/\(name)") }
        _ = try panel.store.lookup(CacheKey(url: "https://example.com/g"))
        try await panel.store.flush()
        for limit in [1, 2, 3, 7, 100] {
            let found = try await keys(panel, order.query, limit: limit)
            #expect(found.map { String($0.last ?? " ") } == order.expected)
        }
    }

    @Test(
        "the pages of an order without an index contain each entry once, equal values by their ids",
        arguments: [
            Order(query: "sort=size", expected: ["d", "b", "c", "a"]),
            Order(query: "sort=size&order=descending", expected: ["a", "c", "b", "d"]),
            Order(query: "sort=status", expected: ["a", "b", "d", "c"]),
            Order(query: "sort=type", expected: ["d", "c", "a", "b"]),
            Order(query: "sort=type&order=descending", expected: ["b", "a", "c", "d"]),
            Order(query: "sort=expires", expected: ["d", "c", "a", "b"]),
            Order(query: "sort=used&order=descending", expected: ["a", "d", "c", "b"]),
            Order(query: "sort=hits&order=descending", expected: ["a", "d", "c", "b"]),
            Order(query: "sort=size&search=example.com/B", expected: ["b"]),
        ])
    func sortedOrders(_ order: Order) async throws {
        let clock = ManualClock()
        let panel = try Panel(clock: clock)
        try panel.insert("https://example.com/a", "12345", type: "text/css", maxAge: 60)
        try panel.insert("https://example.com/b", "12", type: "text/plain", maxAge: 90)
        try panel.insert("https://example.com/c", "34", type: "image/png", status: 404, maxAge: 30)
        try panel.insert("https://example.com/d", "", type: nil, maxAge: nil)
        clock.advance(by: .seconds(10))
        _ = try panel.store.lookup(CacheKey(url: "https://example.com/a"))
        try await panel.store.flush()
        for limit in [1, 2, 3, 100] {
            let found = try await keys(panel, order.query, limit: limit)
            #expect(found.map { String($0.last ?? " ") } == order.expected)
        }
    }

    @Test("a page in an order without an index ends at its time limit")
    func sortingTimeLimit() throws {
        let panel = try Panel()
        for number in 0..<2_000 { try panel.insert("https://example.com/\(number)", "same") }
        var listing = EntryListing(EntrySelection(partition: ""))
        listing.order = .size
        listing.sortingTimeLimit = .zero
        #expect(throws: StoreError.queryTimedOut(limit: .zero)) { try panel.store.page(of: listing) }
    }

    @Test(
        "filters",
        arguments: [
            ("prefix=https://a.example/x", ["https://a.example/x1", "https://a.example/x2"]),
            ("prefix=https://a.example/X", []),
            ("search=EXAMPLE/X", ["https://a.example/x1", "https://a.example/x2"]),
            ("search=x2&host=a.example", ["https://a.example/x2"]),
            ("search=%25", []),
            ("host=B.example", ["https://b.example/y"]),
            ("tag=red", ["https://a.example/x2"]),
            ("tag=red&sort=stored", ["https://a.example/x2"]),
            ("tag=red&sort=eviction", ["https://a.example/x2"]),
            ("type=image/*", ["https://b.example/y"]),
            ("type=text/html", ["https://a.example/x2"]),
            ("freshness=stale", ["https://c.example/"]),
            ("freshness=fresh&host=c.example", []),
            ("kind=error", ["https://d.example/"]),
            ("min_bytes=10", ["https://b.example/y"]),
            ("max_bytes=2", ["https://c.example/"]),
            ("partition=user", ["https://e.example/"]),
            ("partition=&host=e.example", []),
            ("host=a.example&type=text/html&tag=red&min_bytes=1&freshness=fresh", ["https://a.example/x2"]),
        ])
    func filters(_ query: String, _ expected: [String]) async throws {
        let panel = try Panel()
        try panel.insert("https://a.example/x1")
        try panel.insert("https://a.example/x2", type: "text/html; charset=utf-8", options: EntryOptions(tags: ["red"]))
        try panel.insert("https://b.example/y", "0123456789", type: "image/png")
        try panel.insert("https://c.example/", "12", maxAge: -1)
        try panel.insert("https://d.example/", status: 404)
        try panel.insert("https://e.example/", partition: "user")
        #expect(try await keys(panel, query) == expected)
    }

    @Test("a page that reaches the time limit is marked as cut short, and the next page continues")
    func cutShort() async throws {
        let panel = try Panel()
        for number in 0..<1_500 { try panel.insert("https://example.com/\(number + 10_000)", "same") }
        try panel.insert("https://example.com/99999", "other body")
        var listing = EntryListing(EntrySelection(partition: ""))
        listing.minBytes = 5
        listing.timeLimit = .zero
        var (ids, pages) = (0, 0)
        repeat {
            let page = try panel.store.page(of: listing)
            ids += page.ids.count
            pages += 1
            #expect(page.isCutShort == (page.next != nil))
            listing.after = page.next
        } while listing.after != nil
        #expect(ids == 1)
        #expect(pages == 6)
    }

    @Test(
        "refuses a malformed parameter, and names it in the message",
        arguments: [
            "limit=0", "limit=501", "limit=x", "sort=length", "order=up", "freshness=old", "kind=x", "min_bytes=-1",
            "after=x", "after=0.1.zz.", "after=0.1.6", "after=-1.1..", "sort=eviction&order=descending",
        ])
    func malformed(_ query: String) async throws {
        let answer = try await Panel().get("api/entries", query)
        #expect(answer.status == 400)
        #expect(answer.code == "invalid")
    }

    @Test("refuses a query with invalid percent-encoding, or with a repeated parameter")
    func malformedQuery() async throws {
        for query in ["host=%zz", "host=%ff", "host=%4", "host=a&host=b", "host=%+1"] {
            #expect(try await Panel().get("api/entries", query).status == 400)
        }
    }

    @Test("a percent sign, a quote and a NUL in a filter are text")
    func textIsText() async throws {
        let panel = try Panel()
        try panel.insert("https://example.com/a")
        for text in ["%25", "'%20OR%201=1--", "%00", "%F0%9F%98%80", "*", "..%2F..%2F"] {
            for name in ["prefix", "search", "host", "tag", "type", "partition"] {
                let answer = try await panel.get("api/entries", "\(name)=\(text)")
                #expect(answer.status == 200)
                #expect(answer.count("entries") == 0)
            }
        }
    }
}
