import CacheStore

/// The progress of an eviction, from the statistics of the store.
struct EvictionProgress {
    private let meter: WorkMeter
    /// Whether progress counts bytes on disk instead of entries.
    private let countsBytes: Bool
    private let start: Int64
    /// The whole amount, or `nil` for an unknown amount.
    private let total: Int64?

    init(_ rule: EvictionRule, of store: ResponseStore) throws {
        let statistics = try store.statistics()
        if case .maxBytes = rule { countsBytes = true } else { countsBytes = false }
        meter = WorkMeter("evicting", countsBytes ? .bytes : .count("entry", "entries"))
        total =
            switch rule {
            case .maxBytes(let limit): statistics.physicalBytes - limit
            case .maxEntries(let limit): Int64(statistics.entries - limit)
            case .unusedFor(let age): Self.count("accessed_at", age, store)
            case .olderThan(let age): Self.count("created_at", age, store)
            }
        start = countsBytes ? statistics.physicalBytes : Int64(statistics.entries)
    }

    /// Returns the number of entries whose time is longer ago than `age`.
    private static func count(_ column: String, _ age: Duration, _ store: ResponseStore) -> Int64? {
        let sql = """
            SELECT count(*) FROM cache_entries
            WHERE is_pinned = 0 AND \(column) <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ? || ' seconds')
            """
        return try? store.query(sql, [.integer(age.components.seconds)]).rows.first?.first?.integer
    }

    /// Returns the progress line, or `nil` while the statistics are unreadable.
    func text(of store: ResponseStore) -> String? {
        guard let statistics = try? store.statistics() else { return nil }
        let left = countsBytes ? statistics.physicalBytes : Int64(statistics.entries)
        return meter.text(done: max(0, start - left), total: total.map { max(0, $0) })
    }
}
