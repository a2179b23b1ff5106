import TestSupport

@Suite("Query plans")
struct QueryPlanTests {
    let sandbox = Sandbox()

    @Test("no statement of a lookup, a write or an eviction scans a table or sorts")
    func plans() throws {
        let store = try sandbox.open()
        let entry = try store.insert([1, 2, 3] as [UInt8], metadata: sandbox.metadata(expiresIn: -1), for: .path("a"))
        store.close()

        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(1))
        let transaction = WriteTransaction(connection)
        func put(_ variant: String = "") throws -> StoredEntry {
            try transaction.store(
                sandbox.metadata(variant: variant), for: entry.key, digest: entry.digest, byteCount: 3, at: 0)
        }
        _ = try connection.entries(for: entry.key)
        _ = try connection.failure(for: entry.key)
        _ = try connection.failure(for: entry.key, request: "HEAD")
        _ = try connection.statistics()
        _ = try connection.recordFailure(for: entry.key, status: 500, at: 0)
        _ = try transaction.freshen(entry, entry.metadata)
        let accesses = AccessLog()
        _ = accesses.note(entry.id, at: 0)
        try transaction.write(accesses.take())
        _ = try transaction.removeEntry(entry)
        _ = try put()
        _ = try put()
        for rule in [EvictionRule.maxBytes(0), .maxEntries(0)] {
            _ = try transaction.evict(while: rule.isTooMuch)
            _ = try put()
        }
        _ = try put("v")
        _ = try transaction.removeEntries(for: entry.key)
        _ = try connection.removeFailures(for: entry.key)
        _ = try connection.removeFailures(for: entry.key, .request("HEAD"))
        _ = try connection.removeFailuresWithFragments(of: entry.key)
        _ = try connection.containsBlob(#require(entry.digest))

        _ = try transaction.setOptions(EntryOptions(lifetime: .session, isPinned: true, tags: ["x"]), for: entry.key)
        _ = try transaction.removeLapsedEntries(limit: 1)
        _ = try connection.generation()
        try transaction.noteRemoval(of: entry.key)
        try transaction.noteRemoval(fromPartition: "p")
        _ = try connection.wasRemoved(entry.key, since: StoreGeneration(number: 0))
        _ = try connection.beginSession()
        try connection.registerWriter()
        try connection.unregisterWriter()
        _ = try connection.killedWriters()
        _ = try connection.countKilledWriter()
        try connection.removeKilledWriters(1)
        var counts = RequestCounts()
        counts.misses = 1
        _ = accesses.note(counts, host: "example.com", at: 0)
        try transaction.write(accesses.take())
        try connection.countDamagedBody()
        _ = try connection.groups(of: entry.key)
        _ = try transaction.removeMembers(of: ["g"], sameOriginAs: entry.key)
        let original = try put()
        for number in 0...Connection.maxDerived {
            try transaction.storeDerived("\(number)", of: original, digest: entry.digest, byteCount: 3, at: 0)
        }
        #expect(try connection.contains(original))
        #expect(try connection.derived("1", of: original) != nil)
        try transaction.removeDerived("1", ofEntry: original.id)
        _ = try connection.size()
        _ = try connection.largestRecency()
        try connection.choose(.valueAware)
        try transaction.reorderEntries()
        try transaction.reorderEntries()
        _ = try transaction.evict(while: EvictionRule.maxEntries(0).isTooMuch)

        let statements = connection.preparedSQL
        #expect(statements.count >= 40)
        let index = try RawIndex(sandbox.indexPath)
        for sql in statements { try expectCheap(sql, index) }
    }

    private func expectCheap(_ sql: String, _ index: RawIndex) throws {
        for step in try index.rows("EXPLAIN QUERY PLAN \(sql)").compactMap({ $0[3] }) {
            // `total`, `state` and `one` have one row. One entry has few derived representations and variants, so
            // sorting them is cheap. A scan of an index or of ids ends at the LIMIT, an EXISTS at the first row. A
            // virtual table is a list in one value. A key has at most 64 related keys.
            let isCheap =
                !step.contains("SCAN")
                || ["SCAN total", "SCAN state", "SCAN CONSTANT ROW", "SCAN one", "SCAN related"].contains(step)
                || step.contains(" USING ") || step.contains(" VIRTUAL TABLE ")
                || step == "SCAN entry" && sql.contains("SELECT id FROM entry ORDER BY id DESC LIMIT 1")
                || step == "SCAN priority" && sql.contains("EXISTS (SELECT 1 FROM priority)")
                || step == "SCAN ghost" && sql.contains("EXISTS (SELECT 1 FROM ghost)")
            // One partition may hold every entry.
            if step.hasSuffix("(partition=?)") { Issue.record("\(step) reads a partition, in \(sql)") }
            let sorts = step.contains("TEMP B-TREE") && !sql.contains("LIMIT -1 OFFSET ?3")
            if !isCheap || sorts { Issue.record("\(step) in \(sql)") }
        }
    }

