internal import Synchronization

/// What a sweep deleted.
public struct SweepReport: Hashable, Sendable {
    /// Files that no entry needed.
    public internal(set) var files = 0
    /// Their bytes.
    public internal(set) var bytes: Int64 = 0
    /// Bodies that were being written by processes that are gone; only where files cannot be written without a name.
    public internal(set) var stagedFiles = 0
}

/// Deletes what killed processes have left behind.
extension ResponseStore {
    /// Files looked at in one transaction; bounds how long the write lock is held.
    private static let sweepBite = 256

    /// Deletes files that no entry needs, and bodies whose writers are gone.
    ///
    /// A process that is killed between naming a file and committing its entry leaves the file behind. Such a file needs no
    /// time of grace: names are given under the write lock only, so that whoever holds the lock and finds a file without a
    /// row knows that no commit will come. What live processes are staging has no name, or is locked, and stays.
    /// What is not the store's is never touched.
    ///
    /// Lists the whole directory of blobs. A store does it by itself, in the background, when it opens and finds that a
    /// process before was killed.
    ///
    /// - Parameter gracePeriod: Files that were written more recently than this stay, for who wants to look at them.
    @discardableResult
    public func sweep(gracePeriod: Duration = .zero) throws(StoreError) -> SweepReport {
        try checkWritable()
        // Outside of the changes, which may have to be made twice.
        let deleted = Mutex(SweepReport())
        let newest =
            gracePeriod > .zero ? now.subtractingReportingOverflow(gracePeriod.milliseconds).partialValue : .max
        var unlisted = try unlistedFiles()[...]
        while !unlisted.isEmpty {
            let bite = Array(unlisted.prefix(Self.sweepBite))
            unlisted = unlisted.dropFirst(bite.count)
            try writer.write { [self] (transaction) throws(StoreError) in
                try deleteOrphans(bite, writtenBefore: newest, transaction.connection, deleted)
            }
        }
        var report = deleted.withLock { $0 }
        try wrappingErrors { () throws(SystemError) in
            report.stagedFiles = try blobs.sweepStagedFiles()
            try place.sweepUnfinishedIndices()
        }
        return report
    }

    /// As the synchronous form, without blocking the caller's thread.
    @discardableResult
    public func sweep(gracePeriod: Duration = .zero) async throws(StoreError) -> SweepReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.sweep(gracePeriod: gracePeriod) }
    }

    private func deleteOrphans(
        _ digests: [ContentDigest], writtenBefore time: Int64, _ connection: Connection,
        _ deleted: borrowing Mutex<SweepReport>
    ) throws(StoreError) {
        for digest in digests {
            let status = try wrappingErrors { () throws(SystemError) in try blobs.status(of: digest) }
            guard let status, status.modified / 1_000_000 <= time else { continue }
            let isDeleted = try wrappingErrors(indexPath) { () throws(SQLiteError) in
                try deletion.deleteUnlessNeeded(digest, connection)
            }
            guard isDeleted else { continue }
            deleted.withLock { report in
                report.files += 1
                report.bytes += status.size
            }
        }
    }

    /// The digests of files that have no row, as far as can be told without the write lock.
    func unlistedFiles() throws(StoreError) -> [ContentDigest] {
        var files: [ContentDigest] = []
        try wrappingErrors { () throws(SystemError) in
            try blobs.forEachFile { digest, _ in if let digest { files.append(digest) } }
        }
        return try read { (connection) throws(SQLiteError) in
            var unlisted: [ContentDigest] = []
            for digest in files where try !connection.containsBlob(digest) { unlisted.append(digest) }
            return unlisted
        }
    }
}
