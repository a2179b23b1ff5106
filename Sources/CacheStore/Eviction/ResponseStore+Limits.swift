/// Evicts entries to keep the limits.
extension ResponseStore {
    /// Evicts down to the low-water mark, unless another process does.
    func keepLimits() {
        let partitions = limits.passBegins()
        do throws(StoreError) {
            for partition in partitions { _ = try makeRoom(for: 0, in: partition, share: limits.limits?.lowWaterMark) }
            let lock = try blobs.lock()
            var isDone = false
            while !isDone {
                let batch = try writer.recoveringFromDamage { () throws(StoreError) in try self.keepLimits(under: lock)
                }
                guard let batch else { return }
                isDone = batch
            }
            try deleteFiles()
        } catch {
            // The next write that must evict requests another pass.
            observation.log.debug("cannot keep the limits", ["error": "\(error)"])
        }
    }

    /// Evicts one batch under the lock of `blobs/`.
    ///
    /// The lock is taken for each batch: a process that quarantines the index, perhaps this one, then waits for one
    /// batch only.
    ///
    /// - Returns: Whether this was the last batch; `nil` if another process has the lock, or if there is no index.
    private func keepLimits(under lock: DirectoryLock) throws(StoreError) -> Bool? {
        // A suspended store must not take the lock.
        try checkOpen()
        guard try lock.tryExclusive() else { return nil }
        defer { lock.release() }
        // To create a missing index, the writer would wait for this lock.
        guard place.indexIdentity != nil else { return nil }
        return try writer.writeOnce { [limits] (transaction) throws(StoreError) in try limits.evictBatch(transaction) }
    }

    /// The size from which a body gets its room before its commit: many small entries may have to go for it.
    private static let largeByteCount: Int64 = 1 << 20

    /// Makes room for a body that is about to be committed, in short transactions: in its partition, and in the store if
    /// the body is large.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes of the body without those that it replaces.
    ///   - partition: The partition of its entry. A derived representation has none.
    /// - Returns: Whether there is room in the partition, and whether a pass should follow.
    func makeRoom(for byteCount: Int64, in partition: String?) throws(StoreError) -> LimitEnforcer.Room {
        guard limits.limits != nil else { return .enough }
        if byteCount >= Self.largeByteCount, byteCount <= limits.limits?.maxBytesBesideWAL ?? .max {
            while try !writer.write({ [limits] (transaction) throws(StoreError) in
                try limits.makeRoom(for: byteCount, in: transaction)
            }) {}
        }
        guard let partition else { return .enough }
        return try makeRoom(for: byteCount, in: partition, share: 1)
    }

    /// Makes room like the synchronous overload, without blocking the caller's thread.
    func makeRoom(for byteCount: Int64, in partition: String?) async throws(StoreError) -> LimitEnforcer.Room {
        guard let limits = limits.limits, byteCount >= Self.largeByteCount || limits.maxPartitionBytes != nil else {
            return .enough
        }
        return try await onStoringLane { () throws(StoreError) in try self.makeRoom(for: byteCount, in: partition) }
    }

    /// Evicts from a partition until it has room for `byteCount` bytes within its share of the limit. Reads the
    /// partition without a lock.
    ///
    /// - Returns: ``LimitEnforcer/Room/afterPass`` if it has evicted: a pass goes on to the low-water mark.
    private func makeRoom(
        for byteCount: Int64, in partition: String, share: Double?
    ) throws(StoreError) -> LimitEnforcer.Room {
        guard let share, let limit = limits.limits?.maxPartitionBytes, !partition.isEmpty else { return .enough }
        let isExceeded = { @Sendable [limits] (connection: Connection) throws(StoreError) in
            try limits.isExceeded(byPartition: partition, connection, growth: byteCount, share: share)
        }
        guard try read(isExceeded) else { return .enough }
        guard byteCount <= limit else { return .none }
        // Uses may move entries during the walk. Read the order again then, a few times.
        for _ in 0..<4 {
            var order = try readLong { (connection) throws(StoreError) in
                try EvictionOrder(.partition(partition), connection)
            }
            if order.isEmpty { return .none }
            while !order.isEmpty {
                order = try writer.write { [order] (transaction) throws(StoreError) in
                    var order = order
                    while !order.isEmpty, try isExceeded(transaction.connection) {
                        _ = try transaction.evict(along: &order, atMost: 1) { _ in true }
                        if transaction.isOutOfTime { break }
                    }
                    return order
                }
                guard try read(isExceeded) else { return .afterPass }
            }
        }
        return .afterPass
    }
}
