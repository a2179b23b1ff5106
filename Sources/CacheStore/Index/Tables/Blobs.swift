/// Reads the rows of `blob`.
extension Connection {
    /// Whether an entry or a derived representation has this body, and so needs its file.
    package func containsBlob(_ digest: ContentDigest) throws(StoreError) -> Bool {
        try byteCount(ofBlob: digest) != nil
    }

    /// Returns the recorded length of a body, or `nil` without a row.
    func byteCount(ofBlob digest: ContentDigest) throws(StoreError) -> Int64? {
        let statement = try prepared("SELECT byte_count FROM blob WHERE digest = ?1")
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        return try statement.step() ? statement.int64(0) : nil
    }

    /// Returns the bodies of parts, whose files may be longer than the body. Reads every entry.
    func partBodies() throws(StoreError) -> Set<ContentDigest> {
        var bodies: Set<ContentDigest> = []
        try forEachRow("SELECT body FROM entry WHERE id BETWEEN ?1 AND ?2 AND part_start IS NOT NULL") { row in
            if let digest = row.digest(0) { bodies.insert(digest) }
        }
        return bodies
    }

    /// Calls `visit` for every body, in the order of the digests.
    func forEachBlob(_ visit: (_ digest: ContentDigest, _ byteCount: Int64) -> Void) throws(StoreError) {
        // A statement for each few thousand rows, because the WAL cannot restart while a statement runs.
        let statement = try prepared(
            """
            SELECT digest, byte_count FROM blob WHERE ?1 IS NULL OR digest > ?1 ORDER BY digest LIMIT 4096
            """)
        var last: ContentDigest?
        repeat {
            statement.bind(last, at: 1)
            defer { statement.reset() }
            last = nil
            while try statement.step() {
                guard let digest = statement.digest(0) else { continue }
                visit(digest, statement.int64(1))
                last = digest
            }
        } while last != nil
    }
}
