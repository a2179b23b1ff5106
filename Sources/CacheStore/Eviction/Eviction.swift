// The folder `Eviction/` has limits, policies and the order of eviction, and evicts: in a commit, in the background and
// on request. The folder may read entries, and write the rows of their order. Only `WriteTransaction` removes entries.
// The folder deletes no file of a body: `BlobDeletion` does so after the commit.

/// The result of one transaction of an eviction.
package struct EvictionBatch: Sendable {
    package var report = EvictionReport()
    /// Whether enough entries were removed, or no more can be.
    package var isDone = false
    /// Whether only pinned and spared entries are left.
    var isExhausted = false
    /// The order from which the next transaction continues. A policy has none, because accesses change its order.
    var rest: EvictionOrder?
}

/// Evicts entries, one batch in each transaction.
extension WriteTransaction {
    /// Removes entries in the order of the policy, while `isTooMuch` is true and the transaction has time. Removes
    /// `least` entries even when the time is up, unless pending accesses have moved entries. The eviction makes room
    /// for the entry `spared`, which stays.
    package func evict(
        atLeast least: Int = 1, atMost most: Int = .max, sparing spared: Int64? = nil,
        while isTooMuch: (StoreSize) throws(StoreError) -> Bool
    ) throws(StoreError) -> EvictionBatch {
        let order = try EvictionOrder(connection, sparing: spared)
        return try evict(along: order, atLeast: least, atMost: most, while: isTooMuch)
    }

    /// Removes entries by a rule like ``evict(along:atLeast:atMost:while:)``. Continues after the previous batch.
    package func evict(
        _ rule: EvictionRule, after previous: EvictionBatch? = nil, atMost most: Int = .max, now: Int64
    ) throws(StoreError) -> EvictionBatch {
        let order = if let rest = previous?.rest { rest } else { try EvictionOrder(rule, connection, now: now) }
        return try evict(along: order, atMost: most, while: rule.isTooMuch)
    }

    /// Removes the next unpinned entries of an order, while `isTooMuch` is true and the transaction has time.
    func evict(
        along order: EvictionOrder, atLeast least: Int = 1, atMost most: Int = .max,
        while isTooMuch: (StoreSize) throws(StoreError) -> Bool
    ) throws(StoreError) -> EvictionBatch {
        var (order, batch) = (order, EvictionBatch())
        var (hasMoved, ghosts) = (false, Int64(0))
        var size = try connection.size()
        let bytesBefore = size.bodyBytes
        loop: while batch.report.entries < most {
            if try !isTooMuch(size) {
                // SQLite frees pages later than the rows in them, so the index may be larger than estimated.
                size = try connection.size()
                batch.isDone = try !isTooMuch(size)
                if batch.isDone { break }
            }
            switch try order.next(connection) {
            case .searching: if isOutOfTime { break loop }
            case .end:
                (batch.isDone, batch.isExhausted) = (true, true)
                break loop
            case .candidate(let candidate):
                // A pending access moves its entry up, or makes an unused entry a used one.
                let wasUsed = try writePendingAccess(of: candidate.id)
                guard try order.isCurrent(candidate, wasUsed: wasUsed, connection) else {
                    hasMoved = true
                    break
                }
                // Remember the uses before the removal, whose trigger deletes the access row.
                if order.kind == .priority, try rememberUses(of: candidate.id) { ghosts += 1 }
                let isRemoved = try removing(.evicted) { () throws(StoreError) in try removeEntry(id: candidate.id) }
                guard isRemoved else { break }
                order.removed(candidate)
                batch.report.entries += 1
                try connection.update(&size)
            }
            // Each entry that an access has moved may have cost a write, so then the time alone decides.
            if batch.report.entries >= least || hasMoved, isOutOfTime { break }
        }
        // End the walk in this transaction: a rollback then undoes its progress together with the removals.
        try order.finish(connection)
        if order.kind == .priority { try boundGhosts(added: ghosts) }
        batch.report.bytes = max(0, bytesBefore &- size.bodyBytes)
        batch.rest = order.isOfPolicy ? nil : order
        evicted += batch.report
        return batch
    }
}

extension Int64 {
    func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
