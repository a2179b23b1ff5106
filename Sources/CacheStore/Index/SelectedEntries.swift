/// The entries of a selection.
extension Connection {
    /// The rows of the entries in a selection. Reads what an index leads to; for a media type or a predicate, every row.
    func ids(in selection: EntrySelection, limit: Int64 = .max) throws(SQLiteError) -> [Int64] {
        try checkPredicate(of: selection)
        let (from, condition) = selection.clauses
        let statement = try prepare("SELECT entry.id FROM \(from) WHERE \(condition) LIMIT ?9")
        guard statement.isReadOnly else { throw SQLiteError(readOnlyRefuses: selection.predicate ?? "") }
        statement.bind(selection)
        statement.bind(limit, at: 9)
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.int64(0)) }
        return ids
    }

    /// A predicate has to stand by itself: parentheses of its own must not reach beyond those around it, nor names to the
    /// tables behind the view.
    private func checkPredicate(of selection: EntrySelection) throws(SQLiteError) {
        guard let predicate = selection.predicate else { return }
        _ = try prepare("SELECT 1 FROM cache_entries WHERE (\(predicate)\n)")
    }

    /// Removes those of `ids` that are in the selection still, with the failures of their keys.
    func removeEntries(
        _ ids: ArraySlice<Int64>, in selection: EntrySelection
    ) throws(SQLiteError) -> RemovalReport {
        let before = try bodyBytes()
        var report = RemovalReport()
        let condition = selection.clauses.condition
        let failures = try prepare(
            """
            DELETE FROM failure WHERE (partition, key) = (SELECT partition, key FROM entry WHERE id = ?9 AND \(condition))
            """)
        let entries = try prepare("DELETE FROM entry WHERE id = ?9 AND \(condition)")
        for id in ids {
            for statement in [failures, entries] {
                statement.bind(selection)
                statement.bind(id, at: 9)
                try statement.run()
                if statement === failures { report.failures += changes } else { report.entries += changes }
            }
        }
        report.bytes = max(0, before &- (try bodyBytes()))
        return report
    }

    /// Removes failures of keys in a selection that keys alone tell, whether the key has an entry or not. There are at most
    /// ``maxFailures``.
    func removeFailures(in selection: EntrySelection) throws(SQLiteError) -> Int {
        var count = 0
        for key in try failingKeys(in: selection) where try removeFailure(for: key) { count += 1 }
        return count
    }

    /// What removing the selection would free; nothing is changed.
    func preview(of selection: EntrySelection) throws(SQLiteError) -> RemovalReport {
        try checkPredicate(of: selection)
        let (from, condition) = selection.clauses
        let statement = try prepare(
            """
            WITH selected AS MATERIALIZED (SELECT entry.id, entry.body FROM \(from) WHERE \(condition))
            SELECT
                (SELECT count(*) FROM selected),
                (
                    SELECT CAST(total(byte_count) AS INTEGER)
                    FROM (SELECT body, count(*) AS count FROM selected WHERE body IS NOT NULL GROUP BY body) AS gone
                    JOIN blob ON blob.digest = gone.body AND blob.reference_count <= gone.count
                ),
                (
                    SELECT count(*) FROM failure
                    WHERE (partition, key) IN (SELECT partition, key FROM entry WHERE id IN (SELECT id FROM selected))
                )
            """)
        guard statement.isReadOnly else { throw SQLiteError(readOnlyRefuses: selection.predicate ?? "") }
        statement.bind(selection)
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        var report = RemovalReport(
            entries: statement.int(0), failures: statement.int(2), bytes: statement.int64(1))
        if selection.isAboutKeys { report.failures = try failingKeys(in: selection).count }
        return report
    }

    private func failingKeys(in selection: EntrySelection) throws(SQLiteError) -> [CacheKey] {
        let statement = try prepared("SELECT partition, key FROM failure")
        defer { statement.reset() }
        var keys: [CacheKey] = []
        while try statement.step() {
            let key = CacheKey(stored: statement.text(1), partition: statement.text(0))
            if selection.contains(key) { keys.append(key) }
        }
        return keys
    }

    private func bodyBytes() throws(SQLiteError) -> Int64 {
        try integer(prepared("SELECT physical_bytes - unreferenced_bytes FROM total"))
    }
}

extension EntrySelection {
    /// Where the entries are looked for, and what must hold; parameters as ``Statement/bind(_:)-(EntrySelection)`` binds
    /// them, 9 is free.
    fileprivate var clauses: (from: String, condition: String) {
        var conditions: [String] = []
        // The terms of a `+` are kept from choosing an index that leads to more rows.
        let isNarrow = prefix != nil || tag != nil || host != nil
        if partition != nil { conditions.append("\(isNarrow && prefix == nil ? "+" : "")entry.partition = ?1") }
        if prefix != nil { conditions.append("entry.key >= ?2 AND entry.key < ?3") }
        if host != nil { conditions.append("\(prefix != nil ? "+" : "")entry.host = ?4") }
        if tag != nil { conditions.append("entry.id IN (SELECT entry_id FROM tag WHERE name = ?5)") }
        if contentType != nil {
            conditions.append(
                contentTypeIsFamily
                    ? "lower(substr(entry.content_type, 1, length(?6))) = ?6"
                    : "lower(rtrim(substr(entry.content_type, 1, instr(entry.content_type || ';', ';') - 1))) = ?6")
        }
        if let predicate {
            // The line break ends a comment.
            conditions.append("entry.id IN (SELECT id FROM cache_entries WHERE (\(predicate)\n))")
        }
        let condition = conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
        guard prefix != nil, partition == nil else { return ("entry", condition) }
        // From one partition to the next along the index, without reading what lies between.
        let partitions = """
            (
                WITH RECURSIVE next (partition) AS (
                    SELECT min(partition) FROM entry
                    UNION ALL
                    SELECT (SELECT min(partition) FROM entry WHERE partition > next.partition) FROM next
                    WHERE next.partition IS NOT NULL
                )
                SELECT partition FROM next WHERE partition IS NOT NULL
            ) AS each CROSS JOIN entry ON entry.partition = each.partition
            """
        return (partitions, condition)
    }

    fileprivate var contentTypeIsFamily: Bool { contentType?.hasSuffix("/*") ?? false }

    /// The same question asked of a key alone.
    fileprivate func contains(_ key: CacheKey) -> Bool {
        (partition.map { $0.utf8.elementsEqual(key.partition.utf8) } ?? true)
            && (prefix.map { key.text.utf8.starts(with: $0.utf8) } ?? true)
            && (host.map { $0.lowercased() == key.host } ?? true)
    }

    /// The least text that is greater than every text with this prefix: byte by byte, as SQLite compares.
    fileprivate var prefixEnd: [UInt8] { Array((prefix ?? "").utf8) + [0xff] }
}

extension Statement {
    /// Binds parameters 1 to 6, those that the statement has.
    fileprivate func bind(_ selection: EntrySelection) {
        if let partition = selection.partition { bind(partition, at: 1) }
        if let prefix = selection.prefix {
            bind(prefix, at: 2)
            bind(textBytes: selection.prefixEnd, at: 3)
        }
        if let host = selection.host { bind(host.lowercased(), at: 4) }
        if let tag = selection.tag { bind(tag, at: 5) }
        if let contentType = selection.contentType {
            let text = contentType.lowercased()
            bind(selection.contentTypeIsFamily ? String(text.dropLast()) : text, at: 6)
        }
    }
}
