internal import Logging

/// How a store makes room where the disk has none left, not even for the change that says so.
///
/// A change goes to the log, which cannot grow; the log could go to the index and begin anew, if that had not to grow itself.
extension ResponseStore {
    /// How long readers are waited for, while nobody can write: each time that a full disk is met, some four times.
    private static let patience = Duration.milliseconds(250)

    /// Evicts because the disk is full: four times as much as is needed, and a sixteenth of what there is at least. Whether
    /// any space has become free.
    func makeRoomOnDisk(for byteCount: Int64) -> Bool {
        do throws(StoreError) {
            let growth = try restartLog()
            let before = try statistics()
            guard before.physicalBytes > 0 else { return false }
            let wanted = max(
                byteCount.multipliedReportingOverflow(by: 4).partialValue, before.physicalBytes / 16, growth, 1 << 16)
            // What no entry needs goes as well.
            let evicted = max(0, wanted - before.unreferencedBytes)
            var report = EvictionReport()
            do throws(StoreError) {
                report = try evictNow(.maxBytes(max(0, before.limitedBytes - evicted)))
            } catch {
                // There may be files less, but no room for what `secureDelete` writes after that.
                guard try statistics().physicalBytes < before.physicalBytes else { throw error }
            }
            // What was in the index is given back with its pages. Evicted it is, whatever comes of this.
            _ = try? restartLog()
            configuration.logger.warning(
                "the disk is full; evicted entries",
                metadata: ["entries": "\(report.entries)", "bytes": "\(report.bytes)"])
            if report.bytes > 0 { return true }
            return try statistics().physicalBytes < before.physicalBytes
        } catch {
            configuration.logger.warning(
                "the disk is full, and nothing can be evicted", metadata: ["error": "\(error)"])
            return false
        }
    }

    /// Deletes files that an eviction would delete after its commit, which finds no room: until there is room for what the index
    /// has to grow by before it has all of the log. More than the eviction wants gone, if need be: nothing could be evicted else.
    ///
    /// The eviction itself is to follow at once. Entries whose body is gone are left where more had to go, this process is killed in
    /// between, or one of them has been used meanwhile: misses, which go when they are met.
    func deleteFilesAhead(of rule: EvictionRule, _ now: Int64, after id: Int64) throws(StoreError) {
        let growth = try restartLog()
        try writer.tentatively { [blobs] (connection) throws(SQLiteError) in
            try connection.deleteFiles(in: blobs, aheadOf: rule, now, after: id, until: growth)
        }
        _ = try restartLog()
    }

    /// Has the log go to the index as far as there is room for it, and begin anew if all of it went there.
    ///
    /// - Returns: Bytes that the index has to grow by before it has the rest.
    private func restartLog() throws(StoreError) -> Int64 {
        try writer.withConnection { [place] (connection) throws(SQLiteError) in
            _ = try? connection.restartLog(within: Self.patience)
            return try connection.growth(of: place)
        }
    }
}

extension StoreDirectory {
    /// What is to be free before a store is opened: for the memory that connections share, and the first pages of a log.
    private static let openingByteCount: Int64 = 256 << 10

    /// Deletes files that an eviction would delete, because there is no room to open the store. The index is read without the memory
    /// that connections share, so nobody else may have it open, in which case there is that memory already.
    ///
    /// - Parameter error: What the opening failed with.
    /// - Returns: The eviction that is to follow when the store has been opened; `nil` if nothing could be deleted, or nothing says that
    ///   there is no room.
    func makeRoomToOpen(after error: StoreError, _ options: IndexOptions) -> EvictionRule? {
        guard error.mayBeFullDisk, let free = try? root.freeByteCount() else { return nil }
        // The connection that found no room has moved the log when it was closed, and deleted it.
        guard free < Self.openingByteCount else { return .maxBytes(.max) }
        do {
            let blobs = try BlobDirectory(root: root, createsDirectory: false)
            let connection = try Connection(path: indexPath, role: .exclusive, busyTimeout: .zero)
            try Migrator(path: indexPath).check(connection)
            let enough = try Self.openingByteCount + max(0, connection.growth(of: self))
            var deleted = (byteCount: Int64(0), rule: EvictionRule.maxBytes(.max))
            try connection.tentatively { () throws(SQLiteError) in
                deleted = try connection.deleteFiles(
                    in: blobs, aheadOf: deleted.rule, options.clock().milliseconds, until: enough)
            }
            guard deleted.byteCount > 0 else { return nil }
            options.logger.warning("the disk is full; deleted bodies", metadata: ["bytes": "\(deleted.byteCount)"])
            return deleted.rule
        } catch {
            options.logger.warning(
                "the disk is full, and nothing can be deleted", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension Connection {
    /// Bytes that the index has to grow by before it has all of the log.
    fileprivate func growth(of place: StoreDirectory) throws(SQLiteError) -> Int64 {
        let byteCount = try integer(prepared("PRAGMA page_count")) * Connection.pageByteCount
        return byteCount - (place.indexByteCount ?? byteCount)
    }

    /// Deletes the files of what an eviction would remove, and those that nothing needs; to be called in a transaction that is
    /// taken back. Where that is not enough, because files are gone already or bodies are in the index, those of what would be evicted
    /// next.
    ///
    /// - Parameter enough: Bytes after which no more are deleted, but for those of a bite that has begun.
    /// - Returns: The bytes of what was deleted, and the eviction that removes all of that.
    @discardableResult
    fileprivate func deleteFiles(
        in blobs: BlobDirectory, aheadOf rule: EvictionRule, _ now: Int64, after id: Int64 = .min, until enough: Int64
    ) throws(SQLiteError) -> (byteCount: Int64, rule: EvictionRule) {
        var (freed, lastID, rule) = (Int64(0), id, rule)
        // Bounds how long the lock is held where there is nothing to be deleted.
        for _ in 0..<64 {
            let bite = try evictBite(rule, now: now, after: lastID)
            for digest in try unreferencedBlobs(limit: .max) {
                let byteCount = (try? blobs.status(of: digest))?.size ?? 0
                if (try? blobs.unlink(digest)) == true { freed += byteCount }
                try removeBlob(digest)
            }
            if freed > enough { break }
            lastID = bite.lastID
            guard bite.isDone else { continue }
            let left = try size()
            // Where nothing is missing the rule is enough.
            guard left.bytes > 0, enough > 0 else { break }
            (rule, lastID) = (.maxBytes(max(0, left.bytes - (enough - freed) - 1)), .min)
        }
        return (freed, rule)
    }
}
