#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CPlatform
internal import CSQLite

/// How the index is opened.
struct IndexOptions: Sendable {
    var busyTimeout: Duration
    var isDurable: Bool
    var deletesSecurely: Bool
    var cacheByteCount: Int
    /// `nil` for that of the index.
    var evictionPolicy: EvictionPolicy?
    var clock: @Sendable () -> Date
    var log: StoreLog
}

/// The index of a store, opened; made, or begun afresh, if need be.
extension StoreDirectory {
    /// The writer's connection, and the work that the opening leaves for later.
    struct OpenedIndex {
        let connection: Connection
        /// Whether there may be files that no entry needs.
        var hasLeftovers: Bool
        /// Whether there are entries of ended sessions.
        var hasLapsed = false
        /// Whether there may be entries that do not follow the eviction policy.
        var hasUnordered = false
        let size: StoreSize
    }

    /// What came of opening the index as it is.
    private enum Opening {
        case opened(OpenedIndex)
        /// It will never be of use.
        case damaged(reason: String)
    }

    /// The index at the path of the store; `nil` if there is none. A connection is of use as long as this is its file.
    var indexIdentity: FileIdentity? { FileIdentity(atPath: indexPath) }

    /// Free bytes of the file system, whatever a quota says; 0 if unknown.
    var freeByteCount: Int64 { (try? root.freeByteCount()) ?? 0 }

    /// Opens the index for writing, makes it if there is none, and brings it up to date. One that will never be of use is
    /// set aside.
    ///
    /// - Parameter isOnlyOpener: Whether no other process has the store open: a new session begins, and a kill is detected.
    func openIndex(_ options: IndexOptions, isOnlyOpener: Bool = false) throws(StoreError) -> sending OpenedIndex {
        if case .opened(let index) = try openPresentIndex(options, isOnlyOpener) { return index }
        // Looked at once more while nobody else sets anything aside, and with a fresh connection: a read of the first page
        // that fails once looks like damage, too.
        try whileOthersWait(options) { () throws(StoreError) in
            if case .damaged(let reason) = try openPresentIndex(options, isOnlyOpener) {
                try quarantineIndex(because: reason, options)
            }
        }
        switch try openPresentIndex(options, isOnlyOpener) {
        case .opened(var index):
            index.hasLeftovers = true
            return index
        case .damaged(let reason):
            throw .notAnIndex(path: indexPath, reason: reason)
        }
    }

    /// Sets the index aside if it is still the file that looked damaged to a connection, and looks so to another one.
    func quarantineIndex(ifDamaged file: FileIdentity, _ options: IndexOptions) throws(StoreError) {
        try whileOthersWait(options) { () throws(StoreError) in
            guard indexIdentity == file else { return }
            switch try openPresentIndex(options, false) {
            case .damaged(let reason):
                try quarantineIndex(because: reason, options)
            case .opened(let index):
                let problems = try mapping(indexPath) { () throws(SQLiteError) in try index.connection.problems() }
                if let problem = problems.first { try quarantineIndex(because: problem, options) }
            }
        }
    }

    /// Every step reports damage in the same way: none may keep a store from being opened.
    private func openPresentIndex(
        _ options: IndexOptions, _ isOnlyOpener: Bool
    ) throws(StoreError) -> sending Opening {
        let wasShutDown = wasShutDown
        do throws(StoreError) {
            for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
                // SQLite would follow links of the latter two.
                let status = try usable { () throws(SystemError) in try root.status(of: name) }
                if let status, !status.isRegular { return .damaged(reason: "\(name) is not a regular file") }
            }
            let hadBlobs = try usable { () throws(SystemError) in try root.status(of: "blobs") != nil }
            if indexIdentity == nil { try usable { () throws(SystemError) in try createIndex() } }
            let connection = try mapping(indexPath) { () throws(SQLiteError) in
                try Connection(
                    path: indexPath, role: .writer, busyTimeout: options.busyTimeout, isDurable: options.isDurable,
                    deletesSecurely: options.deletesSecurely, cacheByteCount: options.cacheByteCount)
            }
            let isNew = try Migrator(path: indexPath).migrate(connection)
            let index = try mapping(indexPath) { () throws(SQLiteError) -> OpenedIndex in
                // Only now, because reading is what opens the log.
                try connection.checkWALWritable()
                try connection.probeSchema()
                try connection.checkLastEntryID()
                connection.leaveCheckpointsToOthers()
                if let policy = options.evictionPolicy { try connection.choose(policy) }
                var index = OpenedIndex(
                    connection: connection, hasLeftovers: isNew && hadBlobs,
                    hasUnordered: try connection.hasUnorderedEntries(), size: try connection.size())
                guard isOnlyOpener else { return index }
                index.hasLapsed = try connection.beginSession()
                let wasKilled = try connection.clearWriters()
                index.hasLeftovers = index.hasLeftovers || wasKilled || !wasShutDown
                return index
            }
            // The names of index and log have to outlast a power cut, as what is in them.
            if options.isDurable { try usable { () throws(SystemError) in try syncNames() } }
            return .opened(index)
        } catch {
            switch error {
            case .newerSchema(_, let found, let supported):
                return .damaged(reason: "it has schema version \(found), this program supports \(supported)")
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
    func openReader(isReadOnly: Bool, _ options: IndexOptions) throws(StoreError) -> sending Connection {
        try mapping(indexPath) { () throws(SQLiteError) in
            try Connection(
                path: indexPath, role: isReadOnly ? .inspector : .reader, busyTimeout: options.busyTimeout,
                cacheByteCount: options.cacheByteCount)
        }
    }

    /// Sees whether the index can be read as it is: who only reads migrates nothing, and sets nothing aside.
    func checkIndex(_ options: IndexOptions) throws(StoreError) {
        do throws(StoreError) {
            let connection = try openReader(isReadOnly: true, options)
            try Migrator(path: indexPath).check(connection)
        } catch .index(let error) where error.isAboutTheDirectory {
            throw .unusableDirectory(path: path, reason: error.message)
        } catch .index(let error) where error.isDamage {
            throw .notAnIndex(path: indexPath, reason: error.message)
        }
    }

    // MARK: Setting aside

    private static let asidePrefix = "index.sqlite.quarantined-"

    /// Gives the index, and what belongs to it, a dated name, so that the next opening begins afresh. Of those that were
    /// set aside before nothing is kept.
    private func quarantineIndex(because reason: String, _ options: IndexOptions) throws(StoreError) {
        let date = options.clock().formatted(.iso8601.dateTimeSeparator(.standard).timeSeparator(.omitted))
        var name = Self.asidePrefix + date
        try usable { () throws(SystemError) in
            _ = try removeQuarantinedIndices()
            // What could not be removed, a directory for one, keeps its name.
            while try root.status(of: name) != nil { name += "-again" }
            // The index last: a fresh one must not meet the log of the old.
            for suffix in ["-wal", "-shm", ""] { try root.rename("index.sqlite" + suffix, to: name + suffix) }
        }
        options.log.error(
            "quarantined an unusable index and began a new one",
            ["index": "\(indexPath)", "reason": "\(reason)", "kept": "\(path)/\(name)"])
    }

    /// Deletes indices that were set aside; how many files there were.
    func removeQuarantinedIndices() throws(SystemError) -> Int {
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
