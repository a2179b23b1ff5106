/// Evicts entries to keep the limits.
extension ResponseStore {
    /// Evicts down to the low-water mark, unless another process is doing so.
    func keepLimits() {
        let partitions = limits.passBegins()
        do throws(StoreError) {
            for partition in partitions { _ = try evict(fromPartition: partition) }
            let lock = try blobs.lock()
            while true {
                let isDone = try writer.recoveringFromDamage { () throws(StoreError) in try keepLimits(under: lock) }
                guard let isDone else { return }
                if isDone { break }
            }
            try deleteFiles()
        } catch {
            // The next write that must evict requests another pass.
            observation.log.debug("cannot keep the limits", ["error": "\(error)"])
        }
    }

    /// Evicts one batch under the lock of `blobs/`.
    ///
    /// Takes the lock for each batch, so that a quarantine of the index, perhaps by this process, waits for one batch
    /// only.
    ///
    /// - Returns: Whether this was the last batch. `nil` without an index, or while another process holds the lock.
    private func keepLimits(under lock: DirectoryLock) throws(StoreError) -> Bool? {
        // A suspended store must not take the lock.
        try checkOpen()
        guard try lock.tryExclusive() else { return nil }
        defer { lock.release() }
        // The writer would wait for this lock to create a missing index.
        guard place.indexIdentity != nil else { return nil }
        return try writer.writeOnce { [limits] (transaction) throws(StoreError) in try limits.evictBatch(transaction) }
    }

    /// The size from which room for a body is made before its commit, because many small entries may have to go.
    private static let largeByteCount: Int64 = 1 << 20

    /// Makes room for a body before its commit, in short transactions: in its partition, and, for a large body, in the
    /// store.
    ///
    /// - Parameters:
    ///   - byteCount: The bytes of the body, minus the bytes that it replaces.
    ///   - partition: The partition of its entry, or `nil` for a derived representation.
    /// - Returns: Whether the partition has room, and whether a pass should follow.
    func makeRoom(for byteCount: Int64, in partition: String?) throws(StoreError) -> LimitEnforcer.Room {
        guard limits.limits != nil else { return .enough }
        if byteCount >= Self.largeByteCount, byteCount <= limits.limits?.maxBytesBesideWAL ?? .max {
            while try !writer.write({ [limits] (transaction) throws(StoreError) in
                try limits.evictBatch(transaction, makingRoomFor: byteCount)
            }) {}
        }
        guard let partition else { return .enough }
        return try evict(fromPartition: partition, makingRoomFor: byteCount)
    }

    /// Makes room like the synchronous overload, without blocking the caller's thread.
    func makeRoom(for byteCount: Int64, in partition: String?) async throws(StoreError) -> LimitEnforcer.Room {
        guard let limits = limits.limits, byteCount >= Self.largeByteCount || limits.maxPartitionBytes != nil else {
            return .enough
        }
        return try await storingLanes.run { () throws(StoreError) in try self.makeRoom(for: byteCount, in: partition) }
    }

    /// Evicts from a partition until a body of `byteCount` bytes fits, or, with `nil`, down to the low-water mark.
    /// Reads the partition without a lock.
    ///
    /// - Returns: ``LimitEnforcer/Room/afterPass`` after an eviction: a pass then continues to the low-water mark.
    private func evict(
        fromPartition partition: String, makingRoomFor byteCount: Int64? = nil
    ) throws(StoreError) -> LimitEnforcer.Room {
        guard let limits = limits.limits, let maxBytes = limits.maxPartitionBytes else { return .enough }
        let isExceeded = { @Sendable (connection: Connection) throws(StoreError) in
            try limits.isExceeded(byPartition: partition, connection, addingBody: byteCount)
        }
        guard try read(isExceeded) else { return .enough }
        if let byteCount, byteCount > maxBytes { return .none }
        // Accesses may move entries during the walk. Then read the order again, a few times.
        for _ in 0..<4 {
            let order = try readLong { (connection) throws(StoreError) in
                try EvictionOrder(.partition(partition), connection)
            }
            if order.isEmpty { return .none }
            var batch = EvictionBatch()
            while !batch.isDone {
                batch = try writer.write { [rest = batch.rest ?? order] (transaction) throws(StoreError) in
                    try transaction.evict(along: rest) { (_) throws(StoreError) in
                        try isExceeded(transaction.connection)
                    }
                }
            }
            if !batch.isExhausted { break }
        }
        return .afterPass
    }
}
