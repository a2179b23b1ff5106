/// Checks the file and the invariants between the tables. Each comparison of tables is one statement, so it sees one
/// state of the index.
extension Connection {
    /// Returns the problems that SQLite finds in the file; empty if there are none.
    func integrityProblems() throws(SQLiteError) -> [String] {
        var problems: [String] = []
        do throws(SQLiteError) {
            let statement = try prepared("PRAGMA integrity_check")
            defer { statement.reset() }
            while try statement.step() {
                // A row may hold several lines.
                problems += statement.text(0).split(separator: "\n").map(String.init)
            }
        } catch let error where error.isDamage {
            problems.append(error.message)
        }
        return problems == ["ok"] ? [] : problems
    }

    /// Returns the problems of a file that has looked damaged; empty if nothing is wrong after all. Writes to the file,
    /// too, and rolls back.
    func problems() throws(SQLiteError) -> [String] {
        do throws(SQLiteError) {
            let problems = try integrityProblems() + schemaProblems()
            guard problems.isEmpty else { return problems }
            // Damage that prevents only writing counts, too.
            try execute("BEGIN IMMEDIATE; UPDATE total SET id = id; UPDATE state SET id = id; ROLLBACK")
            try checkLastEntryID()
            return []
        } catch let error where error.isDamage {
            return [error.message]
        }
    }

    /// Returns the blobs whose count differs from the number of entries and derived representations that name them.
    func wrongReferenceCounts() throws(SQLiteError) -> [(digest: ContentDigest, recorded: Int64, actual: Int64)] {
        let statement = try prepared(
            """
            SELECT digest, reference_count, coalesce(needed, 0) AS actual
            FROM blob LEFT JOIN (
                SELECT body, count(*) AS needed
                FROM (SELECT body FROM entry UNION ALL SELECT body FROM derived) GROUP BY body
            ) ON body = digest
            WHERE reference_count <> actual
            """)
        defer { statement.reset() }
        var wrong: [(ContentDigest, Int64, Int64)] = []
        while try statement.step() {
            if let digest = statement.digest(0) { wrong.append((digest, statement.int64(1), statement.int64(2))) }
        }
        return wrong
    }

    /// Returns the keys of entries whose body has no row in `blob` or a row with another length, and of entries that
    /// have lost their digest.
    func entriesWithoutBlob() throws(SQLiteError) -> [CacheKey] {
        let statement = try prepared(
            """
            SELECT partition, key FROM entry
            WHERE (body IS NOT NULL OR byte_count <> 0)
                AND NOT EXISTS (
                    SELECT 1 FROM blob
                    WHERE digest = body AND length(digest) = 32 AND blob.byte_count = entry.byte_count
                )
            """)
        defer { statement.reset() }
        var keys: [CacheKey] = []
        while try statement.step() {
            keys.append(CacheKey(stored: statement.text(1), partition: statement.text(0)))
        }
        return keys
    }

    /// Returns the derived representations whose body has no row in `blob` or a row with another length, and those that
    /// have lost their digest.
    func derivedWithoutBlob() throws(SQLiteError) -> [(key: CacheKey, name: String)] {
        let statement = try prepared(
            """
            SELECT entry.partition, entry.key, derived.name FROM derived JOIN entry ON entry.id = derived.entry_id
            WHERE (derived.body IS NOT NULL OR derived.byte_count <> 0)
                AND NOT EXISTS (
                    SELECT 1 FROM blob
                    WHERE digest = derived.body AND length(digest) = 32 AND blob.byte_count = derived.byte_count
                )
            """)
        defer { statement.reset() }
        var forms: [(CacheKey, String)] = []
        while try statement.step() {
            forms.append((CacheKey(stored: statement.text(1), partition: statement.text(0)), statement.text(2)))
        }
        return forms
    }

