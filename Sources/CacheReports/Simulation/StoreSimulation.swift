package import CacheStore
internal import Foundation

/// A store without files, which replays requests to count the hits of an eviction policy. Uses a real index in a
/// temporary directory. Every lookup, access, commit and eviction runs the statements of a store, in the transactions
/// of one writer. A hit adds a pending access. A miss commits, evicts down to the limits, and continues down to the
/// low-water mark. Bodies have a length and no bytes. Each request comes a millisecond after the previous one. For one
/// caller at a time.
package final class StoreSimulation {
    /// The counts of the requests.
    package struct Result: Sendable {
        package var requests: Int64 = 0
        package var hits: Int64 = 0
        /// The bytes of the requested bodies.
        package var requestedBytes: Int64 = 0
        /// The requested bytes that hits answered.
        package var hitBytes: Int64 = 0
        package var evictedEntries: Int64 = 0
        /// The rows written to the index, including those of triggers.
        package var rowsWritten: Int64 = 0
        /// The pages written to the WAL of the index.
        package var pagesWritten: Int64 = 0
    }

    private let limits: Limits
    /// The directory of the index, deleted with the simulation.
    package let directory: String
    private let connection: Connection
    private let enforcer: LimitEnforcer
    private let accessLog = AccessLog()
    private var counts = Result()
    /// The rows and pages of a new index.
    private let initialWrites: (rows: Int64, pages: Int64)
    private var now: Int64 = 0

    /// Creates an empty store.
    package init(_ policy: EvictionPolicy, limits: Limits) throws {
        self.limits = limits
        enforcer = LimitEnforcer(limits)
        let url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "cachestore-simulate-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        directory = url.path(percentEncoded: false)
        let path = directory + "/index.sqlite"
        connection = try Connection(path: path, role: .writer, busyTimeout: .zero, creates: true)
        try Migrator(path: path).migrate(connection)
        try connection.choose(policy)
        initialWrites = (connection.rowsWritten, connection.pagesWritten)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    /// Requests a body and returns whether the request was a hit. A stored body of any length is a hit. A miss stores
    /// the body of `byteCount` bytes, 0 or more, unless it exceeds the limits.
    package func request(_ key: CacheKey, byteCount: Int64) throws -> Bool {
        now += 1
        counts.requests += 1
        counts.requestedBytes &+= byteCount
        if let entry = try connection.entries(for: key).first {
            counts.hits += 1
            counts.hitBytes &+= byteCount
            try perform(accessLog.note(entry.id, key: key, at: now))
            return true
        }
        var miss = RequestCounts()
        miss.misses = 1
        try perform(accessLog.note(miss, host: key.host ?? "", at: now))
        if byteCount <= limits.maxEntryBytes ?? .max { try store(key, byteCount) }
        return false
    }

    /// Writes pending accesses and returns the counts.
    package func finish() throws -> Result {
        while !accessLog.isEmpty { try transact { _ in } }
        counts.rowsWritten = connection.rowsWritten - initialWrites.rows
        counts.pagesWritten = connection.pagesWritten - initialWrites.pages
        return counts
    }

    private func store(_ key: CacheKey, _ byteCount: Int64) throws {
        let time = Date(milliseconds: now)
        // Bodies of different keys have different digests.
        let digest = byteCount == 0 ? nil : Array(key.text.utf8).withUnsafeBytes { ContentDigest(of: $0) }
        var room = LimitEnforcer.Room.enough
        let hasEvicted = try transact { transaction in
            let entry = try transaction.store(
                EntryMetadata(requestedAt: time, receivedAt: time), for: key, replacing: nil, digest: digest,
                byteCount: byteCount, at: now)
            room = try enforcer.makeRoom(for: entry, in: transaction)
        }
        guard hasEvicted || room == .afterPass else { return }
        var isDone = false
        while !isDone {
            _ = try transact { transaction in isDone = try enforcer.evictBatch(transaction).isDone }
        }
    }

    /// Without a timer, the next commit writes pending accesses.
    private func perform(_ action: AccessLog.Action) throws {
        if case .writeNow = action { while !accessLog.isEmpty { try transact { _ in } } }
    }

    /// Runs one write transaction and returns whether it evicted entries.
    @discardableResult
    private func transact(_ change: (WriteTransaction) throws -> Void) throws -> Bool {
        let transaction = WriteTransaction(connection, accessLog: accessLog)
        try connection.prepared("BEGIN IMMEDIATE").run()
        accessLog.follow(try connection.lastEntryID(), try connection.largestRecency())
        try transaction.write(accessLog.take(limit: 256))
        try change(transaction)
        accessLog.advance(to: try connection.lastEntryID())
        try connection.prepared("COMMIT").run()
        counts.evictedEntries += Int64(transaction.evicted.entries)
        return transaction.evicted.entries > 0
    }
}
