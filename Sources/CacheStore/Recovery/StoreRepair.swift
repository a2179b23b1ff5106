/// Repairs the problems that a check finds.
extension ResponseStore {
    /// Runs `check(digests:)` and repairs the problems that it finds.
    ///
    /// Removes entries and derived representations whose body is missing, altered or not listed; the caller loads or
    /// derives them again. Recomputes counts and sums, and deletes files that nothing needs. Rebuilds as much of a
    /// damaged index as possible. If the damage remains, quarantines the index and creates a new one.
    ///
    /// - Returns: The problems that the checks found.
    @discardableResult
    public func repair(digests: Bool = false) throws(StoreError) -> CheckReport {
        var report = try check(digests: digests)
        if report.hasDamagedIndex {
            // If an error prevents the rebuild, `recover()` finds the damage again.
            try? writer.withConnection { (connection) throws(SQLiteError) in
                try connection.countAnew()
                try connection.execute("REINDEX")
            }
            try writer.recover()
            // The recovered index may have other problems than the damaged one.
            report.problems += try check(digests: digests).problems.filter { !report.problems.contains($0) }
        }
        if !report.isSound {
            // Recount before removing anything: later removals subtract from these counts.
            try writer.write(changing { (transaction) throws(SQLiteError) in try transaction.connection.countAnew() })
        }
        for problem in report.problems { try mend(problem) }
        try flush()
        try sweep()
        return report
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
    @discardableResult
    public func repair(digests: Bool = false) async throws(StoreError) -> CheckReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.repair(digests: digests) }
    }

    private func mend(_ problem: CheckReport.Problem) throws(StoreError) {
        switch problem {
        case .missingFile(let digest), .alteredFile(let digest):
            try drop(digest)
        case .unlistedBody(let key):
            try remove(key)
        case .damagedIndex, .orphanFile, .unlistedDerivedBody, .wrongReferenceCount, .wrongTotal, .wrongTags:
            // The rebuild, the recount and the sweep repair all of these at once.
            break
        }
    }

    /// Removes the entries and derived representations of a body, and its file, unless the body is whole by now.
    private func drop(_ digest: ContentDigest) throws(StoreError) {
        try writer.write { [self] (transaction) throws(StoreError) in
            let (byteCount, isPart) = try wrappingErrors(indexPath) { () throws(SQLiteError) in
                let connection = transaction.connection
                return (try connection.byteCount(ofBlob: digest), try connection.partBodies().contains(digest))
            }
            guard let byteCount, try examine(digest, byteCount, isPart: isPart, reads: true) != nil else { return }
            _ = try removeRows(withDamagedBody: digest, transaction)
        }
    }
}

extension Connection {
    /// Recomputes every count and sum from the rows, and deletes rows with a malformed digest.
    fileprivate func countAnew() throws(SQLiteError) {
        try execute("DELETE FROM entry WHERE body IS NOT NULL AND length(body) <> 32")
        try execute("DELETE FROM blob WHERE length(digest) <> 32")
        try execute("INSERT OR IGNORE INTO total VALUES (1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)")
        try execute("INSERT OR IGNORE INTO state VALUES (1, 1, 0, 0, EXISTS (SELECT 1 FROM priority), 0)")
        try execute(
            """
            DELETE FROM derived
            WHERE entry_id NOT IN (SELECT id FROM entry) OR (body IS NOT NULL OR byte_count <> 0)
                AND NOT EXISTS (SELECT 1 FROM blob WHERE digest = body AND blob.byte_count = derived.byte_count)
            """)
        try countAccessesAnew()
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
        // Update `total` last: the triggers of the statements above have changed it.
        try execute(
            """
            UPDATE total SET
                entry_count = (SELECT count(*) FROM entry),
                logical_bytes = CAST(
                    (SELECT total(byte_count) FROM entry) + (SELECT total(byte_count) FROM derived) AS INTEGER),
                derived_count = (SELECT count(*) FROM derived),
                derived_bytes = (SELECT CAST(total(byte_count) AS INTEGER) FROM derived),
                blob_count = (SELECT count(*) FROM blob),
                physical_bytes = (SELECT CAST(total(byte_count) AS INTEGER) FROM blob),
                failure_count = (SELECT count(*) FROM failure),
                failing_count = (SELECT count(*) FROM (SELECT DISTINCT partition, key FROM failure)),
                last_id = CASE
                    WHEN last_id BETWEEN (SELECT coalesce(max(id), 0) FROM entry) AND 1 << 38 THEN last_id
                    ELSE (SELECT coalesce(max(id), 0) FROM entry)
                END,
                unused_id = 0,
                ghost_count = (SELECT count(*) FROM ghost)
            """)
    }

    /// Repairs accesses and priorities. The store computes every priority again if its policy uses priorities.
    private func countAccessesAnew() throws(SQLiteError) {
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

    private func countBlobsAnew() throws(SQLiteError) {
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