    @Test("statements that store, use and remove an entry cannot abort, so that SQLite needs no statement journal")
    func noCopies() throws {
        let store = try sandbox.open()
        let entry = try store.insert([1, 2, 3] as [UInt8], metadata: sandbox.metadata(), for: .path("a"))
        for request in ["", "HEAD"] { try store.recordFailure(for: entry.key, request: request, status: 500) }
        store.close()
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(1))
        let transaction = WriteTransaction(connection)
        let accesses = AccessLog()
        _ = accesses.note(entry.id, at: 0)
        try transaction.write(accesses.take())
        for key in try [entry.key, .path("b")] {
            _ = try transaction.store(entry.metadata, for: key, digest: entry.digest, byteCount: 3, at: 0)
        }
        _ = try transaction.evict(while: EvictionRule.maxEntries(0).isTooMuch)
        try connection.removeFailures(for: entry.key, .request("HEAD"))
        try connection.removeFailures(for: entry.key)
        let index = try RawIndex(sandbox.indexPath)
        var count = 0
        for sql in connection.preparedSQL {
            let steps = try index.rows("EXPLAIN \(sql)")
            // Any other statement without a trigger changes one row, or none.
            guard sql.contains(" access ") || steps.contains(where: { $0[1] == "Program" }) else { continue }
            count += 1
            for step in steps {
                let name = step[1] ?? ""
                // A function may fail; 2 is ABORT.
                let mayFail = name.hasSuffix("Function") || name.hasPrefix("Halt") && step[3] == "2"
                #expect(!mayFail, "\(step) in \(sql)")
            }
        }
        #expect(count == 8)
    }

    @Test(
        "a selection searches an index",
        arguments: [
            (EntrySelection.partition("p"), "entry USING COVERING INDEX entry_by_key (partition=?)"),
            (
                .prefix("https://example.com/"),
                "entry USING COVERING INDEX entry_by_key (partition=? AND key>? AND key<?)"
            ),
            (
                EntrySelection(partition: "p", prefix: "https://e"),
                "entry USING COVERING INDEX entry_by_key (partition=? AND key>? AND key<?)"
            ),
            (EntrySelection(partition: "p", host: "example.com"), "entry USING INDEX entry_by_key (partition=?)"),
            (
                EntrySelection(prefix: "https://e", host: "example.com"),
                "entry USING INDEX entry_by_key (partition=? AND key>? AND key<?)"
            ),
            (.tag("x"), "tag USING PRIMARY KEY (name=?)"),
            (EntrySelection(partition: "p", tag: "x"), "tag USING PRIMARY KEY (name=?)"),
            (EntrySelection(host: "example.com", tag: "x"), "tag USING PRIMARY KEY (name=?)"),
            (EntrySelection(partition: "p", contentType: "text/html"), "(partition=?)"),
        ])
    func selections(_ selection: EntrySelection, _ path: String) throws {
        try sandbox.open().close()
        let index = try RawIndex(sandbox.indexPath)
        let steps = try index.rows("EXPLAIN QUERY PLAN \(selection.query()) LIMIT ?9").compactMap { $0[3] }
        #expect(steps.contains { $0.hasPrefix("SEARCH ") && $0.contains(path) }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN entry") && !$0.contains("USING COVERING INDEX") }, "\(steps)")
        let question = "EXPLAIN QUERY PLAN SELECT 1 FROM entry WHERE id = ?9 AND \(selection.conditionOfOneEntry)"
        let scans = try index.rows(question).compactMap { $0[3] }.filter { $0.hasPrefix("SCAN ") && $0 != "SCAN state" }
        #expect(scans == [])
    }
}
