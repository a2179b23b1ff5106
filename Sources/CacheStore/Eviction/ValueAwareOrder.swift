/// The rows of `priority`, the order of eviction under ``EvictionPolicy/valueAware``. While that policy is chosen,
/// triggers write the rows of stored and replaced entries, in every process. Older entries get their rows in batches:
///
///     reordered_id   NULL   every unpinned entry has a row, or none has (least recently used)
///                    n      entries up to n have a row, and entries stored since the choice
///
/// Until the last batch, evictions use the recency, which every store records. After a change to
/// ``EvictionPolicy/leastRecentlyUsed``, batches delete the rows. The view `entry_value` has the formula.
extension Connection {
    func evictionPolicy() throws(StoreError) -> EvictionPolicy {
        try prepared("SELECT eviction_policy FROM state").integer() == 1 ? .valueAware : .leastRecentlyUsed
    }

    /// Chooses the policy in constant time; writes only a change. ``WriteTransaction/reorderEntries()`` does the rest.
    package func choose(_ policy: EvictionPolicy) throws(StoreError) {
        guard try evictionPolicy() != policy else { return }
        // The statement checks again, because another process may have chosen since the read.
        let statement = try prepared(
            """
            UPDATE state SET
                eviction_policy = ?1,
                reordered_id = CASE
                    WHEN ?1 = 1 AND EXISTS (SELECT 1 FROM entry)
                        OR EXISTS (SELECT 1 FROM priority) OR EXISTS (SELECT 1 FROM ghost) THEN 0
                END
            WHERE eviction_policy <> ?1
            """)
        statement.bind(policy == .valueAware ? 1 : 0, at: 1)
        try statement.run()
    }

    /// Returns whether there may be entries that do not follow the policy.
    func hasUnorderedEntries() throws(StoreError) -> Bool {
        try prepared("SELECT reordered_id IS NOT NULL FROM state").integer() == 1
    }

    /// Returns whether every unpinned entry has a priority.
    func isOrderedByValue() throws(StoreError) -> Bool {
        try prepared("SELECT eviction_policy = 1 AND reordered_id IS NULL FROM state").integer() == 1
    }

    /// Raises the age to the priority of an evicted entry. Entries stored or accessed later start from this age.
    func raiseEvictionAge(to priority: Int64) throws(StoreError) {
        let statement = try prepared("UPDATE total SET eviction_age = ?1 WHERE eviction_age < ?1")
        // The bound prevents an overflow of priorities after damage.
        statement.bind(min(priority, 1 << 61), at: 1)
        try statement.run()
    }
}

extension WriteTransaction {
    /// The number of entries that one transaction reorders; bounds how long the write lock is held.
    package static let reorderingBatchSize: Int64 = 128

    /// Moves a batch of entries to the order of the chosen policy. The value-aware policy computes the priority from
    /// the present age, the accesses and the size of an entry.
    package func reorderEntries() throws(StoreError) {
        guard try connection.hasUnorderedEntries() else { return }
        let last: Int64?
        if try connection.evictionPolicy() == .valueAware {
            last = try lastOfBatch(
                "SELECT id FROM entry WHERE id > (SELECT reordered_id FROM state) ORDER BY id LIMIT ?1")
            if let last { try insertPriorities(upTo: last) }
        } else {
            // Only the value-aware policy uses ghost entries.
            try connection.forgetUses(of: nil)
            last = try lastOfBatch("SELECT entry_id FROM priority ORDER BY entry_id LIMIT ?1")
            if let last {
                let deletion = try connection.prepared("DELETE FROM priority WHERE entry_id <= ?1")
                deletion.bind(last, at: 1)
                try deletion.run()
            }
        }
        let progress = try connection.prepared("UPDATE state SET reordered_id = ?1")
        progress.bind(last, at: 1)
        try progress.run()
    }

    private func lastOfBatch(_ query: StaticString) throws(StoreError) -> Int64? {
        let statement = try connection.prepared(query)
        statement.bind(Self.reorderingBatchSize, at: 1)
        return try statement.integers().last
    }

    private func insertPriorities(upTo last: Int64) throws(StoreError) {
        // Ignore existing rows: a trigger has already written those of entries that were stored since the choice.
        let statement = try connection.prepared(
            """
            INSERT OR IGNORE INTO priority
            SELECT entry_id, value FROM entry_value
            WHERE entry_id > (SELECT reordered_id FROM state) AND entry_id <= ?1
                AND (SELECT is_pinned FROM entry WHERE id = entry_id) = 0
            """)
        statement.bind(last, at: 1)
        try statement.run()
    }

    /// Updates the priority of an accessed entry from the present age, its accesses and its size.
    func raisePriority(of entry: Int64) throws(StoreError) {
        // Insert no row, because a pinned entry has no priority.
        let statement = try connection.prepared(
            """
            UPDATE priority SET priority = (SELECT value FROM entry_value WHERE entry_value.entry_id = ?1)
            WHERE entry_id = ?1
            """)
        statement.bind(entry, at: 1)
        try statement.run()
    }
}
