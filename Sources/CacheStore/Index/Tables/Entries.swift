// The folder `Index/Tables/` has the SQL of the tables, each statement in the function that runs it. Reads extend
// `Connection`; changes of entries extend `WriteTransaction`, because a removal leaves files to delete. Eviction,
// pages, checks and snapshots have further statements. The folder opens no connection, begins and ends no transaction,
// and deletes no file.

internal import CSQLite

/// The columns of `entry`, in the order in which lookups read them. Parameters count from 1.
private enum EntryColumn: Int32 {
    case id, kind, variant, url, status, etag, lastModified, contentType, requestedAt, receivedAt, expiresAt, createdAt
    case isBodyDecoded, byteCount, body, head, session, isPinned, tags, keyChecksum, partStart, partTotal, groups
    case searchBase
    /// Lookups do not read these columns: they know the values.
    case partition, key, host

    var parameter: Int32 { rawValue + 1 }

    // A lookup reads these columns after those of the entry.
    static let generation = searchBase.rawValue + 1
    static let hasFailures = searchBase.rawValue + 2
    static let relatedKeys = searchBase.rawValue + 3
}

/// Reads the rows of `entry`.
extension Connection {
    /// Returns all stored responses of a key.
    package func entries(for key: CacheKey) throws(StoreError) -> [StoredEntry] {
        try snapshot(of: key, isForOrigin: false).entries
    }

    /// Returns the present state of a key in one statement: one point lookup, and further rows only for variants, parts
    /// and an error response. An earlier `generation` is safe: a load then counts as begun before the latest removals,
    /// and its response is not stored.
    package func snapshot(
        of key: CacheKey, searchBase: Substring? = nil, isForOrigin: Bool = true, generation: StoreGeneration? = nil
    ) throws(StoreError) -> KeySnapshot {
        let statement = try prepared(
            """
            SELECT entry.id, kind, variant, url, status, etag, last_modified, content_type, requested_at, received_at,
                expires_at, created_at, is_body_decoded, byte_count, body, head, entry.session, is_pinned, tags,
                key_checksum, part_start, part_total, groups, search_base,
                CASE WHEN ?6 THEN (SELECT generation FROM state) END,
                CASE WHEN entry.id IS NULL AND ?3 THEN
                    EXISTS (SELECT 1 FROM failure WHERE failure.partition = ?1 AND failure.key = ?2)
                END,
                CASE WHEN entry.id IS NULL AND ?4 THEN (
                    SELECT nullif(json_group_array(related.key), '[]') FROM (
                        SELECT key FROM entry WHERE partition = ?1 AND search_base = substr(?2, 1, ?4)
                        ORDER BY id DESC LIMIT ?5
                    ) AS related
                ) END
            FROM (SELECT 1) AS one LEFT JOIN entry
                ON partition = ?1 AND key = ?2
                AND (entry.session IS NULL OR entry.session = (SELECT session FROM state))
            WHERE ?3 OR entry.id IS NOT NULL
            """)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        // The generation comes from the same snapshot as the entries. With a later generation, a load could store an
        // entry again that a removal between the two reads has removed.
        statement.bind(isForOrigin ? 1 : 0, at: 3)
        statement.bind(searchBase.map { Int64($0.unicodeScalars.count) }, at: 4)
        statement.bind(Self.maxVariants, at: 5)
        statement.bind(generation == nil ? 1 : 0, at: 6)
        let checksum = KeyChecksum(key).key
        var entries: [StoredEntry] = []
        var relatedKeys: [CacheKey] = []
        var hasFailures: Bool?
        var present = generation
        // If a request may follow, the statement also returns a row for a key without entries.
        var hasRow = false
        while try statement.step() {
            hasRow = true
            if present == nil {
                present = statement.int64OrNil(EntryColumn.generation).map { StoreGeneration(number: $0) }
            }
            if let entry = StoredEntry(key: key, checksum: checksum, row: statement) { entries.append(entry) }
            hasFailures = statement.int64OrNil(EntryColumn.hasFailures).map { $0 != 0 }
            for text in statement.names(EntryColumn.relatedKeys) {
                let related = CacheKey(stored: text, partition: key.partition)
                if !relatedKeys.contains(related) { relatedKeys.append(related) }
            }
        }
        // Without a row in `state`, the index is damaged. Lookups that need no generation do not notice.
        guard present != nil || !hasRow else { throw error(SQLITE_CORRUPT, sql: statement.sql) }
        var snapshot = KeySnapshot(HotKey(key, entries, checksum: checksum), generation: present)
        snapshot.hasFailures = hasFailures
        snapshot.relatedKeys = relatedKeys
        return snapshot
    }

