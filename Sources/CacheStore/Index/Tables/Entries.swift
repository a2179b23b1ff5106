/// The rows of `entry`.
extension Connection {
    /// All stored responses of a key. One point lookup; a second row only where there are variants or an error response.
    package func entries(for key: CacheKey) throws(SQLiteError) -> [StoredEntry] {
        let statement = try prepared(
            """
            SELECT id, kind, variant, url, status, etag, last_modified, content_type, requested_at, received_at,
                expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned, tags,
                key_checksum, part_start, part_total, groups, search_base
            FROM entry
            WHERE partition = ?1 AND key = ?2 AND (session IS NULL OR session = (SELECT session FROM state))
            """)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        var entries: [StoredEntry] = []
        while try statement.step() {
            if let entry = StoredEntry(key: key, row: statement) { entries.append(entry) }
        }
        return entries
    }

    /// Inserts an entry or replaces body and metadata of the one with the same key, kind and variant.
    ///
    /// The triggers of the schema know the body that an update displaces. It is an UPDATE or an INSERT and not an upsert,
    /// because each upsert would have SQLite copy the pages that it changes (see `v006_statements.sql`).
    package func store(
        _ metadata: EntryMetadata, for key: CacheKey, options: EntryOptions = EntryOptions(), digest: ContentDigest?,
        byteCount: Int64, at now: Int64
    ) throws(SQLiteError) -> StoredEntry {
        let replaced = try replacedEntry(metadata, key)
        let options = options.completed(with: replaced?.options)
        let statement = try replaced == nil ? prepared(Self.insertion) : prepared(Self.replacement)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(metadata.kind.rawValue, at: 3)
        statement.bind(metadata.variant, at: 4)
        statement.bind(metadata.url, at: 5)
        statement.bind(key.host ?? metadata.url.flatMap { try? CacheKey(url: $0).host } ?? "", at: 6)
        statement.bind(Int64(metadata.status), at: 7)
        statement.bind(metadata.etag, at: 8)
        statement.bind(metadata.lastModified, at: 9)
        statement.bind(metadata.contentType, at: 10)
        statement.bind(metadata.requestedAt.milliseconds, at: 11)
        statement.bind(metadata.receivedAt.milliseconds, at: 12)
        statement.bind(metadata.expiresAt?.milliseconds, at: 13)
        statement.bind(now, at: 14)
        statement.bind(metadata.isBodyDecoded ? 1 : 0, at: 15)
        statement.bind(byteCount, at: 16)
        statement.bind(digest, at: 17)
        statement.bind(textBytes: metadata.head, at: 18)
        statement.bind(options, from: 19)
        statement.bind(KeyChecksum(key).key, at: 22)
        statement.bind(metadata.part?.start, at: 23)
        statement.bind(metadata.part?.completeLength, at: 24)
        statement.bind(names: metadata.groups, at: 25)
        statement.bind(metadata.searchBase, at: 26)
        if let replaced { statement.bind(replaced.id, at: 27) }
        while try statement.step() {}
        let entry = StoredEntry(
            key: key, metadata: metadata.inWholeMilliseconds, digest: digest, byteCount: byteCount,
            createdAt: .init(milliseconds: now), options: options, id: replaced?.id ?? lastInsertedID)
        if !metadata.variant.isEmpty || metadata.part != nil { try removeOldestVariants(of: key) }
        return entry
    }

    private static let insertion: StaticString = """
        INSERT OR ROLLBACK INTO entry (
            partition, key, kind, variant, url, host, status, etag, last_modified, content_type, requested_at,
            received_at, expires_at, created_at, is_body_decoded, byte_count, body, head, session, is_pinned, tags,
            key_checksum, part_start, part_total, groups, search_base
        )
        VALUES (
            ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
            CASE WHEN ?19 THEN (SELECT session FROM state) END, ?20, CASE WHEN ?21 <> '[]' THEN ?21 END,
            ?22, ?23, ?24, ?25, ?26
        )
        """

