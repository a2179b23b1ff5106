/// The rows of `blob`.
extension Connection {
    /// Digests that nothing names, up to `limit`.
    package func unreferencedBlobs(limit: Int) throws(SQLiteError) -> [ContentDigest] {
        let statement = try prepared(
            "SELECT digest FROM blob WHERE reference_count = 0 AND length(digest) = 32 LIMIT ?1")
        defer { statement.reset() }
        statement.bind(Int64(limit), at: 1)
        var digests: [ContentDigest] = []
        while try statement.step() {
            if let digest = statement.digest(0) { digests.append(digest) }
        }
        return digests
    }

    package func removeBlob(_ digest: ContentDigest) throws(SQLiteError) {
        let statement = try prepared("DELETE FROM blob WHERE digest = ?1")
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        while try statement.step() {}
    }

    package func containsBlob(_ digest: ContentDigest) throws(SQLiteError) -> Bool {
        let statement = try prepared("SELECT 1 FROM blob WHERE digest = ?1")
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        return try statement.step()
    }

    /// Whether a file of that name is that of a body: of one that is not in the index.
    package func needsFile(_ digest: ContentDigest) throws(SQLiteError) -> Bool {
        let statement = try prepared("SELECT 1 FROM blob WHERE digest = ?1 AND inline_id IS NULL")
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        return try statement.step()
    }

    /// Calls `visit` for every file that an entry or a derived form needs.
    func forEachNeededFile(_ visit: (_ digest: ContentDigest, _ byteCount: Int64) -> Void) throws(SQLiteError) {
        let statement = try prepared(
            "SELECT digest, byte_count FROM blob WHERE reference_count > 0 AND inline_id IS NULL")
        defer { statement.reset() }
        while try statement.step() {
            if let digest = statement.digest(0) { visit(digest, statement.int64(1)) }
        }
    }
}
