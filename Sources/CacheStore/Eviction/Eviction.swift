/// The result of one transaction of an eviction.
package struct EvictionBatch: Sendable {
    package var report: EvictionReport
    package var isDone: Bool
    /// The id after which the next batch of a walk along all entries begins.
    package var lastID = Int64.min
}

/// Evicts entries by rule, one batch in each transaction.
extension WriteTransaction {
    /// The most entries that one transaction removes; bounds how long the write lock is held.
    package static let evictionBatchSize = 256

    /// Removes up to `count` entries by `rule`; by a rule with an age, up to ``evictionBatchSize``. Never removes
    /// pinned entries.
    ///
    /// - Parameter id: ``EvictionBatch/lastID`` of the previous batch.
    package func evict(
        _ rule: EvictionRule, atMost count: Int = evictionBatchSize, now: Int64, after id: Int64 = .min
    ) throws(SQLiteError) -> EvictionBatch {
        switch rule {
        case .maxBytes(let limit):
            try evict(atMost: count) { $0.bytes > limit }
        case .maxEntries(let limit):
            try evict(atMost: count) { $0.entries > limit }
        case .unusedFor(let age):
            try evict(
                where: """
                    SELECT id FROM entry LEFT JOIN access ON entry_id = id
                    WHERE id > ?1 AND id <= ?2 AND entry.is_pinned = 0 AND coalesce(accessed_at, created_at) < ?3
                    """, now, age, after: id)
        case .olderThan(let age):
            try evict(
                where: "SELECT id FROM entry WHERE id > ?1 AND id <= ?2 AND is_pinned = 0 AND created_at < ?3",
                now, age, after: id)
        }
    }

    /// Removes up to `count` entries in the order of the policy, as long as `isTooMuch` is true.
    ///
    /// - Parameter spared: An entry that stays: the eviction makes room for it.
    package func evict(
        atMost count: Int, sparing spared: Int64? = nil, while isTooMuch: (StoreSize) -> Bool
    ) throws(SQLiteError) -> EvictionBatch {
        var size = try connection.size()
        let before = size.bodyBytes
        var order = try EvictionOrder(connection, sparing: spared)
        var (removed, ghosts) = (0, Int64(0))
        while removed < count, isTooMuch(size), let candidate = try order.next(connection) {
            // A pending access moves its entry up: write the access, and read the order again.
            if try writePendingAccess(of: candidate.id) {
                order.restart()
                continue
            }
            if order.isByValue, try rememberUses(of: candidate.id) { ghosts += 1 }
            guard try removeEntry(id: candidate.id) else { continue }
            order.removed(candidate)
            removed += 1
            try connection.update(&size)
        }
        try order.finish(connection)
        if order.isByValue { try boundGhosts(added: ghosts) }
        let report = EvictionReport(entries: removed, bytes: max(0, before &- size.bodyBytes))
        add(report)
        guard removed > 0, removed < count else { return EvictionBatch(report: report, isDone: removed == 0) }
        // Pages become free later than the rows in them, so the index may be larger than estimated.
        return EvictionBatch(report: report, isDone: try !isTooMuch(connection.size()))
    }

    /// Walks along all entries in the order of their ids, up to 16,384 in a transaction.
    private func evict(
        where query: StaticString, _ now: Int64, _ age: Duration, after id: Int64
    ) throws(SQLiteError) -> EvictionBatch {
        let first = max(id, 0)
        let end = try connection.id(64 * Int64(Self.evictionBatchSize), after: first)
        let statement = try connection.prepared(query)
        statement.bind(first, at: 1)
        statement.bind(end ?? .max, at: 2)
        statement.bind(now.saturatingSubtracting(age.milliseconds), at: 3)
        let candidates = try statement.integers()
        var size = try connection.size()
        let before = size.bodyBytes
        let batch = candidates.prefix(Self.evictionBatchSize)
        let removed = try removeEntries(Array(batch))
        try connection.update(&size)
        let report = EvictionReport(entries: removed, bytes: max(0, before &- size.bodyBytes))
        add(report)
        if batch.count < candidates.count {
            return EvictionBatch(report: report, isDone: false, lastID: batch.last ?? first)
        }
        return EvictionBatch(report: report, isDone: end == nil, lastID: end ?? first)
    }

    private func add(_ report: EvictionReport) {
        evicted += report
    }

    /// Removes the least recently used entries of a partition down to `byteCount`. Reads all entries of the partition.
    func evict(partition: String, downTo byteCount: Int64, sparing spared: Int64?) throws(SQLiteError) {
        let before = try connection.size().bodyBytes
        var removed = 0
        while try connection.byteCount(ofPartition: partition) > byteCount {
            let candidates = try connection.leastRecentlyUsed(ofPartition: partition).filter { $0 != spared }
            guard !candidates.isEmpty else { break }
            for id in candidates where try connection.byteCount(ofPartition: partition) > byteCount {
                if try writePendingAccess(of: id) { break }
                if try removeEntry(id: id) { removed += 1 }
            }
        }
        add(EvictionReport(entries: removed, bytes: max(0, before &- (try connection.size().bodyBytes))))
    }
}

extension Connection {
    /// Returns the id of the entry `count` places after `id`; `nil` if there are fewer entries.
    fileprivate func id(_ count: Int64, after id: Int64) throws(SQLiteError) -> Int64? {
        let statement = try prepared("SELECT id FROM entry WHERE id > ?1 ORDER BY id LIMIT 1 OFFSET ?2")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        statement.bind(count - 1, at: 2)
        return try statement.step() ? statement.int64(0) : nil
    }

    fileprivate func leastRecentlyUsed(ofPartition partition: String) throws(SQLiteError) -> [Int64] {
        let statement = try prepared(
            """
            SELECT id FROM entry LEFT JOIN access ON entry_id = id
            WHERE partition = ?1 AND coalesce(access.is_pinned, 0) = 0
            ORDER BY coalesce(recency, id << 24) LIMIT 256
            """)
        statement.bind(partition, at: 1)
        return try statement.integers()
    }
}

extension Int64 {
    func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
