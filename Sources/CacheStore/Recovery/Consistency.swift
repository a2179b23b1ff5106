internal import CSQLite

/// Checks the file and the invariants between the tables. Each comparison of tables is one statement, so it sees one
/// state of the index. Comparisons of single entries with their rows run a statement for each thousand ids, because the
/// WAL cannot restart while a statement runs.
extension Connection {
    /// Returns the problems that SQLite finds in the file, or an empty array.
    func integrityProblems() throws(StoreError) -> [String] {
        var problems: [String] = []
        do throws(StoreError) {
            let statement = try prepared("PRAGMA integrity_check")
            defer { statement.reset() }
            while try statement.step() {
                // A row may contain several lines.
                problems += statement.text(0).split(separator: "\n").map(String.init)
            }
        } catch .index(let error) where error.isDamage {
            problems.append(error.message)
        }
        return problems == ["ok"] ? [] : problems
    }

    /// Returns the problems of a file that looked damaged, or an empty array. Also tests a write, and rolls it back.
    func problems() throws(StoreError) -> [String] {
        do throws(StoreError) {
            let problems = try integrityProblems() + schemaProblems()
            guard problems.isEmpty else { return problems }
            // Damage that only prevents writing counts, too.
            try execute("BEGIN IMMEDIATE; UPDATE total SET id = id; UPDATE state SET id = id; ROLLBACK")
            try checkLastEntryID()
            return []
        } catch .index(let error) where error.isDamage {
            return [error.message]
        }
    }

