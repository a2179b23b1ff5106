internal import ByteText
internal import CSQLite

/// Finds the entries of a selection.
extension Connection {
    /// Returns the ids of the entries in a selection. Reads the rows of a partition, prefix or tag, otherwise every
    /// row.
    func ids(in selection: EntrySelection) throws(StoreError) -> [Int64] {
        try checkPredicate(of: selection)
        var ids: [Int64] = []
        if selection.hasIndex {
            // Searching the index alone is fast. Then read the rows of the matches.
            let candidates = try self.ids(prepare(selection.query(readsRows: false)), selection)
            guard selection.needsRows else { return candidates }
            let question = try prepare("SELECT 1 FROM entry WHERE entry.id = ?9 AND \(selection.conditionOfOneEntry)")
            for id in candidates {
                question.bind(selection)
                question.bind(id, at: 9)
                if try question.integer() == 1 { ids.append(id) }
            }
            return ids
        }
        let statement = try prepare(selection.query() + " AND entry.id BETWEEN ?9 AND ?10")
        // A statement for each thousand rows, because the WAL cannot restart while a statement runs.
        try forEachRangeOfIDs { (range) throws(StoreError) in
            statement.bind(range.lowerBound, at: 9)
            statement.bind(range.upperBound, at: 10)
            ids += try self.ids(statement, selection)
        }
        return ids
    }

    private func ids(_ statement: Statement, _ selection: EntrySelection) throws(StoreError) -> [Int64] {
        statement.bind(selection)
        return try statement.integers()
    }

    /// Checks that a predicate is one expression over the columns of `cache_entries`, reads only views, and has no
    /// parameters.
    func checkPredicate(of selection: EntrySelection) throws(StoreError) {
        guard let predicate = selection.predicate else { return }
        try authorizingQueries { () throws(StoreError) in
            // Try parentheses, and then CASE WHEN: text that is valid in both cannot close either.
            for condition in ["(\(predicate)\n)", "CASE WHEN \(predicate)\n THEN 1 END"] {
                let statement = try prepare("SELECT 1 FROM cache_entries WHERE \(condition)")
                guard statement.isReadOnly else { throw .index(SQLiteError(readOnlyRefuses: predicate)) }
                guard statement.parameterCount == 0 else {
                    let message = "parameters cannot be used here"
                    throw .index(SQLiteError(extendedCode: SQLITE_MISUSE, message: message, sql: predicate))
                }
            }
        }
    }

    /// Returns the report of a removal of the selection, without changes.
    func preview(of selection: EntrySelection) throws(StoreError) -> RemovalReport {
        let ids = try ids(in: selection)
        var freed = try FreedBytes(self)
        var report = RemovalReport()
        report.entries = ids.count
        report.failures = try failingKeys(in: selection, andOf: Set(ids)).count
        for id in ids { report.bytes &+= try freed.remove(id) }
        return report
    }

    /// Returns up to ``Connection/maxFailures`` keys with failures: keys of the given entries and, for a selection by
    /// keys alone, every matching key, even without an entry.
    func failingKeys(
        in selection: EntrySelection, andOf entries: Set<Int64> = []
    ) throws(StoreError) -> Set<CacheKey> {
        guard selection.isAboutKeys || !entries.isEmpty else { return [] }
        let statement = try prepared("SELECT DISTINCT partition, key FROM failure")
        defer { statement.reset() }
        var keys: Set<CacheKey> = []
        while try statement.step() {
            let key = CacheKey(stored: statement.text(1), partition: statement.text(0))
            var isSelected = selection.isAboutKeys && selection.contains(key)
            if !isSelected { isSelected = try has(oneOf: entries, under: key) }
            if isSelected { keys.insert(key) }
        }
        return keys
    }

    private func has(oneOf entries: Set<Int64>, under key: CacheKey) throws(StoreError) -> Bool {
        guard !entries.isEmpty else { return false }
        let statement = try prepared("SELECT id FROM entry WHERE partition = ?1 AND key = ?2")
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        while try statement.step() {
            if entries.contains(statement.int64(0)) { return true }
        }
        return false
    }
}

extension WriteTransaction {
    /// Removes the entries of `ids` that are still in the selection, at least one, until the transaction is out of
    /// time. Does not evaluate the predicate again, which may refer to entries that are already removed. Returns the
    /// report, the keys of removed entries that have failures, and the number of processed `ids`. The caller removes
    /// these failures after all entries, because a predicate may refer to failures.
    func removeEntries(
        _ ids: ArraySlice<Int64>, in selection: EntrySelection
    ) throws(StoreError) -> (report: RemovalReport, failing: [CacheKey], count: Int) {
        var rows = selection
        rows.predicate = nil
        let question = try connection.prepare(
            """
            SELECT
                EXISTS (SELECT 1 FROM failure WHERE failure.partition = entry.partition AND failure.key = entry.key),
                entry.partition, entry.key
            FROM entry
            WHERE entry.id = ?9 AND \(rows.conditionOfOneEntry)
            """)
        let before = try connection.size().bodyBytes
        var report = RemovalReport()
        var failing: [CacheKey] = []
        var count = 0
        for id in ids where count == 0 || !isOutOfTime {
            count += 1
            defer { question.reset() }
            question.bind(rows)
            question.bind(id, at: 9)
            guard try question.step() else { continue }
            if question.int64(0) == 1 {
                failing.append(CacheKey(stored: question.text(2), partition: question.text(1)))
            }
            if try removeEntry(id: id) { report.entries += 1 }
        }
        report.bytes = max(0, before &- (try connection.size().bodyBytes))
        return (report, failing, count)
    }
}

