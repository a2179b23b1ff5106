/// A point in the sequence of removals from a store.
///
/// Taken before a load begins and given to the commit of what it brings, it keeps the load from putting back what somebody
/// has removed in the meantime, in any process.
public struct StoreGeneration: Hashable, Sendable {
    let number: Int64

    package init(number: Int64) {
        self.number = number
    }
}

/// What was removed on request, latest last.
///
/// Eviction is none of it: it makes room, and says nothing about what may be stored.
extension Connection {
    /// Removals that are remembered one by one. A load that has seen more of them pass is taken to be affected.
    static let rememberedRemovals: Int64 = 1_000

    package func generation() throws(SQLiteError) -> StoreGeneration {
        let statement = try prepared("SELECT generation FROM state")
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        return StoreGeneration(number: statement.int64(0))
    }

    package func noteRemoval(of key: CacheKey) throws(SQLiteError) {
        let checksum = KeyChecksum(key)
        try noteRemoval(partition: checksum.partition, key: checksum.key)
    }

    /// - Parameter partition: `nil` for a removal from all.
    package func noteRemoval(fromPartition partition: String?) throws(SQLiteError) {
        try noteRemoval(partition: partition.map { KeyChecksum(partition: $0).partition }, key: nil)
    }

    private func noteRemoval(partition: Int64?, key: Int64?) throws(SQLiteError) {
        // Wraps around: a load from before is then taken to be affected.
        try prepared(
            "UPDATE state SET generation = CASE WHEN generation BETWEEN 0 AND 1 << 60 THEN generation + 1 ELSE 1 END"
        )
        .run()
        let insertion = try prepared(
            "INSERT OR REPLACE INTO removal VALUES ((SELECT generation FROM state), ?1, ?2)")
        insertion.bind(partition, at: 1)
        insertion.bind(key, at: 2)
        try insertion.run()
        let deletion = try prepared(
            """
            DELETE FROM removal
            WHERE generation <= (SELECT generation FROM state) - ?1 OR generation > (SELECT generation FROM state)
            """)
        deletion.bind(Self.rememberedRemovals, at: 1)
        try deletion.run()
    }

    /// Whether `key`, perhaps among others, was removed after `generation`.
    package func wasRemoved(_ key: CacheKey, since generation: StoreGeneration) throws(SQLiteError) -> Bool {
        let present = try self.generation().number
        // An index that was begun anew counts from zero.
        guard present != generation.number else { return false }
        guard present > generation.number, present.saturatingSubtracting(generation.number) <= Self.rememberedRemovals
        else { return true }
        let statement = try prepared(
            """
            SELECT 1 FROM removal
            WHERE generation > ?1 AND (partition_checksum IS NULL OR partition_checksum = ?2)
                AND (key_checksum IS NULL OR key_checksum = ?3)
            """)
        defer { statement.reset() }
        let checksum = KeyChecksum(key)
        statement.bind(generation.number, at: 1)
        statement.bind(checksum.partition, at: 2)
        statement.bind(checksum.key, at: 3)
        return try statement.step()
    }
}
