internal import CPlatform
internal import CSQLite
internal import CacheFoundation

/// Opens the index of a store, creates a missing index and quarantines a damaged one.
extension StoreDirectory {
    typealias Configuration = ResponseStore.Configuration

    /// The writer's connection, and the work deferred by the opening.
    struct OpenedIndex {
        let connection: Connection
        /// The file of the connection.
        let identity: FileIdentity?
        var work: DeferredWork
    }

    /// The work that an opening defers to the background.
    struct DeferredWork: Sendable {
        /// Whether there may be files that no entry needs.
        var hasLeftovers: Bool
        /// The killed writers that the index counts until the sweep has finished.
        var killedWriters: Int64 = 0
        /// Whether there are entries of ended sessions.
        var hasLapsed = false
        /// Whether there may be entries that do not follow the eviction policy.
        let hasUnordered: Bool
        let size: StoreSize
    }

    /// The result of opening the index in its present state.
    private enum Opening {
        case opened(OpenedIndex)
        /// The index can never be used.
        case damaged(reason: String)
        /// Another opener quarantined or replaced the index during this opening.
        case moved
    }

    /// The identity of the index file, if any. A connection is valid while its own file has this identity.
    var indexIdentity: FileIdentity? { FileIdentity(atPath: indexPath) }

    /// Free bytes of the file system, regardless of quotas, or 0 if unknown.
    var freeByteCount: Int64 { (try? root.freeByteCount()) ?? 0 }

    /// Opens the index for writing. Creates a missing index, migrates an older one, and quarantines an unusable one.
    /// With `isOnlyOpener`, no other process has the store open, and the opening begins a new session and detects an
    /// unclean shutdown. `stop` ends waits for locks, also those of the connection.
    func openIndex(
        _ configuration: Configuration, _ log: StoreLog, isOnlyOpener: Bool = false, stop: InterruptFlag? = nil
    ) throws(StoreError) -> sending OpenedIndex {
        if case .opened(let index) = try openPresentIndex(configuration, isOnlyOpener, stop) { return index }
        // Open the index again under the lock, with a new connection: a single failed read of the first page also looks
        // like damage.
        try whileOthersWait(configuration, stop) { () throws(StoreError) in
            if case .damaged(let reason) = try openPresentIndex(configuration, isOnlyOpener, stop, othersWait: true) {
                try quarantineIndex(because: reason, configuration, log)
            }
        }
        switch try openPresentIndex(configuration, isOnlyOpener, stop) {
        case .opened(var index):
            // The index may be new, and then names none of the files.
            index.work.hasLeftovers = true
            return index
        case .damaged(let reason):
            throw .notAnIndex(path: indexPath, reason: reason)
        case .moved:
            throw .busy(path: indexPath)
        }
    }

    /// Quarantines the index if it is still `file`, in which one connection has seen damage, and a second connection
    /// sees damage, too. Throws as soon as `stop` is set.
    func quarantineIndex(
        ifDamaged file: FileIdentity, _ configuration: Configuration, _ log: StoreLog, stop: InterruptFlag
    ) throws(StoreError) {
        try whileOthersWait(configuration, stop) { () throws(StoreError) in
            guard indexIdentity == file else { return }
            switch try openPresentIndex(configuration, false, stop, othersWait: true) {
            case .moved:
                break
            case .damaged(let reason):
                try quarantineIndex(because: reason, configuration, log)
            case .opened(let index):
                index.connection.interrupt(by: stop)
                let problems = try index.connection.problems()
                if let problem = problems.first { try quarantineIndex(because: problem, configuration, log) }
            }
        }
    }