    /// Returns the keys of entries whose rows in `access`, `priority` and `tag` contradict the entry.
    func entriesWithWrongTags() throws(SQLiteError) -> [CacheKey] {
        let statement = try prepared(
            """
            SELECT partition, key FROM entry LEFT JOIN access ON access.entry_id = entry.id
            WHERE coalesce(access.is_pinned, 0) <> entry.is_pinned
                OR access.entry_id IS NULL AND id < (SELECT unused_id FROM total)
            UNION
            SELECT partition, key FROM entry
            WHERE (SELECT eviction_policy = 1 AND reordered_id IS NULL FROM state)
                AND is_pinned = EXISTS (SELECT 1 FROM priority WHERE entry_id = id)
            UNION
            SELECT partition, key FROM entry
            WHERE tags IS NOT NULL AND (
                NOT json_valid(tags)
                OR EXISTS (SELECT value FROM json_each(tags) EXCEPT SELECT name FROM tag WHERE entry_id = entry.id)
            )
            UNION
            SELECT entry.partition, entry.key FROM tag JOIN entry ON entry.id = tag.entry_id
            WHERE tag.name NOT IN (SELECT value FROM json_each(iif(json_valid(entry.tags), entry.tags, '[]')))
            """)
        defer { statement.reset() }
        var keys: [CacheKey] = []
        while try statement.step() {
            keys.append(CacheKey(stored: statement.text(1), partition: statement.text(0)))
        }
        return keys
    }

    /// Returns the sums that differ from the sums of the rows. Uses `total()`, because `sum()` fails if a row has too
    /// large a number.
    func wrongTotals() throws(SQLiteError) -> [(name: String, recorded: Int64, actual: Int64)] {
        let statement = try prepared(
            """
            WITH
                recorded AS (SELECT * FROM total UNION ALL SELECT 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 LIMIT 1),
                compared (name, recorded, actual) AS (
                    SELECT 'rows of total', (SELECT count(*) FROM total), 1
                    UNION ALL SELECT 'rows of state', (SELECT count(*) FROM state), 1
                    UNION ALL SELECT 'entry_count', entry_count, (SELECT count(*) FROM entry) FROM recorded
                    UNION ALL SELECT 'logical_bytes', logical_bytes,
                        (SELECT total(byte_count) FROM entry) + (SELECT total(byte_count) FROM derived) FROM recorded
                    UNION ALL SELECT 'blob_count', blob_count, (SELECT count(*) FROM blob) FROM recorded
                    UNION ALL SELECT 'physical_bytes', physical_bytes, (SELECT total(byte_count) FROM blob) FROM recorded
                    UNION ALL SELECT 'failure_count', failure_count, (SELECT count(*) FROM failure) FROM recorded
                    UNION ALL SELECT 'failing_count', failing_count,
                        (SELECT count(*) FROM (SELECT DISTINCT partition, key FROM failure)) FROM recorded
                    UNION ALL SELECT 'derived_count', derived_count, (SELECT count(*) FROM derived) FROM recorded
                    UNION ALL SELECT 'derived_bytes', derived_bytes, (SELECT total(byte_count) FROM derived)
                        FROM recorded
                    UNION ALL SELECT 'ghost_count', ghost_count, (SELECT count(*) FROM ghost) FROM recorded
                    UNION ALL SELECT 'rows of blob without a digest',
                        (SELECT count(*) FROM blob WHERE length(digest) <> 32), 0
                    UNION ALL SELECT 'last_id', last_id, CASE
                        WHEN last_id BETWEEN (SELECT coalesce(max(id), 0) FROM entry) AND 1 << 38 THEN last_id
                        ELSE (SELECT coalesce(max(id), 0) FROM entry)
                    END FROM recorded
                    UNION ALL SELECT 'rows of access without an entry',
                        (SELECT count(*) FROM access WHERE entry_id NOT IN (SELECT id FROM entry)), 0
                    UNION ALL SELECT 'rows of priority without an entry',
                        (SELECT count(*) FROM priority WHERE entry_id NOT IN (SELECT id FROM entry)), 0
                    UNION ALL SELECT 'rows of partition_total', (SELECT count(*) FROM partition_total),
                        (SELECT count(DISTINCT partition) FROM entry WHERE partition <> '')
                    UNION ALL SELECT 'partition_total of ' || partition, byte_count,
                        (SELECT total(byte_count) FROM entry WHERE entry.partition = partition_total.partition)
                        FROM partition_total
                    UNION ALL SELECT 'rows of tag without an entry',
                        (SELECT count(*) FROM tag WHERE entry_id NOT IN (SELECT id FROM entry)), 0
                    UNION ALL SELECT 'rows of derived without an entry',
                        (SELECT count(*) FROM derived WHERE entry_id NOT IN (SELECT id FROM entry)), 0
                )
            SELECT name, recorded, CAST(actual AS INTEGER) FROM compared WHERE recorded <> actual
            """)
        defer { statement.reset() }
        var wrong: [(String, Int64, Int64)] = []
        while try statement.step() {
            wrong.append((statement.text(0), statement.int64(1), statement.int64(2)))
        }
        return wrong
    }
}