    /// Returns the key of an entry, or `nil` for a removed one.
    func key(ofEntry id: Int64) throws(StoreError) -> CacheKey? {
        let statement = try prepared("SELECT key, partition FROM entry WHERE id = ?1")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        return try statement.step() ? CacheKey(stored: statement.text(0), partition: statement.text(1)) : nil
    }

    /// Whether an entry still exists with the same body.
    package func contains(_ entry: StoredEntry) throws(StoreError) -> Bool {
        let statement = try prepared(
            """
            SELECT 1 FROM entry
            WHERE id = ?1 AND partition = ?2 AND key = ?3 AND body IS ?4
                AND (session IS NULL OR session = (SELECT session FROM state))
            """)
        statement.bind(entry.id, at: 1)
        statement.bind(entry.key.partition, at: 2)
        statement.bind(entry.key.text, at: 3)
        statement.bind(entry.digest, at: 4)
        return try statement.integer() == 1
    }

    /// The most responses for one key.
    package static let maxVariants: Int64 = 64
}

/// Changes the rows of `entry`.
extension WriteTransaction {
    /// Inserts an entry, or replaces `replaced`, which ``replacedEntry(_:_:)`` has returned. Both get the next id. If
    /// the entry replaces none, it inherits the options of the first of `parts`, which it includes, that has any.
    package func store(
        _ metadata: EntryMetadata, for key: CacheKey, replacing replaced: ReplacedEntry?,
        options: EntryOptions = EntryOptions(), digest: ContentDigest?, byteCount: Int64, at now: Int64,
        including parts: [StoredEntry] = []
    ) throws(StoreError) -> StoredEntry {
        var inherited = replaced?.options
        for part in parts where inherited == nil { inherited = try self.options(ofEntry: part.id) }
        let options = options.completed(with: inherited)
        let checksum = KeyChecksum(key).key
        changes.keys.append(checksum)
        if let replaced, replaced.body != digest {
            release(replaced.body)
            try releaseDerived(ofEntry: replaced.id)
        }
        // Update or insert: an upsert makes SQLite copy the pages that it changes (see `v001_initial.sql`).
        let statement = try connection.prepared(replaced == nil ? Self.insertion : Self.replacement)
        if let replaced { statement.bind(replaced.id, at: EntryColumn.id.parameter) }
        statement.bind(metadata)
        statement.bind(now, at: EntryColumn.createdAt.parameter)
        statement.bind(metadata.isBodyDecoded ? 1 : 0, at: EntryColumn.isBodyDecoded.parameter)
        statement.bind(byteCount, at: EntryColumn.byteCount.parameter)
        statement.bind(digest, at: EntryColumn.body.parameter)
        statement.bind(options, from: EntryColumn.session.parameter)
        statement.bind(checksum, at: EntryColumn.keyChecksum.parameter)
        statement.bind(
            key.host ?? metadata.url.flatMap { try? CacheKey(url: $0).host } ?? "", at: EntryColumn.host.parameter)
        statement.bind(metadata.part?.completeLength, at: EntryColumn.partTotal.parameter)
        statement.bind(metadata.url, at: EntryColumn.url.parameter)
        if replaced == nil {
            statement.bind(metadata.kind.rawValue, at: EntryColumn.kind.parameter)
            statement.bind(metadata.part?.start, at: EntryColumn.partStart.parameter)
            statement.bind(key.partition, at: EntryColumn.partition.parameter)
            statement.bind(key.text, at: EntryColumn.key.parameter)
        }
        try statement.run()
        let entry = StoredEntry(
            key: key, metadata: metadata.inWholeMilliseconds, digest: digest, byteCount: byteCount,
            createdAt: .init(milliseconds: now), options: options, id: try connection.lastEntryID())
        if !metadata.variant.isEmpty || metadata.part != nil { try removeOldestVariants(of: key, sparing: entry.id) }
        return entry
    }

