/// An open write transaction, and its effects outside the index, which follow the commit. Only a write transaction
/// removes entries, because a removal leaves files to delete.
package final class WriteTransaction {
    package let connection: Connection
    /// Pending accesses. An eviction first writes the accesses of its candidates.
    let accessLog: AccessLog?
    /// Whether other callers wait for this transaction, or for the next one of the same group.
    let isShared: Bool
    /// Accesses that this transaction has written. Restored if it fails.
    var writtenAccesses = AccessLog.Batch()
    /// Bodies of removed rows. Their files are deleted after the commit, unless a row names them by then.
    private(set) var releasedBodies: [ContentDigest] = []
    /// The keys whose lookups change with the commit.
    var changes = HotKeys.Changes()
    /// Entries removed by evictions.
    package var evicted = EvictionReport()
    /// The removals to record after the commit. `nil` while the store records nothing.
    var removals: RecordedRemovals?
    /// When the write lock was taken.
    private var began = ContinuousClock.now

    /// The time after which work that can continue later ends. With the commit, the lock is held for at most 5 ms.
    private static let budget = Duration.milliseconds(2)

    /// Whether the transaction has used up its time. Work in batches checks this after each step.
    package var isOutOfTime: Bool { age > Self.budget }

    /// How long the write lock has been held.
    var age: Duration { ContinuousClock.now - began }

    /// The number of pages that the connection had written when the transaction began.
    private var pagesWritten: Int64 = 0

    /// Whether the transaction has written a page. After the commit: whether anything was committed.
    var hasWrittenPages: Bool { connection.pagesWritten != pagesWritten }

    /// Starts the clock of the transaction. Called when the write lock was taken.
    func start() {
        // The wait for the lock does not count, because only the holder delays other writers.
        began = .now
        // The transaction has begun, so no process commits between this version and its end.
        changes.version = connection.header?.version
        pagesWritten = connection.pagesWritten
    }

    package init(_ connection: Connection, accessLog: AccessLog? = nil, isShared: Bool = false) {
        self.connection = connection
        self.accessLog = accessLog
        self.isShared = isShared
    }

    /// Calls `body`, whose removals have this cause. Without a cause, a removal is not recorded: the entry is replaced.
    func removing<Value>(
        _ cause: RemovalRecord.Cause, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let before = removals?.cause
        removals?.cause = cause
        defer { removals?.cause = before }
        return try body()
    }

    /// Records that a row no longer has this body.
    func release(_ digest: ContentDigest?) {
        if let digest { releasedBodies.append(digest) }
    }
}