    /// Opens the index in its present state. Returns damage found by any step as a result, so that damage never
    /// prevents opening. With `othersWait`, ``whileOthersWait(_:_:_:)`` is the caller.
    private func openPresentIndex(
        _ configuration: Configuration, _ isOnlyOpener: Bool, _ stop: InterruptFlag?, othersWait: Bool = false
    ) throws(StoreError) -> sending Opening {
        // Read first: the connection below creates the WAL, whose absence shows a clean shutdown.
        let wasShutDown = wasShutDown
        var identity: FileIdentity?
        do throws(StoreError) {
            for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
                // SQLite follows links for the last two names.
                let status = try usable { () throws(StoreError) in try root.status(of: name) }
                if let status, !status.isRegular { return .damaged(reason: "\(name) is not a regular file") }
            }
            let hadBlobs = try usable { () throws(StoreError) in try root.status(of: "blobs") != nil }
            if indexIdentity == nil {
                if othersWait {
                    try createIndex()
                } else {
                    try whileOthersWait(configuration, stop) { () throws(StoreError) in try createIndex() }
                }
            }
            identity = indexIdentity
            let connection = try Connection(
                path: indexPath, role: .writer, busyTimeout: configuration.busyTimeout,
                isDurable: configuration.isDurable,
                deletesSecurely: configuration.secureDelete, cacheByteCount: configuration.cacheByteCount,
                maxWALByteCount: configuration.maxWALByteCount)
            if let stop { connection.stopWaiting(by: stop) }
            let isNew = try Migrator(path: indexPath).migrate(connection)
            // Check the WAL after the migration: SQLite opens the WAL with the first read.
            try connection.checkWALWritable()
            try connection.probeSchema()
            try connection.checkLastEntryID()
            connection.leaveCheckpointsToOthers()
            if let policy = configuration.evictionPolicy { try connection.choose(policy) }
            var work = DeferredWork(
                hasLeftovers: false, hasUnordered: try connection.hasUnorderedEntries(),
                size: try connection.size())
            // Nothing but this opening shows that a new index meets the files of a former one, or that a WAL is left.
            // So count a killed writer, and a store that closes before its sweep has finished leaves the count.
            let isUncounted = isNew && hadBlobs || isOnlyOpener && !wasShutDown
            if isOnlyOpener {
                work.hasLapsed = try connection.beginSession()
                (work.hasLeftovers, work.killedWriters) = try connection.killedWriters()
            }
            if isUncounted, !work.hasLeftovers {
                work.hasLeftovers = true
                work.killedWriters = try connection.countKilledWriter()
            }
            // Compare after the first read, because SQLite has then opened the WAL, by name and not by file.
            guard indexIdentity == identity else { return .moved }
            // The names of the index and the WAL must survive a power cut, too.
            if configuration.isDurable { try usable { () throws(StoreError) in try syncNames() } }
            return .opened(OpenedIndex(connection: connection, identity: identity, work: work))
        } catch {
            switch error {
            case .index where indexIdentity != identity:
                return .moved
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

    private func usable<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        do {
            return try body()
        } catch {
            throw .unusableDirectory(path: path, reason: error.cause)
        }
    }

    /// Creates an empty index file that only its owner can read, unless an index exists. SQLite would let other users
    /// read the file; it gives the WAL the same permissions as the file. Called under the lock of
    /// ``whileOthersWait(_:_:_:)``.
    private func createIndex() throws(StoreError) {
        guard indexIdentity == nil else { return }
        try usable { () throws(StoreError) in
            // Left by a kill during a quarantine. A new index must not meet the WAL of an old one.
            for suffix in ["-wal", "-shm"] { try root.unlink("index.sqlite" + suffix) }
            // Create the file under another name and link it. Opening and closing the index itself would release the
            // locks of every connection of this process (https://sqlite.org/howtocorrupt.html §2.2).
            while try !linkNewIndex() {}
        }
    }

    /// Returns `false` if a sweep has deleted the new file, as if its process had been killed.
    private func linkNewIndex() throws(StoreError) -> Bool {
        let name = Self.newIndexPrefix + String(UInt64.random(in: .min ... .max), radix: 36)
        _ = try root.open(name, O_CREAT | O_EXCL | O_RDWR)
        defer { _ = try? root.unlink(name) }
        do {
            try FileDescriptor.retrying("linkat", indexPath) {
                linkat(root.number, name, root.number, "index.sqlite", 0)
            }
            return true
        } catch let error where error.errno == EEXIST {
            return true
        } catch let error where error.errno == ENOENT {
            guard try root.status().linkCount > 0 else { throw error }
            return false
        }
    }

    /// Deletes files of processes that were killed while creating an index.
    func sweepUnfinishedIndices() throws(StoreError) {
        for name in try root.names() where name.hasPrefix(Self.newIndexPrefix) { try root.unlink(name) }
    }

    private static let newIndexPrefix = "index.new-"

    /// Opens a connection for lookups.
    func openReader(_ configuration: Configuration) throws(StoreError) -> sending Connection {
        try Connection(
            path: indexPath, role: configuration.isReadOnly ? .inspector : .reader,
            busyTimeout: configuration.busyTimeout,
            cacheByteCount: configuration.cacheByteCount)
    }

    /// Checks that the index is readable as it is. A read-only store neither migrates nor quarantines.
    func checkIndex(_ configuration: Configuration) throws(StoreError) {
        do throws(StoreError) {
            let connection = try openReader(configuration)
            try Migrator(path: indexPath).check(connection)
        } catch .index(let error) where error.isAboutTheDirectory {
            throw .unusableDirectory(path: path, reason: error.message)
        } catch .index(let error) where error.isDamage {
            throw .notAnIndex(path: indexPath, reason: error.message)
        }
    }

    // MARK: Quarantine

    private static let quarantinePrefix = "index.sqlite.quarantined-"

    /// Renames the index, its WAL and its WAL-index to a dated name, so that the next opening creates a new index.
    /// Deletes earlier quarantined indexes.
    private func quarantineIndex(because reason: String, _ configuration: Configuration, _ log: StoreLog)
        throws(StoreError)
    {
        let date = configuration.clock().formatted(.iso8601.dateTimeSeparator(.standard).timeSeparator(.omitted))
        var name = Self.quarantinePrefix + date
        try usable { () throws(StoreError) in
            _ = try removeQuarantinedIndices()
            // A directory may still have that name.
            while try root.status(of: name) != nil { name += "-again" }
            // Rename the index first, because a connection must not find the old index without its WAL. A new index
            // cannot meet the old WAL, because it is created under the same lock.
            for suffix in ["", "-wal", "-shm"] { try root.rename("index.sqlite" + suffix, to: name + suffix) }
        }
        log.error(
            "quarantined an unusable index and began a new one",
            ["index": "\(indexPath)", "reason": "\(reason)", "kept": "\(path)/\(name)"])
    }

    /// Deletes quarantined indexes. Returns the number of files.
    func removeQuarantinedIndices() throws(StoreError) -> Int {
        var count = 0
        for name in try root.names() where name.hasPrefix(Self.quarantinePrefix) {
            // A directory that was planted in place of the index stays.
            do throws(StoreError) {
                if try root.unlink(name) { count += 1 }
            } catch let error where [EISDIR, EPERM].contains(error.errno) {}
        }
        return count
    }

    /// Runs `body` while no other process can quarantine the index or evict. Waits for the lock until `stop` is set.
    private func whileOthersWait(
        _ configuration: Configuration, _ stop: InterruptFlag?, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        let lock = try usable { () throws(StoreError) in
            try root.makeDirectory("blobs")
            return try DirectoryLock("blobs", below: root)
        }
        let isTaken = try usable { () throws(StoreError) in
            try DirectoryLock.wait(configuration.busyTimeout, until: stop) { () throws(StoreError) in
                try lock.tryExclusive()
            }
        }
        guard isTaken else { throw .busy(path: indexPath) }
        defer { lock.release() }
        try body()
    }
}

extension SQLiteError {
    /// Whether the index, its WAL or its WAL-index cannot be opened, read or written for a reason outside the file.
    fileprivate var isAboutTheDirectory: Bool {
        [SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_FULL, SQLITE_PERM].contains(code)
    }
}
