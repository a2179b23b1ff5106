/// An open write transaction and its effects outside the index, which follow the commit.
///
/// Only a write transaction removes entries: a removal leaves files to delete.
package final class WriteTransaction {
    package let connection: Connection
    /// Accesses that the index does not contain yet. An eviction writes those of its candidates first.
    let accessLog: AccessLog?
    /// Whether other callers wait for this transaction, or for the next one of the same group.
    let isShared: Bool
    /// Accesses that this transaction has written, to be restored if it fails.
    var writtenAccesses = AccessLog.Batch()
    /// Bodies of removed entries and derived representations. Their files are deleted after the commit, unless a row
    /// names them by then.
    private(set) var releasedBodies: [ContentDigest] = []
    /// The keys whose lookups find something else after the commit.
    var changes = HotKeys.Changes()
    /// Entries removed by evictions.
    package var evicted = EvictionReport()
    /// When the write lock was taken.
    private var began = ContinuousClock.now

    /// The time after which work that can go on in a later transaction ends: with the commit, the write lock is held
    /// for at most 5 ms.
    private static let budget = Duration.milliseconds(2)

    /// Whether the transaction has used up its time. Work in batches asks this after each step.
    package var isOutOfTime: Bool { age > Self.budget }

    /// How long the write lock has been held.
    var age: Duration { ContinuousClock.now - began }

    /// The pages that the connection had written when the transaction began.
    private var pagesWritten: Int64 = 0

    /// Whether a page was written since the beginning. After the commit: whether there was anything to commit.
    var hasWrittenPages: Bool { connection.pagesWritten != pagesWritten }

    /// Starts the time of the transaction. Called when the write lock was taken.
    func start() {
        began = .now
        changes.version = connection.header?.version
        pagesWritten = connection.pagesWritten
    }

    package init(_ connection: Connection, accessLog: AccessLog? = nil, isShared: Bool = false) {
        self.connection = connection
        self.accessLog = accessLog
        self.isShared = isShared
    }

    /// Notes that a row no longer has this body.
    func release(_ digest: ContentDigest?) {
        if let digest { releasedBodies.append(digest) }
    }
}
