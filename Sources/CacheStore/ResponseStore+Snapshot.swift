public import CacheFoundation

/// The size of a snapshot.
public struct SnapshotReport: Hashable, Sendable {
    /// Entries in the snapshot.
    public internal(set) var entries = 0
    /// Files of bodies in the snapshot.
    public internal(set) var files = 0
    /// The bytes of these files.
    public internal(set) var bytes: Int64 = 0
    /// Files that were copied. The other files are hard links to files of the store, and take no space.
    public internal(set) var copiedFiles = 0
    /// Entries missing in the snapshot, because their body was evicted, removed or missing when its turn came.
    public internal(set) var entriesLeftOut = 0
}

extension ResponseStore {
    /// Copies the store into a new directory, while readers and writers use the store.
    ///
    /// The snapshot is an independent store. Open its directory to use it; pack the directory with `tar` to move it.
    ///
    /// ```swift
    /// try store.snapshot(to: directory)
    /// let copy = try ResponseStore(directory: directory)
    /// ```
    ///
    /// The snapshot shows the index at one moment. Lookups and commits do not wait for it. On the file system of the
    /// store, each body is a hard link, so a body takes space until both stores have deleted it. On another file system
    /// the bytes are copied. If a body is evicted before its turn, the snapshot omits it and its entries.
    ///
    /// Session entries are not copied. Accesses that are only in memory are not copied either; call `flush()` first to
    /// write them. Bodies are not read, so a body that is damaged in the store is also damaged in the snapshot.
    ///
    /// `index.sqlite` appears last. A failed snapshot removes its directory. A killed snapshot leaves a directory
    /// without an index. Until the snapshot ends, no store can be opened in the directory.
    ///
    /// - Parameter directory: A directory that is missing or empty. A missing one is created with mode 0700.
    /// - Throws: ``StoreError/unusableDirectory(path:reason:)`` for a directory with anything in it;
    ///   ``StoreError/file(_:)``, ``StoreError/index(_:)``; ``StoreError/suspended`` and ``StoreError/closed`` when the
    ///   store is suspended or closed, also during the snapshot.
    @discardableResult
    public func snapshot(to directory: URL) throws(StoreError) -> SnapshotReport {
        try checkOpen()
        let target = try SnapshotDirectory(at: directory, isDurable: configuration.isDurable)
        // A failed snapshot removes its directory after this call, so that suspending the store does not wait for that.
        let report = try longReads.run { (interruption) throws(StoreError) in try fill(target, until: interruption) }
        try target.finish()
        return report
    }

    /// Copies the store like the synchronous overload, without blocking the caller's thread.
    @discardableResult
    public func snapshot(to directory: URL) async throws(StoreError) -> SnapshotReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.snapshot(to: directory) }
    }

    /// Copies the index first, then the bodies that the copy names.
    private func fill(
        _ target: SnapshotDirectory, until interruption: InterruptFlag
    ) throws(StoreError) -> SnapshotReport {
        var report = SnapshotReport()
        let index = try SnapshotIndex(
            copying: indexPath, to: target.indexPath, busyTimeout: configuration.busyTimeout, until: interruption)
        try index.removeSessionEntries()
        var bodies = try SnapshotBodies(from: place.root, to: target.root, isDurable: target.isDurable, interruption)
        var missing: [ContentDigest] = []
        try index.forEachBody { (digest, byteCount, isPart) throws(StoreError) in
            switch try bodies.add(digest, byteCount: byteCount, isPart: isPart) {
            case .missing:
                missing.append(digest)
                return
            case .copied: report.copiedFiles += 1
            case .linked: break
            }
            report.files += 1
            report.bytes += byteCount
        }
        if !missing.isEmpty {
            let removed = try index.removeRows(withBodies: missing)
            report.entriesLeftOut = removed.entries
            for digest in removed.unneeded {
                // A copy has one link, a linked file has another one in the store.
                if let file = try bodies.remove(digest), file.linkCount == 1 { report.copiedFiles -= 1 }
            }
            (report.files, report.bytes) = try index.bodySize()
        }
        try bodies.finish()
        try index.eraseRemovedRows()
        report.entries = try index.entryCount()
        return report
    }
}
