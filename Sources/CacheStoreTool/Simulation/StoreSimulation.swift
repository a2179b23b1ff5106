package import CacheStore
import Foundation

/// Replays requests against the index of a store, and counts the hits of an eviction policy.
///
/// The index is a real one, in a directory of its own that is removed with the simulation. Every lookup, access, commit and eviction
/// runs the statements of a store, in the transactions of one writer: a hit is collected in memory; a miss commits, evicts down to
/// the limit, and goes on down to the low-water mark. Bodies have a length and no bytes, so there are no files. Each request comes a
/// millisecond after the one before. For one caller at a time.
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
    package var directory: String { place.url.path(percentEncoded: false) }
    private let place = RemovedDirectory()
    private let path: String
    private let connection: Connection
    private let keeper: LimitKeeper
    private let touches = Touches()
    private var counts = Result()
    private var storedEntries: Int64 = 0
    private var now: Int64 = 0

    /// An empty store.
    package init(_ policy: EvictionPolicy, limits: Limits) throws(StoreError) {
        self.limits = limits
        keeper = LimitKeeper(limits)
        // A store makes the index, and knows its path without symbolic links, which SQLite does not follow.
        var configuration = ResponseStore.Configuration()
        configuration.evictionPolicy = policy
        let store = try ResponseStore(directory: place.url, configuration: configuration)
        store.close()
        path = store.directory.appending(path: "index.sqlite").path(percentEncoded: false)
        connection = try indexErrors { [path] () throws(SQLiteError) in
            try Connection(path: path, role: .writer, busyTimeout: .zero)
        }
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
        return try indexErrors { () throws(SQLiteError) in
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
        try indexErrors { () throws(SQLiteError) in
            try transact { _ in }
            counts.evictedEntries = storedEntries - (try connection.size().entries)
        }
        counts.rowsWritten = connection.rowsWritten
        counts.pagesWritten = connection.pagesWritten
        return counts
    }

    private func store(_ key: CacheKey, _ byteCount: Int64) throws(SQLiteError) {
        let time = Date(timeIntervalSince1970: Double(now) / 1_000)
        // Bodies of different keys are different.
        let digest = byteCount == 0 ? nil : Array(key.text.utf8).withUnsafeBytes { ContentDigest(of: $0) }
        try transact { (connection) throws(SQLiteError) in
            _ = try connection.store(
                EntryMetadata(requestedAt: time, receivedAt: time), for: key, digest: digest, byteCount: byteCount,
                at: now)
        }
        storedEntries += 1
    }

    /// No timer runs: what is noted goes with the next commit.
    private func act(on action: Touches.Action) throws(SQLiteError) {
        if case .writeNow = action { try transact { _ in } }
    }

    /// As `IndexWriter` does it, and then the pass in the background.
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
        try connection.prepared("BEGIN IMMEDIATE").run()
        try connection.apply(touches.take())
        for digest in try connection.unreferencedBlobs(limit: 256) { try connection.removeBlob(digest) }
        try change(connection)
        let isOver = try keeper.enforce(connection, now: now)
        try connection.prepared("COMMIT").run()
        return isOver
    }
}

/// The name of a new temporary directory; the directory is removed with the last reference.
private final class RemovedDirectory {
    let url = FileManager.default.temporaryDirectory
        .appending(path: "cachestore-simulate-\(UUID().uuidString)", directoryHint: .notDirectory)

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

/// Runs `body`, turning an error of SQLite into a ``StoreError``.
private func indexErrors<Value>(_ body: () throws(SQLiteError) -> Value) throws(StoreError) -> Value {
    do {
        return try body()
    } catch {
        throw .index(error)
    }
}
