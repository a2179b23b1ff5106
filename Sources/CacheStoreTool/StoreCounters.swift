import CacheStore

/// The counters of a store at one time.
package struct StoreCounters: Equatable, Sendable {
    package enum Counter: String, CaseIterable, Sendable {
        /// Stored responses.
        case entries
        /// Bytes of their bodies on disk.
        case bytes
        /// Requests answered by a fresh stored response.
        case hits
        /// Requests answered by a stale stored response.
        case stale
        /// Requests answered by a stored response that the origin validated.
        case revalidated
        /// Requests that a shared tier answered.
        case tier
        /// Requests that the origin answered.
        case misses
        /// Requests without an answer, or with a 5xx status.
        case errors
    }

    /// The time of reading. Only differences between times are meaningful.
    let time: Duration
    private let values: [Counter: Int64]

    package init(time: Duration, _ values: [Counter: Int64]) {
        self.time = time
        self.values = values
    }

    /// Selects one row with a column for each counter. A single statement reads all values from one snapshot.
    static let query = """
        SELECT
            cache_stats.entries, cache_stats.physical_bytes AS bytes,
            coalesce(sum(cache_requests.hits), 0) AS hits, coalesce(sum(stale), 0) AS stale,
            coalesce(sum(revalidated), 0) AS revalidated, coalesce(sum(tier), 0) AS tier,
            coalesce(sum(misses), 0) AS misses, coalesce(sum(errors), 0) AS errors
        FROM cache_stats LEFT JOIN cache_requests
        """

    /// Reads the result of ``query``.
    init(time: Duration, _ result: SQLRows) {
        self.time = time
        let named = zip(result.columns, result.rows.first ?? []).compactMap { name, value in
            Counter(rawValue: name).map { ($0, value.integer ?? 0) }
        }
        values = Dictionary(named) { first, _ in first }
    }

    package subscript(counter: Counter) -> Int64 { values[counter, default: 0] }

    /// Returns the growth of each counter per second, to a thousandth, or `nil` without elapsed time. Removed entries
    /// and reset counts make the growth negative.
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
