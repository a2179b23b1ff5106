internal import Synchronization

/// Keeps a store below its limits. A commit that exceeds a limit evicts a few entries in its own transaction. A pass in
/// the background then evicts down to the low-water mark, in many short transactions.
package final class LimitEnforcer: Sendable {
    /// The result of making room for a body.
    package enum Room: Sendable {
        case enough
        /// A limit is exceeded until the next pass, which the caller requests.
        case afterPass
        /// Only pinned entries are left, or the body alone exceeds a limit.
        case none
    }

    private struct Passes {
        var isRequested = false
        /// The partitions that exceeded their limit since the last pass.
        var partitions: Set<String> = []
    }

    let limits: Limits?
    /// Guards the work for the next pass, not the pass.
    private let passes = Mutex(Passes())

    package init(_ limits: Limits?) {
        self.limits = limits
    }

    /// The number of entries that a commit evicts before it checks its time. Usually one eviction is enough.
    private static let evictedByCommit = 64

    /// Evicts after the transaction has stored a body. Returns whether the store is within its limits now. The new
    /// `entry`, `nil` for a derived representation, stays. `partitionRoom` is from ``ResponseStore/makeRoom(for:in:)``.
    package func makeRoom(
        for entry: StoredEntry?, in transaction: WriteTransaction, partitionRoom: Room = .enough
    ) throws(StoreError) -> Room {
        guard let limits else { return .enough }
        var room = Room.enough
        if let entry, limits.maxPartitionBytes != nil {
            let isExceeded = try limits.isExceeded(byPartition: entry.key.partition, transaction.connection)
            if isExceeded, partitionRoom == .none { return .none }
            if isExceeded || partitionRoom == .afterPass {
                passes.withLock { _ = $0.partitions.insert(entry.key.partition) }
                room = .afterPass
            }
        }
        guard limits.isExceeded(by: try transaction.connection.size()) else { return room }
        // No eviction makes room for this body, so the other entries stay.
        if let entry, let limit = limits.maxBytesBesideWAL, entry.byteCount > limit { return .none }
        // Spare the new entry: under the value-aware policy, a large one may have the lowest value of all.
        let batch = try transaction.evict(atLeast: Self.evictedByCommit, sparing: entry?.id) { size in
            limits.isExceeded(by: size)
        }
        if batch.isExhausted { return .none }
        return batch.isDone ? room : .afterPass
    }

    /// Evicts a batch to make room for a body of `byteCount` bytes, or, with `nil`, to approach the low-water mark.
    package func evictBatch(
        _ transaction: WriteTransaction, makingRoomFor byteCount: Int64? = nil
    ) throws(StoreError) -> EvictionBatch {
        guard let limits else { return EvictionBatch(isDone: true) }
        return try transaction.evict { limits.isExceeded(by: $0, addingBody: byteCount) }
    }

    // MARK: Passes

    /// Requests a pass. Returns `false` if one is already requested.
    func requestPass() -> Bool {
        guard limits != nil else { return false }
        return passes.withLock { passes in
            defer { passes.isRequested = true }
            return !passes.isRequested
        }
    }

    /// Allows the next request. Returns the partitions that exceeded their limit.
    func passBegins() -> Set<String> {
        passes.withLock { passes in
            // Clear the request now, so that a commit during the pass can request another pass.
            defer { passes = Passes() }
            return passes.partitions
        }
    }
}
