internal import Synchronization

/// The result of a sweep.
public struct SweepReport: Hashable, Sendable {
    /// The number of deleted files that no entry needed.
    public internal(set) var files = 0
    /// The bytes of those files.
    public internal(set) var bytes: Int64 = 0
    /// The number of deleted bodies whose writer processes have ended. Only systems on which a file must be written
    /// under a name leave such files.
    public internal(set) var stagedFiles = 0
}

/// Deletes files that killed processes have left behind.
extension ResponseStore {
    /// The number of files examined in one transaction. Bounds how long the write lock is held.
    private static let sweepBatchLimit = 256

    /// Deletes files that no entry needs, and bodies whose writers are gone.
    ///
    /// A process that is killed between naming a file and committing its entry leaves the file behind. Such a file
    /// needs no grace period. Processes name files under the write lock only, so a file without a row, found under the
    /// lock, belongs to no pending commit. Bodies that live processes are staging have no name or are locked, and stay.
    /// The sweep leaves files alone that are not the store's.
    ///
    /// Lists the whole directory of blobs. Opening a store starts a sweep in the background if an earlier process was
    /// killed.
    ///
    /// - Parameter gracePeriod: Keeps files that were written more recently than this, for inspection.
    @discardableResult
    public func sweep(gracePeriod: Duration = .zero) throws(StoreError) -> SweepReport {
        try checkWritable()
        // Count outside of the changes, because a change may run twice.
        let deleted = Mutex(SweepReport())
        let newest =
            gracePeriod > .zero ? now.subtractingReportingOverflow(gracePeriod.milliseconds).partialValue : .max
        var unlisted = try unlistedFiles()[...]
        while !unlisted.isEmpty {
            let batch = Array(unlisted.prefix(Self.sweepBatchLimit))
            unlisted = unlisted.dropFirst(batch.count)
            try writer.write { [self] (transaction) throws(StoreError) in
                try deleteOrphans(batch, writtenBefore: newest, transaction.connection, deleted)
            }
        }
        var report = deleted.withLock { $0 }
        try wrappingErrors { () throws(SystemError) in
            report.stagedFiles = try blobs.sweepStagedFiles()
            try place.sweepUnfinishedIndices()
        }
        return report
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
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

    /// Returns the digests of files without a row, as far as a reader without the write lock can tell.
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