extension EntrySelection {
    /// Returns a query for the ids of the entries. ``Statement/bind(_:)-(EntrySelection)`` binds its parameters;
    /// parameter 9 is free. With `readsRows`, includes the conditions that read rows of entries.
    package func query(readsRows: Bool = true) -> String {
        var conditions: [String] = []
        // A tag selects fewer rows than a partition. `+` keeps SQLite from using the index of keys.
        if partition != nil { conditions.append("\(tag != nil && prefix == nil ? "+" : "")entry.partition = ?1") }
        if prefix != nil { conditions.append("entry.key >= ?2 AND entry.key < ?3") }
        if tag != nil { conditions.append("entry.id IN (SELECT entry_id FROM tag WHERE name = ?5)") }
        if readsRows {
            if host != nil { conditions.append("entry.host = ?4") }
            conditions += conditionsThatReadRows
        }
        let condition = conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
        guard prefix != nil, partition == nil else { return "SELECT entry.id FROM entry WHERE \(condition)" }
        // Steps from partition to partition along the index, without reading the rows in between.
        return """
            SELECT entry.id FROM (
                WITH RECURSIVE next (partition) AS (
                    SELECT min(partition) FROM entry
                    UNION ALL
                    SELECT (SELECT min(partition) FROM entry WHERE partition > next.partition) FROM next
                    WHERE next.partition IS NOT NULL
                )
                SELECT partition FROM next WHERE partition IS NOT NULL
            ) AS each CROSS JOIN entry ON entry.partition = each.partition WHERE \(condition)
            """
    }

    /// Whether an index finds the rows.
    fileprivate var hasIndex: Bool { partition != nil || prefix != nil || tag != nil }

    /// Whether the index alone is not enough.
    fileprivate var needsRows: Bool {
        host != nil || contentType != nil || predicate != nil || (tag != nil && (partition != nil || prefix != nil))
    }

    /// The condition for one given entry. Its terms read only rows of that entry, except in a predicate.
    package var conditionOfOneEntry: String {
        var conditions = ["true"]
        if partition != nil { conditions.append("entry.partition = ?1") }
        if prefix != nil { conditions.append("entry.key >= ?2 AND entry.key < ?3") }
        if host != nil { conditions.append("entry.host = ?4") }
        if tag != nil { conditions.append("EXISTS (SELECT 1 FROM tag WHERE name = ?5 AND entry_id = entry.id)") }
        return (conditions + conditionsThatReadRows).joined(separator: " AND ")
    }

    private var conditionsThatReadRows: [String] {
        var conditions: [String] = []
        if contentType != nil {
            let type = "trim(substr(entry.content_type, 1, instr(entry.content_type || ';', ';') - 1), ' ' || char(9))"
            conditions.append(
                contentTypeIsFamily ? "lower(substr(\(type), 1, length(?6))) = ?6" : "lower(\(type)) = ?6")
        }
        if let predicate {
            // The line break ends a comment at the end of the predicate.
            conditions.append(
                "EXISTS (SELECT 1 FROM cache_entries WHERE cache_entries.id = entry.id AND (\(predicate)\n))")
        }
        return conditions
    }

    fileprivate var contentTypeIsFamily: Bool { contentType?.hasSuffix("/*") ?? false }

    /// Whether the partition, the prefix and the host of the selection match a key.
    fileprivate func contains(_ key: CacheKey) -> Bool {
        (partition.map { $0.hasSameBytes(as: key.partition) } ?? true)
            && (prefix.map { key.text.utf8.starts(with: $0.utf8) } ?? true)
            && (indexedHost.map { $0 == key.host } ?? true)
    }

    /// The host as the index stores it: in lower case, an IPv6 address in brackets.
    var indexedHost: String? {
        guard let host = host?.lowercased() else { return nil }
        return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }

    /// The smallest text greater than every text with this prefix, in SQLite's byte order.
    fileprivate var prefixEnd: [UInt8] { Array((prefix ?? "").utf8) + [0xff] }
}

extension Statement {
    /// Binds each of the parameters 1 to 6 that the statement has.
    func bind(_ selection: EntrySelection) {
        let count = parameterCount
        if let partition = selection.partition { bind(partition, at: 1) }
        if let prefix = selection.prefix {
            bind(prefix, at: 2)
            bind(textBytes: selection.prefixEnd, at: 3)
        }
        if let host = selection.indexedHost, count >= 4 { bind(host, at: 4) }
        if let tag = selection.tag { bind(tag, at: 5) }
        if let contentType = selection.contentType, count >= 6 {
            let text = contentType.lowercased()
            bind(selection.contentTypeIsFamily ? String(text.dropLast()) : text, at: 6)
        }
    }
}
