import TestSupport

/// The cost of a call in steps of SQLite's virtual machine, which do not depend on the load of the system.
@Suite("The cost of statements")
struct StatementCostTests {
    /// A call that concerns one entry.
    private struct Call: Sendable {
        let name: String
        let run: @Sendable (WriteTransaction, StoredEntry, EntryMetadata) throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (WriteTransaction, StoredEntry, EntryMetadata) throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    private static let calls = [
        Call("lookup") { transaction, entry, _ in _ = try transaction.connection.entries(for: entry.key) },
        Call("put") { transaction, _, metadata in
            _ = try transaction.store(metadata, for: .path("new"), digest: nil, byteCount: 0, at: 0)
        },
        Call("replace") { transaction, entry, metadata in
            _ = try transaction.store(metadata, for: entry.key, digest: nil, byteCount: 0, at: 0)
        },
        Call("freshen") { transaction, entry, metadata in _ = try transaction.freshen(entry, metadata) },
        Call("setOptions") { transaction, entry, _ in
            _ = try transaction.setOptions(EntryOptions(tags: ["x"]), for: entry.key)
        },
        Call("recordFailure") { transaction, entry, _ in
            _ = try transaction.connection.recordFailure(for: entry.key, status: 500, at: 0)
        },
        Call("removeFailures") { transaction, entry, _ in
            _ = try transaction.connection.removeFailuresWithFragments(of: entry.key)
        },
        Call("evict") { transaction, _, _ in _ = try transaction.evict(atMost: 1) { _ in true } },
        Call("remove") { transaction, entry, _ in _ = try transaction.removeEntries(for: entry.key) },
        Call("statistics") { transaction, _, _ in _ = try transaction.connection.statistics() },
    ]

    private static func costs(among count: Int, _ policy: EvictionPolicy) throws -> [String: Int64] {
        let sandbox = Sandbox()
        try sandbox.open { $0.evictionPolicy = policy }.close()
        try sandbox.fillQuickly(count)
        let store = try sandbox.open()
        let entry = try #require(try store.peek(.path(count / 2)))
        store.close()
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(1))
        let transaction = WriteTransaction(connection)
        var costs: [String: Int64] = [:]
        for call in calls {
            let before = connection.stepCount
            try call.run(transaction, entry, sandbox.metadata())
            costs[call.name] = connection.stepCount - before
        }
        return costs
    }

    @Test(
        "under each policy, a call for one entry costs as much among thousands of entries as among a few",
        arguments: EvictionPolicy.allCases)
    func independentOfSize(_ policy: EvictionPolicy) throws {
        let few = try Self.costs(among: 50, policy)
        let many = try Self.costs(among: 3_000, policy)
        for call in Self.calls {
            let (before, after) = (few[call.name] ?? 0, many[call.name] ?? 0)
            #expect(before > 0, "\(call.name)")
            #expect(Double(after) <= 1.5 * Double(before), "\(call.name): \(before) steps, then \(after)")
        }
    }
}
