import CacheStore

/// The progress of an eviction, by the statistics of the store.
struct EvictionProgress {
    private let meter: WorkMeter
    private let measure: @Sendable (StoreStatistics) -> Int64
    private let start: Int64
    /// `nil` if unknown.
    private let total: Int64?

    init(_ rule: EvictionRule, of store: ResponseStore) throws {
        let statistics = try store.statistics()
        switch rule {
        case .maxBytes(let limit):
            measure = { $0.physicalBytes }
            meter = WorkMeter("evicting", .bytes)
            total = statistics.physicalBytes - limit
        case .maxEntries(let limit):
            measure = { Int64($0.entries) }
            meter = WorkMeter("evicting", .count("entry", "entries"))
            total = Int64(statistics.entries - limit)
        case .unusedFor(let age):
            measure = { Int64($0.entries) }
            meter = WorkMeter("evicting", .count("entry", "entries"))
            total = Self.count("accessed_at", age, store)
        case .olderThan(let age):
            measure = { Int64($0.entries) }
            meter = WorkMeter("evicting", .count("entry", "entries"))
            total = Self.count("created_at", age, store)
        }
        start = measure(statistics)
    }

    /// Returns the number of entries whose time is longer ago.
    private static func count(_ column: String, _ age: Duration, _ store: ResponseStore) -> Int64? {
        let sql = """
            SELECT count(*) FROM cache_entries
            WHERE is_pinned = 0 AND \(column) <= strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || ? || ' seconds')
            """
        return try? store.query(sql, [.integer(age.components.seconds)]).rows.first?.first?.integer
    }

    /// Returns the line; `nil` while the store cannot be asked.
    func text(of store: ResponseStore) -> String? {
        guard let statistics = try? store.statistics() else { return nil }
        return meter.text(done: max(0, start - measure(statistics)), total: total.map { max(0, $0) })
    }
}
