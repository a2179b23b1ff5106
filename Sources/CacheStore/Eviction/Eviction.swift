/// The result of one transaction of an eviction.
package struct EvictionBatch: Sendable {
    package var report = EvictionReport()
    /// Whether enough is removed, or nothing more can be.
    package var isDone = false
    /// Whether only pinned and spared entries are left.
    package var isExhausted = false
}

/// Evicts entries, one batch in each transaction.
extension WriteTransaction {
    /// Removes entries in the order of the policy, as long as `isTooMuch` is true and the transaction has time.
    ///
    /// - Parameters:
    ///   - least: The number of entries to remove also without time.
    ///   - most: The most entries to remove.
    ///   - spared: An entry that stays: the eviction makes room for it.
    package func evict(
        atLeast least: Int = 1, atMost most: Int = .max, sparing spared: Int64? = nil,
        while isTooMuch: (StoreSize) -> Bool
    ) throws(StoreError) -> EvictionBatch {
        var order = try EvictionOrder(connection, sparing: spared)
        return try evict(along: &order, atLeast: least, atMost: most, while: isTooMuch)
    }

    /// Removes the next entries of an order like ``evict(atLeast:atMost:sparing:while:)``. Never removes pinned entries.
    func evict(
        along order: inout EvictionOrder, atLeast least: Int = 1, atMost most: Int = .max,
        while isTooMuch: (StoreSize) -> Bool
    ) throws(StoreError) -> EvictionBatch {
        var size = try connection.size()
        let before = size.bodyBytes
        var (removed, ghosts) = (0, Int64(0))
        var batch = EvictionBatch()
        loop: while removed < most {
            if !isTooMuch(size) {
                // Pages become free later than the rows in them, so the index may be larger than estimated.
                let present = try connection.size()
                batch.isDone = removed == 0 || !isTooMuch(present)
                if batch.isDone { break }
                size = present
            }
            switch try order.next(connection) {
            case .searching: if isOutOfTime { break loop }
            case .end:
                (batch.isDone, batch.isExhausted) = (true, true)
                break loop
            case .candidate(let candidate):
                // A pending access moves its entry up: write the access, and read the order again.
                if try writePendingAccess(of: candidate.id) {
                    order.restart()
                    break
                }
                guard try order.isCurrent(candidate, connection) else { break }
                if order.kind == .priority, try rememberUses(of: candidate.id) { ghosts += 1 }
                guard try removeEntry(id: candidate.id) else { break }
                order.removed(candidate)
                removed += 1
                try connection.update(&size)
            }
            if removed >= least, isOutOfTime { break }
        }
        try order.finish(connection)
        if order.kind == .priority { try boundGhosts(added: ghosts) }
        batch.report = EvictionReport(entries: removed, bytes: max(0, before &- size.bodyBytes))
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
