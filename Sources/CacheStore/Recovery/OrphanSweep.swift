internal import Synchronization

/// The result of a sweep.
public struct SweepReport: Hashable, Sendable {
    /// The number of deleted files that no entry needed.
    public internal(set) var files = 0
    /// The bytes of those files.
    public internal(set) var bytes: Int64 = 0
    /// The number of deleted bodies whose writer processes have ended. Only systems without unnamed files leave such
    /// files.
    public internal(set) var stagedFiles = 0
}

/// Deletes files that killed processes have left behind.
extension ResponseStore {
    /// Deletes files that no entry needs, and unfinished bodies of killed processes.
    ///
    /// A process killed between naming a file and committing its entry leaves the file behind. Such a file needs
    /// no grace period. Processes name files only under the write lock, so a file without a row, found under the lock,
    /// belongs to no pending commit. Bodies that live processes are writing have no name or are locked, and stay. The
    /// sweep ignores files that do not belong to the store.
    ///
    /// Lists the whole directory of blobs. Opening a store starts a sweep in the background if an earlier process was
    /// killed, or ended before such a sweep had finished.
    ///
    /// - Parameter gracePeriod: Keeps files written more recently than this, for inspection.
    @discardableResult
    public func sweep(gracePeriod: Duration = .zero) throws(StoreError) -> SweepReport {
        try checkWritable()
        // Count outside the changes, because a change may run twice.
        let deleted = Mutex(SweepReport())
        let newest =
            gracePeriod > .zero ? now.subtractingReportingOverflow(gracePeriod.milliseconds).partialValue : .max
        var unlisted = try unlistedFiles()[...]
        while !unlisted.isEmpty {
            let count = try writer.write { [self, unlisted] (transaction) throws(StoreError) in
                try deleteOrphans(unlisted, writtenBefore: newest, transaction, deleted)
            }
            unlisted = unlisted.dropFirst(count)
        }
        var report = deleted.withLock { $0 }
        report.stagedFiles = try blobs.sweepStagedFiles()
        try place.sweepUnfinishedIndices()
        return report
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
    @discardableResult
    public func sweep(gracePeriod: Duration = .zero) async throws(StoreError) -> SweepReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.sweep(gracePeriod: gracePeriod) }
    }

    /// Sweeps, then takes back the count of the killed writers whose files the sweep has deleted. A sweep that fails,
    /// or that closing or suspending the store ends, leaves the count. So the next only opener sweeps again.
    func sweepLeftovers(of killedWriters: Int64) throws(StoreError) {
        try sweep()
        guard killedWriters > 0 else { return }
        try writer.write { (transaction) throws(StoreError) in
            try transaction.connection.removeKilledWriters(killedWriters)
        }
    }

    /// Deletes orphans, at least one, until the transaction is out of time. Returns the number of examined files.
    private func deleteOrphans(
        _ digests: ArraySlice<ContentDigest>, writtenBefore time: Int64, _ transaction: WriteTransaction,
        _ deleted: borrowing Mutex<SweepReport>
    ) throws(StoreError) -> Int {
        var count = 0
        for digest in digests where count == 0 || !transaction.isOutOfTime {
            count += 1
            let status = try blobs.status(of: digest)
            guard let status, status.modified / 1_000_000 <= time else { continue }
            let isDeleted = try deletion.deleteUnlessNeeded(digest, transaction.connection)
            guard isDeleted else { continue }
            deleted.withLock { report in
                report.files += 1
                report.bytes += status.size
            }
        }
        return count
    }

    /// Returns the digests of files without a row. Without the write lock, the result is only a guess.
    func unlistedFiles() throws(StoreError) -> [ContentDigest] {
        var files: [ContentDigest] = []
        // List the files first: a body that is stored after the listing is not in the list.
        try blobs.forEachFile { digest, _ in if let digest { files.append(digest) } }
        return try readLong { (connection) throws(StoreError) in
            var unlisted: [ContentDigest] = []
            for digest in files where try !connection.containsBlob(digest) { unlisted.append(digest) }
            return unlisted
        }
    }
}
