/// What an eviction would remove: the walk that it takes, without a change.
extension Connection {
    /// What evicting by `rule` would free. Reads the entries that would go, and one more.
    ///
    /// The pages of the index are shared out among its entries as they are now. An eviction in several transactions does
    /// so anew in each, and pages become free later than the rows in them: it may take some entries more.
    package func preview(of rule: EvictionRule, now: Int64) throws(SQLiteError) -> EvictionReport {
        var preview = EvictionPreview(size: try size())
        switch rule {
        case .maxBytes(let limit):
            try inOrder(now: now, &preview) { $0.bytes > limit }
        case .maxEntries(let limit):
            try inOrder(now: now, &preview) { $0.entries > limit }
        case .unusedFor(let age):
            let statement = try isOrderedByUse() ? entriesInOrderOfUse() : entriesByLastUse()
            try walk(statement, now.saturatingSubtracting(age.milliseconds), &preview)
        case .olderThan(let age):
            let statement = try prepared(
                """
                SELECT entry.id, entry.body, blob.byte_count, blob.reference_count
                FROM entry LEFT JOIN blob ON blob.digest = entry.body
                WHERE entry.created_at < ?1 AND entry.is_pinned = 0
                """)
            try walk(statement, now.saturatingSubtracting(age.milliseconds), &preview)
        }
        return preview.report
    }

    /// As ``evict(atMost:now:while:)``: the expired, then the others in the order of the policy.
    private func inOrder(
        now: Int64, _ preview: inout EvictionPreview, while isTooMuch: (StoreSize) -> Bool
    ) throws(SQLiteError) {
        let expired = try prepared(
            """
            SELECT entry.id, entry.body, blob.byte_count, blob.reference_count
            FROM entry LEFT JOIN blob ON blob.digest = entry.body
            WHERE entry.expires_at <= ?1 AND entry.is_pinned = 0 ORDER BY entry.expires_at
            """)
        try walk(expired, now, &preview, while: isTooMuch)
        let others = try prepared(
            """
            SELECT entry.id, entry.body, blob.byte_count, blob.reference_count
            FROM access CROSS JOIN entry ON entry.id = access.entry_id LEFT JOIN blob ON blob.digest = entry.body
            WHERE access.rank < 2 AND (entry.expires_at IS NULL OR entry.expires_at > ?1)
            ORDER BY access.rank, access.priority
            """)
        try walk(others, now, &preview, while: isTooMuch)
    }

    private func entriesInOrderOfUse() throws(SQLiteError) -> Statement {
        try prepared(
            """
            SELECT entry.id, entry.body, blob.byte_count, blob.reference_count
            FROM access CROSS JOIN entry ON entry.id = access.entry_id LEFT JOIN blob ON blob.digest = entry.body
            WHERE access.rank < 2 AND access.rank IN (0, 1) AND access.priority < ?1
            """)
    }

    /// Where the order of eviction is not that of use: looks at all entries.
    private func entriesByLastUse() throws(SQLiteError) -> Statement {
        try prepared(
            """
            SELECT entry.id, entry.body, blob.byte_count, blob.reference_count
            FROM access CROSS JOIN entry ON entry.id = access.entry_id LEFT JOIN blob ON blob.digest = entry.body
            WHERE access.rank < 2 AND access.accessed_at < ?1
            """)
    }

    private func walk(
        _ statement: Statement, _ time: Int64, _ preview: inout EvictionPreview,
        while isTooMuch: (StoreSize) -> Bool = { _ in true }
    ) throws(SQLiteError) {
        defer { statement.reset() }
        statement.bind(time, at: 1)
        while isTooMuch(preview.size), try statement.step() {
            preview.removeEntry()
            preview.removeBody(
                statement.digest(1), byteCount: statement.int64(2), referenceCount: statement.int64(3))
            try removeDerived(ofEntry: statement.int64(0), &preview)
        }
    }

    private func removeDerived(ofEntry entry: Int64, _ preview: inout EvictionPreview) throws(SQLiteError) {
        let statement = try prepared(
            """
            SELECT derived.body, blob.byte_count, blob.reference_count
            FROM derived LEFT JOIN blob ON blob.digest = derived.body
            WHERE derived.entry_id = ?1
            """)
        defer { statement.reset() }
        statement.bind(entry, at: 1)
        while try statement.step() {
            preview.removeBody(
                statement.digest(0), byteCount: statement.int64(1), referenceCount: statement.int64(2))
        }
    }
}

/// Entries taken away in thought, one after the other.
private struct EvictionPreview {
    /// What would be left.
    private(set) var size: StoreSize
    private(set) var report = EvictionReport()
    /// How many would still need a body, for the shared ones that entries taken away had.
    private var referenceCounts: [ContentDigest: Int64] = [:]

    init(size: StoreSize) {
        self.size = size
    }

    mutating func removeEntry() {
        report.entries += 1
        size.entries -= 1
    }

    /// The body of the entry, or one derived from it.
    mutating func removeBody(_ body: ContentDigest?, byteCount: Int64, referenceCount: Int64) {
        guard let body else { return }
        let left = (referenceCounts[body] ?? referenceCount) - 1
        if referenceCount > 1 { referenceCounts[body] = left }
        // Below zero: what is counted wrong waits for its deletion already.
        guard left == 0 else { return }
        size.bodyBytes &-= byteCount
        report.bytes &+= byteCount
    }
}
