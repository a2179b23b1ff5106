#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The rows of `inline_body`: bodies that are in the index, and have no file.
extension Connection {
    /// A body, and the number of its row; `nil` if it is not in the index, or not with that length. The bytes are not compared
    /// with the digest.
    package func inlineBody(
        _ digest: ContentDigest, byteCount: Int64
    ) throws(SQLiteError) -> (bytes: Data, id: Int64)? {
        // What is longer than any store puts there is not taken for a body: it would have to fit into memory.
        guard byteCount <= ResponseStore.Configuration.maxInlineLimit else { return nil }
        let statement = try prepared(
            """
            SELECT bytes, id FROM blob JOIN inline_body ON inline_body.id = blob.inline_id
            WHERE blob.digest = ?1 AND inline_body.digest = ?1 AND length(bytes) = ?2
            """)
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        statement.bind(byteCount, at: 2)
        return try statement.step() ? (statement.data(0), statement.int64(1)) : nil
    }

    /// Whether a body is in the index, with that length. One that should be, and is not, is said to have a file from now on.
    package func keepInlineBody(_ digest: ContentDigest, byteCount: Int64) throws(SQLiteError) -> Bool {
        let statement = try prepared(
            """
            SELECT inline_body.digest = blob.digest AND length(bytes) = ?2 AND ?2 <= ?3
            FROM blob LEFT JOIN inline_body ON inline_body.id = blob.inline_id
            WHERE blob.digest = ?1 AND inline_id IS NOT NULL
            """)
        defer { statement.reset() }
        statement.bind(digest, at: 1)
        statement.bind(byteCount, at: 2)
        statement.bind(Int64(ResponseStore.Configuration.maxInlineLimit), at: 3)
        guard try statement.step() else { return false }
        let isThere = statement.int64(0) != 0
        if !isThere { try removeInlineBody(digest) }
        return isThere
    }

    /// Adds a body, for a row that the same transaction makes need it; `false` if there is one of that digest.
    package func addInlineBody(_ bytes: Data, _ digest: ContentDigest) throws(SQLiteError) -> Bool {
        guard try !containsBlob(digest) else { return false }
        let body = try prepared("INSERT OR ROLLBACK INTO inline_body (digest, byte_count, bytes) VALUES (?1, ?2, ?3)")
        body.bind(digest, at: 1)
        body.bind(Int64(bytes.count), at: 2)
        body.bind(bytes, at: 3)
        try body.run()
        let blob = try prepared(
            """
            INSERT OR ROLLBACK INTO blob (digest, byte_count, reference_count, inline_id) VALUES (?1, ?2, 0, ?3)
            """)
        blob.bind(digest, at: 1)
        blob.bind(Int64(bytes.count), at: 2)
        blob.bind(lastInsertedID, at: 3)
        try blob.run()
        return true
    }

    /// Removes the bytes of a body that is damaged, whatever is said to need it.
    package func removeInlineBody(_ digest: ContentDigest) throws(SQLiteError) {
        for sql: StaticString in [
            "DELETE FROM inline_body WHERE id = (SELECT inline_id FROM blob WHERE digest = ?1) AND digest = ?1",
            "UPDATE blob SET inline_id = NULL WHERE digest = ?1",
        ] {
            let statement = try prepared(sql)
            statement.bind(digest, at: 1)
            try statement.run()
        }
    }

    /// Calls `visit` for every body in the index that an entry or a derived form needs.
    ///
    /// - Parameter reads: Whether the bytes are compared with the digest, or only counted.
    func forEachInlineBody(
        reads: Bool, _ visit: (_ digest: ContentDigest, _ isIntact: Bool) -> Void
    ) throws(SQLiteError) {
        let statement = try prepared(
            """
            SELECT blob.digest, CASE
                WHEN length(bytes) = blob.byte_count AND length(bytes) <= ?1 THEN CASE WHEN ?2 THEN bytes ELSE x'' END
            END
            FROM blob LEFT JOIN inline_body ON inline_body.id = blob.inline_id AND inline_body.digest = blob.digest
            WHERE inline_id IS NOT NULL AND reference_count > 0
            """)
        defer { statement.reset() }
        statement.bind(Int64(ResponseStore.Configuration.maxInlineLimit), at: 1)
        statement.bind(reads ? 1 : 0, at: 2)
        while try statement.step() {
            guard let digest = statement.digest(0) else { continue }
            visit(digest, !statement.isNull(1) && (!reads || ContentDigest(of: statement.data(1)) == digest))
        }
    }
}
