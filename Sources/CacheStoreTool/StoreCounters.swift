import CacheStore

/// What a store counts, at one time.
package struct StoreCounters: Equatable, Sendable {
    package enum Counter: String, CodingKey, CaseIterable, Sendable {
        /// Stored responses.
        case entries
        /// Bytes of their bodies on disk.
        case bytes
        /// Requests that what was fresh in the store has answered.
        case hits
        /// Requests that what was stale has answered.
        case stale
        /// Requests that what the origin has confirmed has answered.
        case revalidated
        /// Requests that the origin has answered in full.
        case misses
        /// Requests that ended in an error.
        case errors
    }

    /// When they were read; the differences count, and not where it begins.
    package let time: Duration
    private let values: [Counter: Int64]

    package init(time: Duration, _ values: [Counter: Int64]) {
        self.time = time
        self.values = values
    }

    /// One row, with a column for each counter. One statement, so that all are of one state of the store.
    static let query = """
        SELECT
            cache_stats.entries, cache_stats.physical_bytes AS bytes,
            coalesce(sum(cache_requests.hits), 0) AS hits, coalesce(sum(stale), 0) AS stale,
            coalesce(sum(revalidated), 0) AS revalidated, coalesce(sum(misses), 0) AS misses,
            coalesce(sum(errors), 0) AS errors
        FROM cache_stats LEFT JOIN cache_requests
        """

    /// What ``query`` found.
    init(time: Duration, _ result: SQLRows) {
        self.time = time
        let named = zip(result.columns, result.rows.first ?? []).compactMap { name, value in
            Counter(rawValue: name).map { ($0, value.integer ?? 0) }
        }
        values = Dictionary(named) { first, _ in first }
    }

    package subscript(counter: Counter) -> Int64 { values[counter, default: 0] }

    /// How much more each counts in a second, to a thousandth; `nil` without time between the two. Less than zero where
    /// entries, or what was counted, were removed.
    package func perSecond(since earlier: StoreCounters) -> [Counter: Double]? {
        let span = (time - earlier.time) / .seconds(1)
        guard span > 0 else { return nil }
        return Dictionary(
            uniqueKeysWithValues: Counter.allCases.map { counter in
                let growth = Double(self[counter]) - Double(earlier[counter])
                return (counter, (growth / span * 1000).rounded() / 1000)
            })
    }
}
