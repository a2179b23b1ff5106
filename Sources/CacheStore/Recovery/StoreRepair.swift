/// Repairs the problems that a check finds.
extension ResponseStore {
    /// Runs `check(digests:)` and repairs the problems that it finds.
    ///
    /// Removes entries and derived representations whose body is missing, altered or not listed, so that the caller
    /// loads or derives them again. Recomputes counts and sums, and deletes orphan files. Rebuilds as much of a damaged
    /// index as possible. If damage remains, quarantines the index and creates a new one.
    ///
    /// - Returns: The problems that the checks found.
    @discardableResult
    public func repair(digests: Bool = false) throws(StoreError) -> CheckReport {
        var report = try check(digests: digests)
        if report.hasDamagedIndex {
            // If an error prevents the rebuild, `recover()` finds the damage again.
            try? rebuildIndex()
            try writer.recover()
            // The recovered index may have other problems than the damaged one.
            let known = Set(report.problems)
            report.problems += try check(digests: digests).problems.filter { !known.contains($0) }
        }
        if report.problems.contains(where: \.needsRecount) {
            // Recount before removing anything, because later removals subtract from these counts.
            try writer.write { (transaction) throws(StoreError) in
                transaction.changes.isUnknown = true
                try transaction.connection.countAnew()
            }
        }
        try drop(report.problems.compactMap(\.damagedBody))
        for case .unlistedBody(let key) in report.problems { try remove(key) }
        // The rebuild, the recount and the sweep repair the other problems.
        try flush()
        try sweep()
        return report
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
    @discardableResult
    public func repair(digests: Bool = false) async throws(StoreError) -> CheckReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.repair(digests: digests) }
    }

    /// Recomputes counts and sums and rebuilds the indices of a damaged index, in one transaction. An interruption or an
    /// error in between leaves no table empty.
    private func rebuildIndex() throws(StoreError) {
        try interruptibly { (connection) throws(StoreError) in
            try writer.writeLock.begin(connection, within: connection.busyTimeout)
            defer { writer.writeLock.release() }
            do throws(StoreError) {
                try connection.countAnew()
                try connection.execute("REINDEX; COMMIT")
            } catch {
                if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
                throw error
            }
        }
    }

    /// Removes the rows and files of damaged bodies, except bodies that are whole by now. Reads every row once. Hashes
    /// without the write lock, and takes it for one batch at a time.
    private func drop(_ digests: [ContentDigest]) throws(StoreError) {
        guard !digests.isEmpty else { return }
        let (rows, parts) = try readLongAsIs { (connection) throws(StoreError) in
            (try connection.rows(withBodies: Set(digests)), try connection.partBodies())
        }
        for start in stride(from: 0, to: digests.count, by: Self.repairBatch) {
            var damaged: [(digest: ContentDigest, byteCount: Int64, file: FileStatus?)] = []
            for digest in digests[start..<min(start + Self.repairBatch, digests.count)] {
                let byteCount = try readers.read { (connection) throws(StoreError) in
                    try connection.byteCount(ofBlob: digest)
                }
                guard let byteCount else { continue }
                let state = try find(
                    digest, byteCount: byteCount, isPart: parts.contains(digest), limit: .max, .everyRead)
                guard case .damaged(let file) = state else { continue }
                damaged.append((digest, byteCount, file))
            }
            try writer.write { [self, damaged] (transaction) throws(StoreError) in
                for (digest, byteCount, file) in damaged {
                    _ = try remove(
                        rows[digest] ?? [], withDamaged: digest, file, byteCount: byteCount,
                        isPart: parts.contains(digest), transaction)
                }
            }
        }
    }

    /// The number of bodies whose rows one transaction removes.
    private static let repairBatch = 64
}

extension CheckReport.Problem {
    fileprivate var damagedBody: ContentDigest? {
        switch self {
        case .missingFile(let digest), .alteredFile(let digest): digest
        default: nil
        }
    }

