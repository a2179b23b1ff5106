internal import CSQLiteVFS

/// A version of the index. While it stays the same, no process has committed. SQLite keeps the header of the WAL-index
/// in memory that all connections share (https://sqlite.org/walformat.html §2.1). The header contains the number of
/// commits and of frames, a checksum of all frames, and the salts of the WAL. Comparing headers replaces a statement.
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

    /// Whether this version is exactly one commit after `earlier`.
    func follows(_ earlier: IndexVersion) -> Bool { commits == earlier.commits &+ 1 }
}

/// The header of the WAL-index of a connection. Valid while the connection is open. `@unchecked`: any thread may read
/// the memory, and only SQLite writes it. The lock of ``HotKeys`` keeps it mapped, because a reader of the pool takes
/// that lock before it closes its connection.
struct WALIndexHeader: Equatable, @unchecked Sendable {
    private let memory: UnsafeRawPointer

    fileprivate init?(_ connection: OpaquePointer) {
        guard let memory = csqlitevfs_header(connection) else { return nil }
        self.memory = UnsafeRawPointer(memory)
    }

    /// The present version of the index, without a system call. It is unknown before the first commit to a WAL.
    var version: IndexVersion? {
        var version = csqlitevfs_version()
        return csqlitevfs_read_version(memory, &version) == 1 ? IndexVersion(version) : nil
    }
}

extension Connection {
    /// The header, or `nil` outside WAL mode. SQLite maps the memory once, for the life of the connection.
    var header: WALIndexHeader? {
        if let mappedHeader { return mappedHeader }
        mappedHeader = WALIndexHeader(handle)
        return mappedHeader
    }
}