    // The id is `last_id + 1` and not `max(id) + 1`: a removed id must not come again, because pending accesses and
    // callers may still name it. The bound rejects a damaged number, because a larger id does not fit into a recency.
    private static let insertion: StaticString = """
        INSERT OR ROLLBACK INTO entry (
            id, kind, variant, url, status, etag, last_modified, content_type, requested_at, received_at,
            expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned, tags,
            key_checksum, part_start, part_total, groups, search_base, partition, key, host
        )
        VALUES (
            (
                SELECT CASE WHEN last_id BETWEEN 0 AND 1 << 38 THEN last_id ELSE (SELECT id FROM entry ORDER BY id DESC LIMIT 1) END + 1 FROM total
            ), ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16,
            CASE WHEN ?17 THEN (SELECT session FROM state) END, ?18, CASE WHEN ?19 <> '[]' THEN ?19 END,
            ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27
        )
        """

    /// Leaves kind, variant, part, partition and key alone, which are the same in the replaced entry.
    private static let replacement: StaticString = """
        UPDATE OR ROLLBACK entry SET
            id = (
                SELECT CASE WHEN last_id BETWEEN 0 AND 1 << 38 THEN last_id ELSE (SELECT id FROM entry ORDER BY id DESC LIMIT 1) END + 1 FROM total
            ), url = ?4, status = ?5, etag = ?6, last_modified = ?7, content_type = ?8,
            requested_at = ?9, received_at = ?10, expires_at = ?11, created_at = ?12, is_body_decoded = ?13,
            byte_count = ?14, body = ?15, head = ?16, session = CASE WHEN ?17 THEN (SELECT session FROM state) END,
            is_pinned = ?18, tags = CASE WHEN ?19 <> '[]' THEN ?19 END, key_checksum = ?20, part_total = ?22,
            groups = ?23, search_base = ?24, host = ?27
        WHERE id = ?1
        """

    /// The entry that a new one replaces.
    package struct ReplacedEntry {
        fileprivate let id: Int64
        fileprivate let body: ContentDigest?
        /// The options, or `nil` after the session of the replaced entry.
        fileprivate let options: EntryOptions?
        fileprivate let requestedAt: Int64
    }

    /// Returns the entry with the same key, kind, variant and part, which a new one replaces.
    package func replacedEntry(_ metadata: EntryMetadata, _ key: CacheKey) throws(StoreError) -> ReplacedEntry? {
        // `coalesce(part_start, -1)` must stay as in the index `entry_by_key`: SQLite uses an index on an expression
        // only for the same expression (https://sqlite.org/expridx.html).
        let statement = try connection.prepared(
            """
            SELECT id, body, session IS NULL OR session = (SELECT session FROM state), session, is_pinned, tags,
                requested_at
            FROM entry
            WHERE partition = ?1 AND key = ?2 AND kind = ?3 AND variant = ?4 AND coalesce(part_start, -1) = ?5
            """)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(metadata.kind.rawValue, at: 3)
        statement.bind(metadata.variant, at: 4)
        statement.bind(metadata.part?.start ?? -1, at: 5)
        guard try statement.step() else { return nil }
        return ReplacedEntry(
            id: statement.int64(0), body: statement.digest(1),
            options: statement.int64(2) != 0 ? statement.options(3) : nil, requestedAt: statement.int64(6))
    }

    /// Whether the response to a later request is stored: `replaced`, or, in place of a part, a whole response.
    func isOutdated(
        _ metadata: EntryMetadata, for key: CacheKey, by replaced: ReplacedEntry?, at now: Int64
    ) throws(StoreError) -> Bool {
        // A request time in the future dates from before the clock was set back, and would refuse every new response.
        if let replaced, replaced.options != nil, replaced.requestedAt > metadata.requestedAt.milliseconds,
            replaced.requestedAt <= now
        {
            return true
        }
        guard metadata.part != nil else { return false }
        var whole = metadata
        whole.part = nil
        return try isOutdated(whole, for: key, by: replacedEntry(whole, key), at: now)
    }

    /// Returns the options of an entry. Returns `nil` for a removed entry, and after the entry's session.
    private func options(ofEntry id: Int64) throws(StoreError) -> EntryOptions? {
        let statement = try connection.prepared(
            """
            SELECT session, is_pinned, tags FROM entry
            WHERE id = ?1 AND (session IS NULL OR session = (SELECT session FROM state))
            """)
        defer { statement.reset() }
        statement.bind(id, at: 1)
        return try statement.step() ? statement.options(0) : nil
    }

