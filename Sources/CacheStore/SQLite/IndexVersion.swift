internal import CSQLiteVFS

/// A state of the index. While it stays the same, no process has committed anything.
///
/// SQLite keeps the header of the WAL-index in memory that all connections share (https://sqlite.org/walformat.html §2.1).
/// It has the number of commits and of frames, a checksum of all frames, and the salts of the WAL. Comparing it replaces a
/// statement.
struct IndexVersion: Equatable {
    private let salts: UInt64
    private let checksum: UInt64
    private let changes: UInt64

    fileprivate init(_ version: csqlitevfs_version) {
        salts = version.salts
        checksum = version.checksum
        changes = version.changes
    }
}

extension Connection {
    /// The present state of the index. Costs no system call. `nil` if it is unknown, as before the first commit to a WAL.
    var version: IndexVersion? {
        var version = csqlitevfs_version()
        return csqlitevfs_read_version(handle, &version) == 1 ? IndexVersion(version) : nil
    }
}
