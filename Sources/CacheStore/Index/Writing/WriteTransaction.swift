/// An open write transaction and its effects outside the index, which follow the commit.
///
/// Only a write transaction removes entries: a removal leaves files to delete.
package final class WriteTransaction {
    package let connection: Connection
    /// Accesses that the index does not contain yet; an eviction writes those of its candidates first.
    let accessLog: AccessLog?
    /// Accesses that this transaction has written, for the case that it fails.
    var writtenAccesses = AccessLog.Batch()
    /// Bodies of removed entries and forms. Their files are deleted after the commit, unless a row names them then.
    package private(set) var releasedBodies: [ContentDigest] = []
    /// Entries removed by evictions.
    package var evicted = EvictionReport()

    package init(_ connection: Connection, accessLog: AccessLog? = nil) {
        self.connection = connection
        self.accessLog = accessLog
    }

    /// Notes that a row no longer has this body.
    func release(_ digest: ContentDigest?) {
        if let digest { releasedBodies.append(digest) }
    }
}
