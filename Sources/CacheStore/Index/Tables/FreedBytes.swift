/// Counts the bytes that removals would free, in dry runs: bodies that no remaining entry or representation needs.
struct FreedBytes {
    /// The number of remaining references to each body that has lost some.
    private var references: [ContentDigest: Int64] = [:]
    private let bodies: Statement

    init(_ connection: Connection) throws(StoreError) {
        bodies = try connection.prepare(
            """
            SELECT blob.digest, blob.byte_count, blob.reference_count
            FROM (
                SELECT body FROM entry WHERE id = ?1 UNION ALL SELECT body FROM derived WHERE entry_id = ?1
            ) AS needed JOIN blob ON blob.digest = needed.body
            """)
    }

    /// Returns the bytes that the removal of an entry frees, after the previous removals.
    mutating func remove(_ entry: Int64) throws(StoreError) -> Int64 {
        bodies.bind(entry, at: 1)
        defer { bodies.reset() }
        var bytes: Int64 = 0
        while try bodies.step() {
            guard let digest = bodies.digest(0) else { continue }
            let rest = (references[digest] ?? bodies.int64(2)) &- 1
            references[digest] = rest > 0 ? rest : nil
            if rest <= 0 { bytes &+= bodies.int64(1) }
        }
        return bytes
    }
}