    /// Removes the variants and parts beyond ``Connection/maxVariants``, because a lookup reads all of them. Removes
    /// the least recently received first and pinned ones last. Never removes the new one, even if the clock was set
    /// back.
    private func removeOldestVariants(of key: CacheKey, sparing new: Int64) throws(StoreError) {
        let statement = try connection.prepared(
            """
            SELECT id FROM entry WHERE partition = ?1 AND key = ?2
            ORDER BY id = ?4 DESC, is_pinned DESC, received_at DESC, id DESC LIMIT -1 OFFSET ?3
            """)
        statement.bind(new, at: 4)
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(Connection.maxVariants, at: 3)
        try removeEntries(statement.integers())
    }

    /// Replaces an entry's metadata, not its body or id. Returns `false` if the entry was removed or its body replaced.
    package func freshen(_ entry: StoredEntry, _ metadata: EntryMetadata) throws(StoreError) -> Bool {
        if metadata.variant != entry.metadata.variant { try removeVariant(metadata.variant, besides: entry) }
        changes.keys.append(KeyChecksum(entry.key).key)
        let statement = try connection.prepared(
            """
            UPDATE OR ROLLBACK entry SET
                variant = ?3, status = ?5, etag = ?6, last_modified = ?7, content_type = ?8, requested_at = ?9,
                received_at = ?10, expires_at = ?11, head = ?16, groups = ?23, search_base = ?24
            WHERE id = ?1 AND partition = ?25 AND key = ?26 AND body IS ?15
            """)
        statement.bind(entry.id, at: EntryColumn.id.parameter)
        statement.bind(metadata)
        statement.bind(entry.digest, at: EntryColumn.body.parameter)
        statement.bind(entry.key.partition, at: EntryColumn.partition.parameter)
        statement.bind(entry.key.text, at: EntryColumn.key.parameter)
        try statement.run()
        return connection.changes == 1
    }

    /// If `entry` still exists, removes the entry whose variant it takes over.
    private func removeVariant(_ variant: String, besides entry: StoredEntry) throws(StoreError) {
        guard try connection.contains(entry) else { return }
        let statement = try connection.prepared(
            """
            SELECT id FROM entry
            WHERE partition = ?1 AND key = ?2 AND kind = ?3 AND variant = ?4 AND coalesce(part_start, -1) = ?5
            """)
        statement.bind(entry.key.partition, at: 1)
        statement.bind(entry.key.text, at: 2)
        statement.bind(entry.metadata.kind.rawValue, at: 3)
        statement.bind(variant, at: 4)
        statement.bind(entry.metadata.part?.start ?? -1, at: 5)
        try removeEntries(statement.integers())
    }

    /// Sets lifetime, pin and tags of all responses of a key. Returns their number.
    package func setOptions(_ options: EntryOptions, for key: CacheKey) throws(StoreError) -> Int {
        changes.keys.append(KeyChecksum(key).key)
        let statement = try connection.prepared(
            """
            UPDATE OR ROLLBACK entry SET
                session = CASE ?3 WHEN 0 THEN NULL WHEN 1 THEN (SELECT session FROM state) ELSE session END,
                is_pinned = coalesce(?4, is_pinned),
                tags = iif(?5 IS NULL, tags, nullif(?5, '[]'))
            WHERE partition = ?1 AND key = ?2 AND (session IS NULL OR session = (SELECT session FROM state))
            """)
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(options, from: 3)
        try statement.run()
        return connection.changes
    }

    // MARK: Removing

    /// Removes an entry with its derived representations. Returns `false` if the entry was already removed. Every
    /// removal ends here, except for malformed rows in a repair and session entries in a snapshot.
    @discardableResult
    func removeEntry(id: Int64) throws(StoreError) -> Bool {
        try releaseDerived(ofEntry: id)
        // Two statements, because RETURNING makes SQLite open a temporary table at each run.
        let query = try connection.prepared("SELECT body, key_checksum FROM entry WHERE id = ?1")
        defer { query.reset() }
        query.bind(id, at: 1)
        guard try query.step() else { return false }
        release(query.digest(0))
        changes.keys.append(query.int64(1))
        if let removals {
            let key = removals.needsKey ? try connection.key(ofEntry: id) : nil
            self.removals?.add(key)
        }
        let deletion = try connection.prepared("DELETE FROM entry WHERE id = ?1")
        deletion.bind(id, at: 1)
        try deletion.run()
        return true
    }

    /// Removes entries. Returns the number of removed entries.
    @discardableResult
    package func removeEntries(_ ids: [Int64]) throws(StoreError) -> Int {
        var count = 0
        for id in ids where try removeEntry(id: id) { count += 1 }
        return count
    }

