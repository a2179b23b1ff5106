#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A store without files: replays requests to see which an eviction policy turns into hits.
///
/// The index is a real one, in a directory of its own that goes with the simulation, and every lookup, use, commit and
/// eviction runs the statements of a store, in transactions as those of one writer: a hit is noted in memory, a miss
/// commits, evicts what is too much, and goes on down to the low-water mark. Bodies have a length and no bytes. Each request
/// comes a millisecond after the one before. For one caller at a time.
package final class StoreSimulation {
    /// What the requests have come to.
    package struct Result: Sendable {
        package var requests: Int64 = 0
        package var hits: Int64 = 0
        /// Bytes of the bodies that were asked for.
        package var requestedBytes: Int64 = 0
        /// Of those, what hits have answered.
        package var hitBytes: Int64 = 0
        package var evictedEntries: Int64 = 0
        /// Rows of the index that were written, those of triggers included.
        package var rowsWritten: Int64 = 0
        /// Pages of the index that were written to its log.
        package var pagesWritten: Int64 = 0

        package init() {}
    }

    package let limits: Limits
    /// Where the index is, for as long as the simulation lives.
    package var directory: String { place.path }
    private let place: TemporaryDirectory
    private let path: String
    private let connection: Connection
    private let keeper: LimitKeeper
    private let touches = Touches()
    private var counts = Result()
    /// What making the index has written.
    private let initialWrites: (rows: Int64, pages: Int64)
    private var now: Int64 = 0

    /// An empty store.
    package init(_ policy: EvictionPolicy, limits: Limits) throws(StoreError) {
        self.limits = limits
        keeper = LimitKeeper(limits)
        place = try mapping { () throws(SystemError) in try TemporaryDirectory(named: "cachestore-simulate-") }
        path = place.path + "/index.sqlite"
        connection = try mapping(path) { [path] () throws(SQLiteError) in
            try Connection(path: path, role: .writer, busyTimeout: .zero)
        }
        try Migrator(path: path).migrate(connection)
        try mapping(path) { [connection] () throws(SQLiteError) in try connection.choose(policy) }
        initialWrites = (connection.rowsWritten, connection.pagesWritten)
    }

    /// Asks for a body. One that is not there is stored, unless it is larger than the limits allow. Whether it was there.
    ///
    /// - Parameters:
    ///   - key: What it is found by. What is there answers, whatever its length.
    ///   - byteCount: Its length, 0 or more.
    package func request(_ key: CacheKey, byteCount: Int64) throws(StoreError) -> Bool {
        now += 1
        counts.requests += 1
        counts.requestedBytes &+= byteCount
        return try mapping(path) { () throws(SQLiteError) in
            if let entry = try connection.entries(for: key).first {
                counts.hits += 1
                counts.hitBytes &+= byteCount
                try act(on: touches.note(entry.id, at: now))
                return true
            }
            var miss = RequestCounts()
            miss.misses = 1
            try act(on: touches.note(miss, host: key.host ?? "", at: now))
            if byteCount <= limits.maxEntryBytes ?? .max { try store(key, byteCount) }
            return false
        }
    }

    /// Writes what is noted, and says what has been.
    package func finish() throws(StoreError) -> Result {
        try mapping(path) { () throws(SQLiteError) in try transact { _ in } }
        counts.rowsWritten = connection.rowsWritten - initialWrites.rows
        counts.pagesWritten = connection.pagesWritten - initialWrites.pages
        return counts
    }

    private func store(_ key: CacheKey, _ byteCount: Int64) throws(SQLiteError) {
        let time = Date(milliseconds: now)
        // Bodies of different keys are different.
        let digest = byteCount == 0 ? nil : Array(key.text.utf8).withUnsafeBytes { ContentDigest(of: $0) }
        try transact { (connection) throws(SQLiteError) in
            _ = try connection.store(
                EntryMetadata(requestedAt: time, receivedAt: time), for: key, digest: digest, byteCount: byteCount,
                at: now)
        }
    }

    /// No timer runs: what is noted goes with the next commit.
    private func act(on action: Touches.Action) throws(SQLiteError) {
        if case .writeNow = action { try transact { _ in } }
    }

    /// As ``IndexWriter`` does it, and then the pass in the background.
    private func transact(_ change: (Connection) throws(SQLiteError) -> Void) throws(SQLiteError) {
        guard try transactOnce(change) else { return }
        keeper.passBegins()
        var isDone = false
        while !isDone {
            _ = try transactOnce { (connection) throws(SQLiteError) in
                isDone = try keeper.evictBite(connection, now: now)
            }
        }
        // Rows of files go two transactions after the entries.
        while try connection.size().unreferencedBytes > 0 { _ = try transactOnce { _ in } }
        keeper.passEnded(leaving: 0)
    }

    private func transactOnce(_ change: (Connection) throws(SQLiteError) -> Void) throws(SQLiteError) -> Bool {
        connection.evicted = EvictionReport()
        try connection.prepared("BEGIN IMMEDIATE").run()
        try connection.apply(touches.take())
        for digest in try connection.unreferencedBlobs(limit: 256) { try connection.removeBlob(digest) }
        try change(connection)
        let isOver = try keeper.enforce(connection, now: now)
        try connection.prepared("COMMIT").run()
        counts.evictedEntries += Int64(connection.evicted.entries)
        return isOver
    }
}