    /// Sets nothing of what it was found by, so that the index of that stays as it is.
    private static let replacement: StaticString = """
        UPDATE OR ROLLBACK entry SET
            url = ?5, host = ?6, status = ?7, etag = ?8, last_modified = ?9, content_type = ?10, requested_at = ?11,
            received_at = ?12, expires_at = ?13, created_at = ?14, is_body_decoded = ?15, byte_count = ?16, body = ?17,
            head = ?18, session = CASE WHEN ?19 THEN (SELECT session FROM state) END, is_pinned = ?20,
            tags = CASE WHEN ?21 <> '[]' THEN ?21 END, key_checksum = ?22, part_total = ?24, groups = ?25,
            search_base = ?26
        WHERE id = ?27
        """

    /// What the new entry takes the place of, and what is wanted of it unless its session is over.
    private func replacedEntry(
        _ metadata: EntryMetadata, _ key: CacheKey
    ) throws(SQLiteError) -> (id: Int64, options: EntryOptions?)? {
        let statement = try prepared(
            """
            SELECT id, session, is_pinned, tags, session IS NULL OR session = (SELECT session FROM state) FROM entry
            WHERE partition = ?1 AND key = ?2 AND kind = ?3 AND variant = ?4 AND coalesce(part_start, -1) = ?5
            """)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(metadata.kind.rawValue, at: 3)
        statement.bind(metadata.variant, at: 4)
        statement.bind(metadata.part?.start ?? -1, at: 5)
        guard try statement.step() else { return nil }
        return (statement.int64(0), statement.int64(4) != 0 ? statement.options(1) : nil)
    }

    /// Removes the variants and parts beyond ``maxVariants``, pinned ones last, least recently received first: a lookup reads
    /// them all.
    private func removeOldestVariants(of key: CacheKey) throws(SQLiteError) {
        let statement = try prepared(
            """
            DELETE FROM entry WHERE id IN (
                SELECT id FROM entry WHERE partition = ?1 AND key = ?2
                ORDER BY is_pinned DESC, received_at DESC LIMIT -1 OFFSET ?3
            )
            """)
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(Self.maxVariants, at: 3)
        try statement.run()
    }

    /// Responses of one key that are kept at once.
    package static let maxVariants: Int64 = 64

    /// Replaces what is known of an entry and leaves its body alone; `false` if the entry is gone or has another body.
    package func freshen(_ entry: StoredEntry, _ metadata: EntryMetadata) throws(SQLiteError) -> Bool {
        if metadata.variant != entry.metadata.variant { try removeVariant(metadata.variant, besides: entry) }
        let statement = try prepared(
            """
            UPDATE entry SET
                status = ?4, etag = ?5, last_modified = ?6, content_type = ?7, requested_at = ?8, received_at = ?9,
                expires_at = ?10, head = ?11, variant = ?13, groups = ?14, search_base = ?15
            WHERE id = ?1 AND partition = ?2 AND key = ?3 AND body IS ?12
            """)
        defer { statement.reset() }
        statement.bind(entry.id, at: 1)
        statement.bind(entry.key.partition, at: 2)
        statement.bind(entry.key.text, at: 3)
        statement.bind(Int64(metadata.status), at: 4)
        statement.bind(metadata.etag, at: 5)
        statement.bind(metadata.lastModified, at: 6)
        statement.bind(metadata.contentType, at: 7)
        statement.bind(metadata.requestedAt.milliseconds, at: 8)
        statement.bind(metadata.receivedAt.milliseconds, at: 9)
        statement.bind(metadata.expiresAt?.milliseconds, at: 10)
        statement.bind(textBytes: metadata.head, at: 11)
        statement.bind(entry.digest, at: 12)
        statement.bind(metadata.variant, at: 13)
        statement.bind(names: metadata.groups, at: 14)
        statement.bind(metadata.searchBase, at: 15)
        while try statement.step() {}
        return changes == 1
    }

    /// Makes room for an entry that becomes another variant of its key, if it is still there.
    private func removeVariant(_ variant: String, besides entry: StoredEntry) throws(SQLiteError) {
        let statement = try prepared(
            """
            DELETE FROM entry
            WHERE partition = ?1 AND key = ?2 AND kind = ?3 AND variant = ?4 AND coalesce(part_start, -1) = ?7
                AND EXISTS (SELECT 1 FROM entry WHERE id = ?5 AND partition = ?1 AND key = ?2 AND body IS ?6)
            """)
        statement.bind(entry.key.partition, at: 1)
        statement.bind(entry.key.text, at: 2)
        statement.bind(entry.metadata.kind.rawValue, at: 3)
        statement.bind(variant, at: 4)
        statement.bind(entry.id, at: 5)
        statement.bind(entry.digest, at: 6)
        statement.bind(entry.metadata.part?.start ?? -1, at: 7)
        try statement.run()
    }

