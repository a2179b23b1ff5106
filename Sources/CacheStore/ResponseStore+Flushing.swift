/// Completes changes: writes accesses, deletes files, and shrinks or overwrites the index.
extension ResponseStore {
    /// Writes the accesses and the request records that are only in memory, and deletes files that no entry needs.
    ///
    /// - Throws: ``StoreError/busy(path:)``, ``StoreError/index(_:)``. Accesses that could not be written stay in
    ///   memory.
    public func flush() throws(StoreError) {
        try checkWritable()
        requests.flush()
        try writeAccesses()
        try deleteFiles()
        if configuration.secureDelete { try wipe() }
    }

    /// Writes accesses and deletes files like the synchronous overload, without blocking the caller's thread. Runs
    /// after the store's earlier background work.
    public func flush() async throws(StoreError) {
        try await background.lane.run { () throws(StoreError) in try self.flush() }
    }

    /// Writes the pending accesses. The number of transactions is bounded, because lookups may keep adding accesses.
    func writeAccesses() throws(StoreError) {
        for _ in 0..<(2 * AccessLog.capacity / IndexWriter.accessLimit) where !writer.accessLog.isEmpty {
            try writer.write { [writer] (transaction) throws(StoreError) in try writer.writeAccesses(transaction) }
        }
    }

    /// Deletes the files of removed bodies. A failed deletion is tried again later.
    func deleteFiles() throws(StoreError) {
        deletion.retry()
        // Write at least once, to wait for a running transaction, which may be deleting files.
        repeat { try writer.write { _ in } } while !deletion.isEmpty
    }

    /// Completes a removal: deletes files, then overwrites the index with ``Configuration/secureDelete``. Without it,
    /// a removal of many entries shrinks the index.
    func finishRemoval(ofMany isOfMany: Bool = true) throws(StoreError) {
        try deleteFiles()
        guard configuration.secureDelete else {
            // Shrinking holds the write lock for long, and the pages that one key frees do not pay for it.
            if isOfMany { try shrinkIndex() }
            return
        }
        try forgetUses()
        try wipe()
    }

    /// The number of free pages from which shrinking is worth its time: 16 MiB. Later inserts use up fewer free pages.
    private static let leastFreePageCount: Int64 = 4_096

    /// Runs VACUUM if at least three quarters of the pages and 16 MiB are free, in time proportional to the used pages.
    private func shrinkIndex() throws(StoreError) {
        let (free, all) = try read { (connection) throws(StoreError) in
            try (
                connection.prepared("PRAGMA freelist_count").integer(),
                connection.prepared("PRAGMA page_count").integer()
            )
        }
        guard free >= Self.leastFreePageCount, free >= all / 4 * 3 else { return }
        do throws(StoreError) {
            try interruptibly { (connection) throws(StoreError) in
                try connection.rewrite()
                try connection.restartWAL(within: .zero)
            }
        } catch {
            // The removal has succeeded, and later inserts use the free pages.
            if error.isDamage { throw error }
        }
    }

    /// Runs VACUUM and truncates the WAL: both files contain pages from before the removal.
    private func wipe() throws(StoreError) {
        try writer.write { (transaction) throws(StoreError) in try transaction.connection.forgetUnneededHosts() }
        let isWiped = try interruptibly { (connection) throws(StoreError) in
            try connection.rewrite()
            return try connection.truncateWAL()
        }
        guard isWiped else { throw .busy(path: indexPath) }
    }

    /// Calls `body` with the writer's connection outside of transactions. Suspending and closing the store interrupt
    /// `body`, which then throws ``StoreError/suspended`` or ``StoreError/closed``.
    func interruptibly<Value: Sendable>(
        _ body: (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        do throws(StoreError) {
            return try writer.withConnection(body)
        } catch {
            if error.isInterruption { try checkOpen() }
            throw error
        }
    }
}
