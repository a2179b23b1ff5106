/// A point in the sequence of removals from a store.
///
/// Take a generation before a load begins, and pass it to the commit of the body. Then the load cannot restore an entry
/// that any process has removed since.
public struct StoreGeneration: Hashable, Sendable {
    let number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

/// Records the removals that callers request, in order. Does not record evictions: an eviction makes room, and does not
/// forbid storing the same response.
extension Connection {
    /// The number of removals that are recorded individually. A load that spans more removals counts as affected.
    static let rememberedRemovals: Int64 = 1_000

    package func generation() throws(StoreError) -> StoreGeneration {
        let statement = try prepared("SELECT generation FROM state")
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        return StoreGeneration(number: statement.int64(0))
    }

    /// Whether `key`, its URL, or a set of entries that contains `key` was removed after `generation`.
    package func wasRemoved(_ key: CacheKey, since generation: StoreGeneration) throws(StoreError) -> Bool {
        let present = try self.generation().number
        // A new index starts at a random number, so the present generation may be smaller.
        guard present != generation.number else { return false }
        guard present > generation.number, present.saturatingSubtracting(generation.number) <= Self.rememberedRemovals
        else { return true }
        let statement = try prepared(
            """
            SELECT 1 FROM removal
            WHERE generation > ?1 AND (partition_checksum IS NULL OR partition_checksum = ?2)
                AND (key_checksum IS NULL OR key_checksum = ?3 OR key_checksum = ?4)
            """)
        defer { statement.reset() }
        let checksum = KeyChecksum(key)
        statement.bind(generation.number, at: 1)
        statement.bind(checksum.partition, at: 2)
        statement.bind(checksum.key, at: 3)
        statement.bind(key.withoutFragment.map { KeyChecksum($0).key }, at: 4)
        return try statement.step()
    }
}

extension WriteTransaction {
    package func noteRemoval(of key: CacheKey) throws(StoreError) {
        let checksum = KeyChecksum(key)
        try noteRemoval(partition: checksum.partition, key: checksum.key)
    }

    /// - Parameter partition: The partition, or `nil` for a removal from all partitions.
    package func noteRemoval(fromPartition partition: String?) throws(StoreError) {
        try noteRemoval(partition: partition.map { KeyChecksum(partition: $0).partition }, key: nil)
    }

    private func noteRemoval(partition: Int64?, key: Int64?) throws(StoreError) {
        // After a wraparound of the generation, every earlier load counts as affected.
        try connection.prepared(
            "UPDATE state SET generation = CASE WHEN generation BETWEEN 0 AND 1 << 60 THEN generation + 1 ELSE 1 END"
        )
        .run()
        // REPLACE, because after damage an old row may have the number.
        let insertion = try connection.prepared(
            "INSERT OR REPLACE INTO removal VALUES ((SELECT generation FROM state), ?1, ?2)")
        insertion.bind(partition, at: 1)
        insertion.bind(key, at: 2)
        try insertion.run()
        let deletion = try connection.prepared(
            """
            DELETE FROM removal
            WHERE generation <= (SELECT generation FROM state) - ?1 OR generation > (SELECT generation FROM state)
            """)
        deletion.bind(Connection.rememberedRemovals, at: 1)
        try deletion.run()
        changes.generation = try connection.generation()
    }
}
