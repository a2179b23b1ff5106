#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CSQLite
internal import Logging
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// How the index is opened.
struct IndexOptions: Sendable {
    var busyTimeout: Duration
    var isDurable: Bool
    var deletesSecurely: Bool
    /// `nil` for that of the index.
    var evictionPolicy: EvictionPolicy?
    var clock: @Sendable () -> Date
    var logger: Logger
}

/// The index of a store, opened; made, or begun afresh, if need be.
extension StoreDirectory {
    /// The writer's connection.
    struct OpenedIndex {
        let connection: Connection
        /// `false` when the index was empty until now, beside files of an earlier one.
        var knowsItsFiles: Bool
    }

    /// What came of opening the index as it is.
    private enum Opening {
        case opened(OpenedIndex)
        /// It will never be of use.
        case damaged(reason: String)
    }

    /// Tells whether the index is still the file that a connection was opened to; `nil` if there is none.
    var indexNumber: UInt64? { (try? root.status(of: "index.sqlite"))?.inode }

    /// The size of the file; pages that are in the log only are not counted.
    var indexByteCount: Int64? { (try? root.status(of: "index.sqlite"))?.size }

    /// What the disk has room for, whatever a quota says; 0 if that cannot be said.
    var freeByteCount: Int64 { (try? root.freeByteCount()) ?? 0 }

    /// Opens the index for writing, makes it if there is none, and brings it up to date. One that will never be of use is
    /// set aside.
    func openIndex(_ options: IndexOptions) throws(StoreError) -> sending OpenedIndex {
        if case .opened(let index) = try openPresentIndex(options) { return index }
        // Looked at once more while nobody else sets anything aside, and with a fresh connection: a read of the first page
        // that fails once looks like damage, too.
        try whileOthersWait(options) { () throws(StoreError) in
            if case .damaged(let reason) = try openPresentIndex(options) { try setIndexAside(because: reason, options) }
        }
        switch try openPresentIndex(options) {
        case .opened(var index):
            index.knowsItsFiles = false
            return index
        case .damaged(let reason):
            throw .notAnIndex(path: indexPath, reason: reason)
        }
    }

    /// Sets the index aside if it is still the file that looked damaged to a connection, and looks so to another one.
    func setIndexAside(ifDamaged file: UInt64, _ options: IndexOptions) throws(StoreError) {
        try whileOthersWait(options) { () throws(StoreError) in
            guard indexNumber == file else { return }
            switch try openPresentIndex(options) {
            case .damaged(let reason):
                try setIndexAside(because: reason, options)
            case .opened(let index):
                let problems = try mapping(indexPath) { () throws(SQLiteError) in try index.connection.problems() }
                if let problem = problems.first { try setIndexAside(because: problem, options) }
            }
        }
    }