    /// Whether the recount repairs the problem. A sweep or a removal repairs problems of files.
    fileprivate var needsRecount: Bool {
        switch self {
        case .missingFile, .alteredFile, .orphanFile, .foreignFolder: false
        case .damagedIndex, .unlistedBody, .unlistedDerivedBody, .wrongReferenceCount, .wrongTotal, .wrongTags: true
        }
    }
}

extension Connection {
    /// Recomputes every count and sum from the rows, and deletes rows with a malformed digest.
    fileprivate func countAnew() throws(StoreError) {
        // Delete malformed rows first, because the triggers of these deletions change the counts below.
        try execute("DELETE FROM entry WHERE body IS NOT NULL AND length(body) <> 32")
        try execute("DELETE FROM blob WHERE length(digest) <> 32")
        try execute("INSERT OR IGNORE INTO total VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)")
        try execute(
            // As in a new index, a random generation makes every earlier load count as affected by a removal.
            "INSERT OR IGNORE INTO state VALUES (1, 1, abs(random() >> 5), 0, EXISTS (SELECT 1 FROM priority), 0)")
        try execute(
            """
            DELETE FROM derived
            WHERE entry_id NOT IN (SELECT id FROM entry) OR (body IS NOT NULL OR byte_count <> 0)
                AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = body AND blob.byte_count = derived.byte_count)
            """)
        try countAccessesAnew()
        // The tags in `entry` are the original, from which the table is built again.
        try execute("DELETE FROM tag")
        try execute("UPDATE entry SET tags = NULL WHERE tags IS NOT NULL AND NOT json_valid(tags)")
        try execute("INSERT OR IGNORE INTO tag SELECT value, entry.id FROM entry, json_each(entry.tags) AS each")
        try countBlobsAnew()
        try execute("DELETE FROM partition_total")
        try execute(
            """
            INSERT INTO partition_total SELECT partition, count(*), CAST(total(byte_count) AS INTEGER)
            FROM entry WHERE partition <> '' GROUP BY partition
            """)
        // Update `total` last, because the triggers of the statements above change it. The walk along unused entries
        // begins again at the first entry, because some of the entries may have lost their access rows.
        let values = Self.totals.map { "\($0.column) = \($0.value)" }.joined(separator: ", ")
        try execute("UPDATE total SET \(values), unused_id = 0")
    }

    /// Repairs accesses and priorities. If its policy uses priorities, the store computes all of them again.
    private func countAccessesAnew() throws(StoreError) {
        try execute("DELETE FROM access WHERE entry_id NOT IN (SELECT id FROM entry)")
        try execute("UPDATE access SET is_pinned = (SELECT entry.is_pinned FROM entry WHERE id = entry_id)")
        try execute(
            """
            INSERT OR IGNORE INTO access SELECT id, id << 24, created_at, 0, 1 FROM entry WHERE is_pinned = 1
            """)
        try execute(
            """
            DELETE FROM priority
            WHERE entry_id NOT IN (SELECT id FROM entry) OR entry_id IN (SELECT id FROM entry WHERE is_pinned = 1)
            """)
        // With a lower age, new entries would be evicted before all others.
        try execute(
            "UPDATE total SET eviction_age = max(eviction_age, coalesce((SELECT min(priority) FROM priority), 0))")
        try execute("UPDATE state SET reordered_id = 0")
    }

    private func countBlobsAnew() throws(StoreError) {
        try execute(
            """
            UPDATE blob SET reference_count = actual
            FROM (
                SELECT digest AS counted, coalesce(needed, 0) AS actual
                FROM blob LEFT JOIN (
                    SELECT body, count(*) AS needed
                    FROM (SELECT body FROM entry UNION ALL SELECT body FROM derived) GROUP BY body
                ) ON body = digest
            )
            WHERE digest = counted AND reference_count <> actual
            """)
        try execute("DELETE FROM blob WHERE reference_count = 0")
    }
}