    /// Removes all responses of a key, and of its URL with any fragment. Returns their number.
    package func removeEntries(for key: CacheKey) throws(StoreError) -> Int {
        let statement = try connection.prepared(
            "SELECT id FROM entry WHERE partition = ?1 AND key >= ?2 AND key < ?4 AND (key = ?2 OR key >= ?3)")
        statement.bindWithFragments(key)
        return try removeEntries(statement.integers())
    }

    /// Removes an entry if it still has the same body. Returns whether it had.
    package func removeEntry(_ entry: StoredEntry) throws(StoreError) -> Bool {
        guard try connection.contains(entry) else { return false }
        return try removeEntry(id: entry.id)
    }
}

extension Statement {
    /// Binds the columns that a validation sets as well.
    fileprivate func bind(_ metadata: EntryMetadata) {
        bind(metadata.variant, at: EntryColumn.variant.parameter)
        bind(Int64(metadata.status), at: EntryColumn.status.parameter)
        bind(metadata.etag, at: EntryColumn.etag.parameter)
        bind(metadata.lastModified, at: EntryColumn.lastModified.parameter)
        bind(metadata.contentType, at: EntryColumn.contentType.parameter)
        bind(metadata.requestedAt.milliseconds, at: EntryColumn.requestedAt.parameter)
        bind(metadata.receivedAt.milliseconds, at: EntryColumn.receivedAt.parameter)
        bind(metadata.expiresAt?.milliseconds, at: EntryColumn.expiresAt.parameter)
        bind(textBytes: metadata.head, at: EntryColumn.head.parameter)
        bind(names: metadata.groups, at: EntryColumn.groups.parameter)
        bind(metadata.searchBase, at: EntryColumn.searchBase.parameter)
    }
}

extension StoredEntry {
    /// Reads the columns of ``Connection/entries(for:)``. Returns `nil` for a damaged row: a miss is better than
    /// another body or the entry of another key.
    fileprivate init?(key: CacheKey, checksum: Int64, row: Statement) {
        // The key has no entry.
        guard !row.isNull(EntryColumn.id.rawValue) else { return nil }
        let digest = row.digest(EntryColumn.body.rawValue)
        let byteCount = row.int64(EntryColumn.byteCount.rawValue)
        guard digest == nil ? byteCount == 0 : byteCount > 0 else { return nil }
        // NULL means an empty body. Bytes that are not a digest are damage.
        guard digest != nil || row.isNull(EntryColumn.body.rawValue) else { return nil }
        guard row.int64(EntryColumn.keyChecksum.rawValue) == checksum else { return nil }
        self.init(
            key: key,
            metadata: EntryMetadata(
                kind: row.int64(EntryColumn.kind.rawValue) == 0 ? .content : .error,
                variant: row.text(EntryColumn.variant.rawValue),
                url: row.textOrNil(EntryColumn.url.rawValue),
                status: row.int(EntryColumn.status.rawValue),
                etag: row.textOrNil(EntryColumn.etag.rawValue),
                lastModified: row.textOrNil(EntryColumn.lastModified.rawValue),
                contentType: row.textOrNil(EntryColumn.contentType.rawValue),
                requestedAt: .init(milliseconds: row.int64(EntryColumn.requestedAt.rawValue)),
                receivedAt: .init(milliseconds: row.int64(EntryColumn.receivedAt.rawValue)),
                expiresAt: row.int64OrNil(EntryColumn.expiresAt.rawValue).map { .init(milliseconds: $0) },
                isBodyDecoded: row.int64(EntryColumn.isBodyDecoded.rawValue) != 0,
                head: row.textBytes(EntryColumn.head.rawValue),
                part: row.int64OrNil(EntryColumn.partStart.rawValue).map { start in
                    EntryPart(start: max(0, start), completeLength: row.int64OrNil(EntryColumn.partTotal.rawValue))
                },
                groups: row.names(EntryColumn.groups.rawValue),
                searchBase: row.textOrNil(EntryColumn.searchBase.rawValue)
            ),
            digest: digest,
            byteCount: byteCount,
            createdAt: .init(milliseconds: row.int64(EntryColumn.createdAt.rawValue)),
            options: row.options(EntryColumn.session.rawValue),
            id: row.int64(EntryColumn.id.rawValue)
        )
    }
}