    private func openPresentIndex(_ options: IndexOptions) throws(StoreError) -> sending Opening {
        do throws(StoreError) {
            for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
                // SQLite would follow links of the latter two.
                let status = try usable { () throws(SystemError) in try root.status(of: name) }
                if let status, !status.isRegular { return .damaged(reason: "\(name) is not a regular file") }
            }
            let hadBlobs = try usable { () throws(SystemError) in try root.status(of: "blobs") != nil }
            if indexNumber == nil { try usable { () throws(SystemError) in try createIndex() } }
            let connection = try mapping(indexPath) { () throws(SQLiteError) in
                try Connection(
                    path: indexPath, role: .writer, busyTimeout: options.busyTimeout, isDurable: options.isDurable,
                    deletesSecurely: options.deletesSecurely)
            }
            let isNew = try Migrator(path: indexPath).migrate(connection)
            try mapping(indexPath) { () throws(SQLiteError) in
                // Only now, because reading is what opens the log.
                try connection.checkLogWritable()
                try connection.probeSchema()
                connection.leaveLogToOthers()
                if let policy = options.evictionPolicy { try connection.choose(policy) }
            }
            // The names of index and log have to outlast a power cut, as what is in them.
            if options.isDurable { try usable { () throws(SystemError) in try syncNames() } }
            return .opened(OpenedIndex(connection: connection, knowsItsFiles: !(isNew && hadBlobs)))
        } catch {
            switch error {
            case .newerSchema(_, let found, let supported):
                return .damaged(reason: "it has schema version \(found), this program knows \(supported)")
            case .index(let error) where error.isDamage:
                return .damaged(reason: error.message)
            case .index(let error) where error.isAboutTheDirectory:
                throw .unusableDirectory(path: path, reason: error.message)
            default:
                throw error
            }
        }
    }

    private func usable<Value>(_ body: () throws(SystemError) -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw .unusableDirectory(path: path, reason: error.description)
        }
    }

    /// An empty file, for its owner only: SQLite would let others read it, and gives the log the same permissions.
    ///
    /// Made under another name and linked: were the index itself opened and closed here, POSIX would release the locks of
    /// every connection that this process has to it (https://sqlite.org/howtocorrupt.html §2.2).
    private func createIndex() throws(SystemError) {
        while true {
            let name = Self.newIndexPrefix + String(UInt64.random(in: .min ... .max), radix: 36)
            _ = try root.open(name, O_CREAT | O_EXCL | O_RDWR)
            defer { _ = try? root.unlink(name) }
            do {
                try FileDescriptor.retrying("linkat", indexPath) {
                    linkat(root.number, name, root.number, "index.sqlite", 0)
                }
                return
            } catch let error where error.errno == EEXIST {
                return
            } catch let error where error.errno == ENOENT {
                // Swept away as the leftover of a killed process.
                guard try root.status().linkCount > 0 else { throw error }
            }
        }
    }

    /// Deletes what processes that were killed while they made an index have left.
    func sweepUnfinishedIndices() throws(SystemError) {
        for name in try root.names() where name.hasPrefix(Self.newIndexPrefix) { try root.unlink(name) }
    }

    private static let newIndexPrefix = "index.new-"

    /// A connection for lookups.
    func openReader(isReadOnly: Bool, busyTimeout: Duration) throws(StoreError) -> sending Connection {
        try mapping(indexPath) { () throws(SQLiteError) in
            try Connection(path: indexPath, role: isReadOnly ? .inspector : .reader, busyTimeout: busyTimeout)
        }
    }

    /// Sees whether the index can be read as it is: who only reads migrates nothing, and sets nothing aside.
    func checkIndex(_ options: IndexOptions) throws(StoreError) {
        do throws(StoreError) {
            let connection = try openReader(isReadOnly: true, busyTimeout: options.busyTimeout)
            try Migrator(path: indexPath).check(connection)
        } catch .index(let error) where error.isAboutTheDirectory {
            throw .unusableDirectory(path: path, reason: error.message)
        } catch .index(let error) where error.isDamage {
            throw .notAnIndex(path: indexPath, reason: error.message)
        }
    }

    // MARK: Setting aside

    private static let asidePrefix = "index.sqlite.set-aside-"

    /// Gives the index, and what belongs to it, a dated name, so that the next opening begins afresh. Of those that were
    /// set aside before nothing is kept.
    private func setIndexAside(because reason: String, _ options: IndexOptions) throws(StoreError) {
        let date = options.clock().formatted(.iso8601.dateTimeSeparator(.standard).timeSeparator(.omitted))
        var name = Self.asidePrefix + date
        try usable { () throws(SystemError) in
            _ = try removeIndicesSetAside()
            // What could not be removed, a directory for one, keeps its name.
            while try root.status(of: name) != nil { name += "-again" }
            // The index last: a fresh one must not meet the log of the old.
            for suffix in ["-wal", "-shm", ""] { try root.rename("index.sqlite" + suffix, to: name + suffix) }
        }
        options.logger.error(
            "set an unusable index aside and began afresh",
            metadata: ["index": "\(indexPath)", "reason": "\(reason)", "kept": "\(path)/\(name)"])
    }

    /// Deletes indices that were set aside; how many files there were.
    func removeIndicesSetAside() throws(SystemError) -> Int {
        var count = 0
        for name in try root.names() where name.hasPrefix(Self.asidePrefix) {
            // A directory that was planted in the place of the index stays where it is.
            do throws(SystemError) {
                if try root.unlink(name) { count += 1 }
            } catch let error where [EISDIR, EPERM].contains(error.errno) {}
        }
        return count
    }

    /// Runs `body` while no other process sets an index aside.
    private func whileOthersWait(
        _ options: IndexOptions, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let lock = try usable { () throws(SystemError) in
            try root.makeDirectory("blobs")
            return try DirectoryLock("blobs", below: root)
        }
        let isTaken = try usable { () throws(SystemError) in
            try DirectoryLock.wait(options.busyTimeout) { () throws(SystemError) in try lock.tryExclusive() }
        }
        guard isTaken else { throw .busy(path: indexPath) }
        defer { lock.release() }
        try body()
    }
}

extension SQLiteError {
    /// Whether the file, or a file beside it, cannot be opened, read or written, for reasons that lie outside of it.
    fileprivate var isAboutTheDirectory: Bool {
        [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL, SQLITE_PERM].contains(code)
    }
}
