import TestSupport

@Suite("Failures of different requests for one key")
struct RequestFailureTests {
    let sandbox = Sandbox()
    let store: ResponseStore
    let key: CacheKey

    init() throws {
        store = try sandbox.open()
        key = try .path("a")
    }

    @discardableResult
    private func fail(_ request: String, _ status: Int, _ key: CacheKey? = nil) throws -> Int {
        try store.recordFailure(for: key ?? self.key, request: request, status: status)
    }

    private func count(_ request: String) throws -> Int? { try store.failure(for: key, request: request)?.count }

    @Test("Each request has its own count; without a request, a failure is the sum over all of them")
    func counts() throws {
        #expect(try [fail("", 404), fail("", 404), fail("HEAD", 405)] == [1, 2, 1])
        sandbox.clock.advance(by: 1)
        #expect(try fail("user", 403) == 1)
        #expect(try [count(""), count("HEAD"), count("user"), count("other")] == [2, 1, 1, nil])
        let sum = try #require(try store.failure(for: key))
        #expect(sum.count == 4)
        #expect(sum.status == 403, "the latest one")
        #expect(sum.date == sandbox.clock.now, "the latest one")
    }

    enum Success: CaseIterable, Sendable {
        case commit, freshening, removal
    }

    @Test("A success of one request removes only its own failures", arguments: Success.allCases)
    func success(_ success: Success) async throws {
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        for request in ["", "HEAD", "user"] { try fail(request, 500) }
        switch success {
        case .commit:
            let writer = store.makeBodyWriter()
            try writer.write(Data("b".utf8))
            try await writer.commit(sandbox.metadata(), for: key, replacing: [], removing: .request("user"))
        case .freshening:
            #expect(try await store.freshen(entry, with: sandbox.metadata(), removing: .request("user")))
        case .removal: try await store.removeFailures(of: key, .request("user"))
        }
        #expect(try [count(""), count("HEAD"), count("user")] == [1, 1, nil])
    }

    @Test("A success of a request without counted failures removes none")
    func uncounted() async throws {
        let entry = try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        try fail("", 500)
        #expect(try await store.freshen(entry, with: sandbox.metadata(), removing: .none))
        #expect(try count("") == 1)
    }

    @Test("A commit, a freshening and a removal of the key remove the failures of all requests", arguments: 0..<4)
    func all(_ way: Int) throws {
        let entry = try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        for request in ["", "HEAD", "user"] { try fail(request, 500) }
        switch way {
        case 0: try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: key)
        case 1: #expect(try store.freshen(entry, with: sandbox.metadata()))
        case 2: #expect(try store.remove(key))
        default: #expect(try store.removeAll(.prefix(key.text)).failures == 1, "the report counts keys")
        }
        #expect(try store.failure(for: key) == nil)
        #expect(try store.statistics().failingKeys == 0)
        #expect(try store.check().problems == [])
    }

    @Test("The views show each failing request, the failing keys, and the sum as the error count of an entry")
    func views() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(variant: "accept: b"), for: key)
        try store.insert(Data("c".utf8), metadata: sandbox.metadata(), for: .path("c"))
        for request in ["", "", "HEAD", "user"] { try fail(request, 500) }
        try fail("", 500, .path("gone"))
        #expect(
            try store.query("SELECT key, error_count FROM cache_entries ORDER BY key, variant").rows == [
                ["https://example.com/a", 4], ["https://example.com/a", 4], ["https://example.com/c", 0],
            ])
        #expect(
            try store.query("SELECT request, error_count FROM cache_errors ORDER BY key, request").rows == [
                ["", 2], ["HEAD", 1], ["user", 1], ["", 1],
            ])
        #expect(try store.query("SELECT failing_keys FROM cache_stats").rows == [[2]])
        #expect(try store.statistics().failingKeys == 2)
        #expect(try store.removeAll(.matching("error_count = 4"), dryRun: true).entries == 2)
        #expect(try store.check().problems == [])
    }

    @Test("Counts at their maximum do not stop the views")
    func largestCounts() throws {
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: key)
        for request in ["", "HEAD"] { try fail(request, 500) }
        try RawIndex(sandbox.indexPath).execute("UPDATE failure SET error_count = \(Int64.max)")
        #expect(try store.failure(for: key)?.count == .max)
        #expect(try store.query("SELECT error_count FROM cache_entries").rows == [[.integer(.max)]])
    }

    @Test("Repair counts the failing keys")
    func repair() throws {
        for request in ["", "HEAD"] { try fail(request, 500) }
        try RawIndex(sandbox.indexPath).execute("UPDATE total SET failing_count = 9")
        try store.repair()
        #expect(try store.statistics().failingKeys == 1)
        #expect(try store.check().problems == [])
    }
}
