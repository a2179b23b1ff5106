internal import CSQLiteVFS

/// A state of the index. While it stays the same, no process has committed anything.
///
/// SQLite keeps the header of the WAL-index in memory that all connections share (https://sqlite.org/walformat.html §2.1).
/// It has the number of commits and of frames, a checksum of all frames, and the salts of the WAL. Comparing it replaces a
/// statement.
struct IndexVersion: Equatable {
    private let salts: UInt64
    private let checksum: UInt64
    private let commits: UInt32
    private let frames: UInt32

    fileprivate init(_ version: csqlitevfs_version) {
        salts = version.salts
        checksum = version.checksum
        commits = version.commits
        frames = version.frames
    }

    /// Whether exactly one commit lies between `earlier` and this state.
    func follows(_ earlier: IndexVersion) -> Bool { commits == earlier.commits &+ 1 }
}

/// The header of the WAL-index of a connection. Valid while the connection is open.
///
/// `@unchecked`: any thread may read the memory, which only SQLite writes. The lock of ``HotKeys`` keeps it mapped: a reader
/// of the pool takes that lock before it closes its connection.
struct WALIndexHeader: Equatable, @unchecked Sendable {
    private let memory: UnsafeRawPointer

    fileprivate init?(_ connection: OpaquePointer) {
        guard let memory = csqlitevfs_header(connection) else { return nil }
        self.memory = UnsafeRawPointer(memory)
    }

    /// The present state of the index. Costs no system call. `nil` if it is unknown, as before the first commit to a WAL.
    var version: IndexVersion? {
        var version = csqlitevfs_version()
        return csqlitevfs_read_version(memory, &version) == 1 ? IndexVersion(version) : nil
    }
}

extension Connection {
    /// `nil` if the index is in no WAL mode. SQLite maps the memory once, for as long as the connection is open.
    var header: WALIndexHeader? {
        if let mappedHeader { return mappedHeader }
        mappedHeader = WALIndexHeader(handle)
        return mappedHeader
    }
}