    /// Returns the blobs whose count differs from the number of entries and derived representations that name them.
    func wrongReferenceCounts() throws(StoreError) -> [(digest: ContentDigest, recorded: Int64, actual: Int64)] {
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

    /// The keys of entries that have lost their digest, or whose body has no row of the same length in `blob`.
    func entriesWithoutBlob() throws(StoreError) -> [CacheKey] {
        var keys: [CacheKey] = []
        try forEachRow(
            """
            SELECT partition, key FROM entry
            WHERE id BETWEEN ?1 AND ?2 AND (body IS NOT NULL OR byte_count <> 0)
                AND NOT EXISTS (
                    SELECT 1 FROM blob
                    WHERE digest = body AND length(digest) = 32 AND blob.byte_count = entry.byte_count
                )
            """
        ) { keys.append($0.key) }
        return keys
    }

    /// The derived representations that have lost their digest, or whose body has no row of the same length in `blob`.
    func derivedWithoutBlob() throws(StoreError) -> [(key: CacheKey, name: String)] {
        var forms: [(CacheKey, String)] = []
        try forEachRow(
            """
            SELECT entry.partition, entry.key, derived.name FROM derived JOIN entry ON entry.id = derived.entry_id
            WHERE entry_id BETWEEN ?1 AND ?2 AND (derived.body IS NOT NULL OR derived.byte_count <> 0)
                AND NOT EXISTS (
                    SELECT 1 FROM blob
                    WHERE digest = derived.body AND length(digest) = 32 AND blob.byte_count = derived.byte_count
                )
            """
        ) { forms.append(($0.key, $0.text(2))) }
        return forms
    }

    /// Returns the keys of entries whose rows in `access`, `priority` and `tag` contradict the entry.
    func entriesWithWrongTags() throws(StoreError) -> [CacheKey] {
        var keys: [CacheKey] = []
        try forEachRow(
            """
            SELECT partition, key FROM entry LEFT JOIN access ON access.entry_id = entry.id
            WHERE id BETWEEN ?1 AND ?2 AND (
                coalesce(access.is_pinned, 0) <> entry.is_pinned
                OR access.entry_id IS NULL AND id < (SELECT unused_id FROM total)
            )
            UNION
            SELECT partition, key FROM entry
            WHERE id BETWEEN ?1 AND ?2
                AND (SELECT eviction_policy = 1 AND reordered_id IS NULL FROM state)
                AND is_pinned = EXISTS (SELECT 1 FROM priority WHERE entry_id = id)
            UNION
            SELECT partition, key FROM entry
            WHERE id BETWEEN ?1 AND ?2 AND tags IS NOT NULL AND (
                NOT json_valid(tags)
                OR EXISTS (SELECT value FROM json_each(tags) EXCEPT SELECT name FROM tag WHERE entry_id = entry.id)
            )
            UNION
            SELECT entry.partition, entry.key FROM tag JOIN entry ON entry.id = tag.entry_id
            WHERE tag.entry_id BETWEEN ?1 AND ?2
                AND tag.name NOT IN (SELECT value FROM json_each(iif(json_valid(entry.tags), entry.tags, '[]')))
            """
        ) { keys.append($0.key) }
        return keys
    }

    /// The sums that differ from those of the rows.
    func wrongTotals() throws(StoreError) -> [(name: String, recorded: Int64, actual: Int64)] {
        var wrong: [(String, Int64, Int64)] = []
        let totals = Self.totals.map { "SELECT '\($0.column)', \($0.column), \($0.value) FROM total" }
        for sql in ["SELECT 'rows of total', count(*), 1 FROM total"] + totals + Self.counts {
            let statement: Statement
            do throws(StoreError) {
                statement = try prepare(sql)
            } catch {
                // The statements are correct, so the index lacks a table or a column.
                throw error.asDamage(from: [SQLITE_ERROR])
            }
            while try statement.step() {
                let (recorded, actual) = (statement.int64(1), statement.int64(2))
                if recorded != actual { wrong.append((statement.text(0), recorded, actual)) }
            }
        }
        return wrong
    }

    /// The columns of `total` that are computed from other tables, and their values.
    static let totals: [(column: String, value: String)] = [
        ("entry_count", "(SELECT count(*) FROM entry)"),
        (
            // `total()`, because `sum()` fails if a number is too large.
            "logical_bytes",
            "CAST((SELECT total(byte_count) FROM entry) + (SELECT total(byte_count) FROM derived) AS INTEGER)"
        ),
        ("blob_count", "(SELECT count(*) FROM blob)"),
        ("physical_bytes", "CAST((SELECT total(byte_count) FROM blob) AS INTEGER)"),
        ("failure_count", "(SELECT count(*) FROM failure)"),
        ("failing_count", "(SELECT count(*) FROM (SELECT DISTINCT partition, key FROM failure))"),
        ("derived_count", "(SELECT count(*) FROM derived)"),
        ("derived_bytes", "CAST((SELECT total(byte_count) FROM derived) AS INTEGER)"),
        ("ghost_count", "(SELECT count(*) FROM ghost)"),
        (
            "last_id",
            """
            CASE
                WHEN last_id BETWEEN (SELECT coalesce(max(id), 0) FROM entry) AND 1 << 38 THEN last_id
                ELSE (SELECT coalesce(max(id), 0) FROM entry)
            END
            """
        ),
    ]

    /// Queries for the name, the recorded value and the actual value of another number.
    private static let counts = [
        "SELECT 'rows of state', count(*), 1 FROM state",
        "SELECT 'rows of blob without a digest', count(*), 0 FROM blob WHERE length(digest) <> 32",
        "SELECT 'rows of access without an entry', count(*), 0 FROM access WHERE entry_id NOT IN (SELECT id FROM entry)",
        """
        SELECT 'rows of priority without an entry', count(*), 0 FROM priority
        WHERE entry_id NOT IN (SELECT id FROM entry)
        """,
        """
        SELECT 'rows of partition_total', count(*), (SELECT count(DISTINCT partition) FROM entry WHERE partition <> '')
        FROM partition_total
        """,
        """
        SELECT 'partition_total of ' || partition, byte_count, CAST(
            (SELECT total(byte_count) FROM entry WHERE entry.partition = partition_total.partition) AS INTEGER
        ) FROM partition_total
        """,
        "SELECT 'rows of tag without an entry', count(*), 0 FROM tag WHERE entry_id NOT IN (SELECT id FROM entry)",
        "SELECT 'rows of derived without an entry', count(*), 0 FROM derived WHERE entry_id NOT IN (SELECT id FROM entry)",
    ]
}

extension Statement {
    /// The key in the first two columns, partition and key.
    fileprivate var key: CacheKey { CacheKey(stored: text(1), partition: text(0)) }
}
