internal import Synchronization

/// Keeps a store below its limits.
///
/// A commit that exceeds a limit evicts in its own transaction. A pass in the background then evicts down to the
/// low-water mark.
package final class LimitEnforcer: Sendable {
    let limits: Limits?
    private let isPassRequested = Atomic(false)

    package init(_ limits: Limits?) {
        self.limits = limits
    }

    /// Evicts until the store is within its limits again, after the transaction has stored a body.
    ///
    /// - Parameter entry: The new entry, which stays; `nil` for a derived representation.
    /// - Returns: Whether the store is within its limits now. Pinned entries stay, and may exceed the limits.
    package func makeRoom(for entry: StoredEntry?, in transaction: WriteTransaction) throws(SQLiteError) -> Bool {
        guard let limits else { return true }
        if let entry, try !makeRoomInPartition(for: entry, limits, transaction) { return false }
        var isDone = false
        while !isDone {
            isDone = try transaction.evict(atMost: 16, sparing: entry?.id) { Self.isExceeded(limits, $0, share: 1) }
                .isDone
        }
        return try !Self.isExceeded(limits, transaction.connection.size(), share: 1)
    }

    private func makeRoomInPartition(
        for entry: StoredEntry, _ limits: Limits, _ transaction: WriteTransaction
    ) throws(SQLiteError) -> Bool {
        let partition = entry.key.partition
        guard let limit = limits.maxPartitionBytes, !partition.isEmpty else { return true }
        guard try transaction.connection.byteCount(ofPartition: partition) > limit else { return true }
        // Evict down to the low-water mark at once: each eviction reads the whole partition.
        try transaction.evict(
            partition: partition, downTo: Int64(Double(limit) * limits.lowWaterMark), sparing: entry.id)
        return try transaction.connection.byteCount(ofPartition: partition) <= limit
    }

    /// Evicts a batch to make room for a body of `byteCount` bytes. Returns whether there is room, or nothing more can
    /// be evicted.
    func makeRoom(for byteCount: Int64, in transaction: WriteTransaction) throws(SQLiteError) -> Bool {
        guard let limits else { return true }
        return try transaction.evict(atMost: WriteTransaction.evictionBatchSize) { size in
            var size = size
            size.bodyBytes &+= byteCount
            return Self.isExceeded(limits, size, share: 1)
        }.isDone
    }

    /// Evicts a batch on the way down to the low-water mark. Returns whether the pass is done.
    package func evictBatch(_ transaction: WriteTransaction) throws(SQLiteError) -> Bool {
        guard let limits else { return true }
        return try transaction.evict(atMost: WriteTransaction.evictionBatchSize) {
            Self.isExceeded(limits, $0, share: limits.lowWaterMark)
        }.isDone
    }

    func isExceeded(by size: StoreSize) -> Bool {
        limits.map { Self.isExceeded($0, size, share: 1) } ?? false
    }

    private static func isExceeded(_ limits: Limits, _ size: StoreSize, share: Double) -> Bool {
        if let maxBytes = limits.maxBytesBesideWAL, Double(size.bytes) > Double(maxBytes) * share { return true }
        if let maxEntries = limits.maxEntries, Double(size.entries) > Double(maxEntries) * share { return true }
        return false
    }

    // MARK: Passes

    /// Requests a pass; `false` if one is requested already.
    func requestPass() -> Bool {
        limits != nil && !isPassRequested.exchange(true, ordering: .relaxed)
    }

    /// Allows the next request.
    func passBegins() {
        isPassRequested.store(false, ordering: .relaxed)
    }
}
