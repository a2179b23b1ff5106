/// The order of eviction: `access.priority`, lowest first, within each rank.
///
/// It is generated from the row, and a row says itself which policy it follows: `age` is NULL where only the time of the last
/// use matters. Who writes a row takes the age from `state` and `total` in the same statement, so that all processes follow
/// the policy of the store from the moment that it is chosen. What they have written before goes over in bites:
///
///     reordered_id   NULL          all rows follow the policy
///                    n             those up to n do, and what was written since the choice
///
/// An age is never higher than `total.eviction_age`, which never falls; that is why any number of choices, finished or not,
/// leaves an order in which nothing stays for ever.
extension Connection {
    /// Entries that go over to another order in one transaction; bounds how long the write lock is held.
    package static let reorderingBite: Int64 = 1024

    package func evictionPolicy() throws(SQLiteError) -> EvictionPolicy {
        try integer(prepared("SELECT eviction_policy FROM state")) == 1 ? .valueAware : .leastRecentlyUsed
    }

    /// Makes a policy that of the store. Writes nothing if it is already. Constant time: ``reorderBite()`` does the rest.
    package func choose(_ policy: EvictionPolicy) throws(SQLiteError) {
        guard try evictionPolicy() != policy else { return }
        let statement = try prepared(
            """
            UPDATE state SET
                eviction_policy = ?1,
                -- NULL where there is none to reorder.
                reordered_id = (SELECT -9223372036854775808 FROM access WHERE entry_id > -9223372036854775808 LIMIT 1)
            WHERE eviction_policy <> ?1
            """)
        statement.bind(policy == .valueAware ? 1 : 0, at: 1)
        try statement.run()
    }

    /// Whether there may be entries that do not follow the policy.
    package func hasUnorderedEntries() throws(SQLiteError) -> Bool {
        try integer(prepared("SELECT reordered_id IS NOT NULL FROM state")) == 1
    }

    /// Whether the order of eviction is that of the last use, for all entries.
    package func isOrderedByUse() throws(SQLiteError) -> Bool {
        try integer(prepared("SELECT eviction_policy = 0 AND reordered_id IS NULL FROM state")) == 1
    }

    /// Takes up to ``reorderingBite`` entries over to the policy, in a transaction of the caller's.
    ///
    /// When each was used does not count for the value-aware order: they begin at the present age, by uses and size.
    package func reorderBite() throws(SQLiteError) {
        guard try hasUnorderedEntries() else { return }
        let last = try lastOfNextBite()
        if let last {
            let change = try prepared(
                """
                UPDATE access SET age = (SELECT iif(eviction_policy = 1, eviction_age, NULL) FROM state, total)
                WHERE entry_id > (SELECT reordered_id FROM state) AND entry_id <= ?1
                    AND (age IS NULL) = (SELECT eviction_policy = 1 FROM state)
                """)
            change.bind(last, at: 1)
            try change.run()
        }
        let note = try prepared("UPDATE state SET reordered_id = ?1")
        note.bind(last, at: 1)
        try note.run()
    }

    /// The last entry of those that go over next; `nil` when there are none.
    private func lastOfNextBite() throws(SQLiteError) -> Int64? {
        let statement = try prepared(
            "SELECT entry_id FROM access WHERE entry_id > (SELECT reordered_id FROM state) ORDER BY entry_id LIMIT ?1")
        defer { statement.reset() }
        statement.bind(Self.reorderingBite, at: 1)
        var last: Int64?
        while try statement.step() { last = statement.int64(0) }
        return last
    }

    /// Notes what an evicted entry was worth: what is stored or used from now on begins there, which is how the others age.
    ///
    /// Not while there are priorities that are times. In the row that a removal has written anyway.
    func raiseEvictionAge(to priority: Int64) throws(SQLiteError) {
        let statement = try prepared(
            """
            UPDATE total SET eviction_age = ?1
            WHERE eviction_age < ?1 AND (SELECT eviction_policy = 1 AND reordered_id IS NULL FROM state)
            """)
        statement.bind(priority, at: 1)
        try statement.run()
    }
}
