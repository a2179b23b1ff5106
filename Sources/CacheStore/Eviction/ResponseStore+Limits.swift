/// Evicts entries to keep the limits.
extension ResponseStore {
    /// Evicts down to the low-water mark, unless another process is doing so.
    func keepLimits() {
        let partitions = limits.passBegins()
        do throws(StoreError) {
            for partition in partitions { _ = try evict(fromPartition: partition) }
            try evictBehindLookups { [limits] (transaction, _) throws(StoreError) in
                try limits.evictBatch(transaction)
            }
            try deleteFiles()
        } catch {
            // The next write that must evict requests another pass.
            observation.log.debug("cannot keep the limits", ["error": "\(error)"])
        }
    }

    /// Returns the rule that makes the missing bytes of the volume free, or `nil` while enough bytes are free.
    private func ruleOfVolume(_ limits: Limits) throws(StoreError) -> EvictionRule? {
        guard let floor = limits.minFreeBytes else { return nil }
        // Files of evicted bodies are not free yet. Evicting more because of them would empty the store.
        try deleteFiles()
        let missing = floor.saturatingSubtracting(try place.root.freeByteCount())
        guard missing > 0 else { return nil }
        let byteCount = try read { (connection) throws(StoreError) in try connection.size().bytes }
        return .maxBytes(max(0, byteCount.saturatingSubtracting(missing)))
    }

    /// Looks at the limits that no commit exceeds, now and after each interval. Ends with the store.
    func keepLimitsOverTime() {
        guard let limits = limits.limits, let interval = configuration.limitCheckInterval ?? limits.checkInterval else {
            return
        }
        do throws(StoreError) {
            try checkOpen()
            let now = now
            for rule in limits.ageRules + [try ruleOfVolume(limits)].compactMap(\.self) {
                let isDue = try read { (connection) throws(StoreError) in try connection.mayContain(rule, now: now) }
                guard isDue else { continue }
                try evictBehindLookups { (transaction, previous) throws(StoreError) in
                    try transaction.evict(rule, after: previous, now: now)
                }
            }
            try deleteFiles()
        } catch .closed {
            return
        } catch {
            observation.log.debug("cannot keep the limits", ["error": "\(error)"])
        }
        background.submit(after: interval) { store in store.keepLimitsOverTime() }
    }

    /// Evicts batch by batch, unless another process is doing so.
    private func evictBehindLookups(
        _ evict: @escaping @Sendable (WriteTransaction, _ previous: EvictionBatch?) throws(StoreError) -> EvictionBatch
    ) throws(StoreError) {
        let lock = try blobs.lock()
        var batch = EvictionBatch()
        while !batch.isDone {
            let previous = batch
            let next = try writer.recoveringFromDamage { () throws(StoreError) -> EvictionBatch? in
                // A suspended store must not take the lock.
                try checkOpen()
                // Take the lock for each batch, so that a quarantine of the index, perhaps by this process, waits for
                // one batch only.
                guard try lock.tryExclusive() else { return nil }
                defer { lock.release() }
                // The writer would wait for this lock to create a missing index.
                guard place.indexIdentity != nil else { return nil }
                return try writer.writeOnce { (transaction) throws(StoreError) in try evict(transaction, previous) }
            }
            guard let next else { return }
            batch = next
        }
    }

    /// The size from which room for a body is made before its commit, because many small entries may have to go.
    private static let largeByteCount: Int64 = 1 << 20

    /// Makes room for a body before its commit, in short transactions: in its partition, and, for a large body, in the
    /// store. `byteCount` excludes the bytes that the body replaces. A derived representation has no partition. Returns
    /// whether the partition has room, and whether a pass should follow.
    func makeRoom(for byteCount: Int64, in partition: String?) throws(StoreError) -> LimitEnforcer.Room {
        guard limits.limits != nil else { return .enough }
        if byteCount >= Self.largeByteCount, byteCount <= limits.limits?.maxBytesBesideWAL ?? .max {
            while try !writer.write({ [limits] (transaction) throws(StoreError) in
                try limits.evictBatch(transaction, makingRoomFor: byteCount).isDone
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
    /// Reads the partition without a lock. After an eviction, returns ``LimitEnforcer/Room/afterPass``: a pass then
    /// continues to the low-water mark.
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
            // A partition may be large, so read its order without the write lock. The eviction checks each candidate
            // again.
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

extension Connection {
    /// Whether an entry may be in a rule by age. Counts the accesses, and reads some of the entries that were stored or
    /// used first. If the clock was set back, an entry behind them waits until these have gone.
    fileprivate func mayContain(_ rule: EvictionRule, now: Int64) throws(StoreError) -> Bool {
        let (age, questions): (Duration, [String])
        switch rule {
        case .unusedFor(let time):
            age = time
            questions = [
                "SELECT accessed_at FROM access WHERE is_pinned = 0 ORDER BY recency LIMIT 1",
                // The first unused entry is usually near the place where the last eviction ended. 0 if it is far.
                """
                SELECT coalesce(
                    (SELECT created_at FROM entry LEFT JOIN access ON entry_id = id
                        WHERE id >= unused_id AND id < unused_id + 4096 AND entry_id IS NULL ORDER BY id LIMIT 1), 0)
                FROM total WHERE entry_count > (SELECT count(*) FROM access)
                """,
            ]
        case .olderThan(let time):
            // 0 behind many pinned entries.
            age = time
            questions = [
                """
                SELECT coalesce(
                    (SELECT created_at FROM (SELECT * FROM entry ORDER BY id LIMIT 4096) WHERE is_pinned = 0 LIMIT 1), 0)
                FROM total WHERE entry_count > 0
                """
            ]
        case .maxBytes, .maxEntries: return true
        }
        let limit = now.saturatingSubtracting(age.milliseconds)
        for question in questions {
            let statement = try prepare(question)
            defer { statement.reset() }
            if try statement.step(), statement.int64(0) < limit { return true }
        }
        return false
    }
}
