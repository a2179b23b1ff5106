#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A copy of an index at one moment, in the system's directory for temporary files; gone with the last reference.
final class IndexCopy {
    private let directory: TemporaryDirectory
    private var path: String { directory.path + "/index.sqlite" }

    /// Copies the index at `source`, while others write to it.
    ///
    /// By `VACUUM INTO`, and not with SQLite's backup interface: it is one read of one snapshot, too, and needs no lock
    /// that a writer could wait for, but takes along nothing of what was removed and is only not yet overwritten.
    ///
    /// - Parameter interruption: Ends the copying.
    init(of source: String, until interruption: InterruptFlag) throws(StoreError) {
        directory = try mapping { () throws(SystemError) in try TemporaryDirectory(named: "cachestore-export-") }
        // Made here, for its owner only; SQLite fills an empty file.
        try mapping { () throws(SystemError) in
            _ = try FileDescriptor.openDirectory(atPath: directory.path).open("index.sqlite", O_CREAT | O_EXCL | O_RDWR)
        }
        try mapping(source) { () throws(SQLiteError) in
            let connection = try Connection(path: source, role: .inspector, busyTimeout: .seconds(5))
            connection.interrupt(by: interruption)
            // The file is open for reading only; this forbids the other one.
            try connection.execute("PRAGMA query_only = OFF")
            let statement = try connection.prepare("VACUUM INTO ?1")
            statement.bind(path, at: 1)
            try statement.run()
        }
    }

    func open() throws(SystemError) -> FileDescriptor {
        try FileDescriptor.openDirectory(atPath: directory.path).open("index.sqlite", O_RDONLY)
    }

    func entryCount() throws(SQLiteError) -> Int {
        let statement = try connect().prepare("SELECT count(*) FROM entry")
        return try statement.step() ? statement.int(0) : 0
    }

    /// Calls `visit` for every file that entries or derived forms need, and says how many entries do.
    func forEachFile(
        _ visit: (_ digest: ContentDigest, _ byteCount: Int64, _ entries: Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        let connection = try mapping(path, connect)
        let statement = try mapping(path) { () throws(SQLiteError) in
            try connection.prepare(
                """
                SELECT digest, byte_count, (SELECT count(*) FROM entry WHERE body = digest) FROM blob
                WHERE reference_count > 0 AND inline_id IS NULL
                """)
        }
        while try mapping(path, { () throws(SQLiteError) in try statement.step() }) {
            guard let digest = statement.digest(0) else { continue }
            try visit(digest, statement.int64(1), statement.int(2))
        }
    }

    private func connect() throws(SQLiteError) -> Connection {
        try Connection(path: path, role: .inspector, busyTimeout: .zero)
    }
}