    /// Sets what the caller wants of all responses of a key; returns how many there are.
    package func setOptions(_ options: EntryOptions, for key: CacheKey) throws(SQLiteError) -> Int {
        let statement = try prepared(
            """
            UPDATE entry SET
                session = CASE ?3 WHEN 0 THEN NULL WHEN 1 THEN (SELECT session FROM state) ELSE session END,
                is_pinned = coalesce(?4, is_pinned),
                tags = iif(?5 IS NULL, tags, nullif(?5, '[]'))
            WHERE partition = ?1 AND key = ?2 AND (session IS NULL OR session = (SELECT session FROM state))
            """)
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        statement.bind(options, from: 3)
        while try statement.step() {}
        return changes
    }

    /// Removes all responses of a key; returns how many there were.
    package func removeEntries(for key: CacheKey) throws(SQLiteError) -> Int {
        let statement = try prepared("DELETE FROM entry WHERE partition = ?1 AND key = ?2")
        defer { statement.reset() }
        statement.bind(key.partition, at: 1)
        statement.bind(key.text, at: 2)
        while try statement.step() {}
        return changes
    }

    /// Removes an entry; `false` if it is gone or has another body.
    package func removeEntry(_ entry: StoredEntry) throws(SQLiteError) -> Bool {
        let statement = try prepared(
            "DELETE FROM entry WHERE id = ?1 AND partition = ?2 AND key = ?3 AND body IS ?4")
        defer { statement.reset() }
        statement.bind(entry.id, at: 1)
        statement.bind(entry.key.partition, at: 2)
        statement.bind(entry.key.text, at: 3)
        statement.bind(entry.digest, at: 4)
        while try statement.step() {}
        return changes == 1
    }

    func removeEntry(id: Int64) throws(SQLiteError) -> Bool {
        let statement = try prepared("DELETE FROM entry WHERE id = ?1")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        while try statement.step() {}
        return changes == 1
    }

    package func removeEntries(withBody digest: ContentDigest) throws(SQLiteError) -> Int {
        let statement = try prepared("DELETE FROM entry WHERE body = ?1")
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        while try statement.step() {}
        return changes
    }
}

extension StoredEntry {
    /// Reads the columns of ``Connection/entries(for:)``, the key checked; `nil` for a row that somebody has damaged, so that
    /// it is a miss and not an entry with another body.
    fileprivate init?(key: CacheKey, row: Statement) {
        let (digest, byteCount) = (row.digest(14), row.int64(13))
        guard digest == nil ? byteCount == 0 : byteCount > 0 else { return nil }
        // No digest is no body, unless there are bytes that are none.
        guard digest != nil || row.isNull(14) else { return nil }
        // Rows of the first schema have no checksum.
        guard row.isNull(19) || row.int64(19) == KeyChecksum(key).key else { return nil }
        self.init(
            key: key,
            metadata: EntryMetadata(
                kind: row.int64(1) == 0 ? .content : .error,
                variant: row.text(2),
                url: row.textOrNil(3),
                status: row.int(4),
                etag: row.textOrNil(5),
                lastModified: row.textOrNil(6),
                contentType: row.textOrNil(7),
                requestedAt: .init(milliseconds: row.int64(8)),
                receivedAt: .init(milliseconds: row.int64(9)),
                expiresAt: row.int64OrNil(10).map { .init(milliseconds: $0) },
                isBodyDecoded: row.int64(12) != 0,
                head: row.textBytes(15),
                part: row.isNull(20)
                    ? nil : EntryPart(start: max(0, row.int64(20)), completeLength: row.int64OrNil(21)),
                groups: row.names(22),
                searchBase: row.textOrNil(23)
            ),
            digest: digest,
            byteCount: byteCount,
            createdAt: .init(milliseconds: row.int64(11)),
            options: row.options(16),
            id: row.int64(0)
        )
    }
}
