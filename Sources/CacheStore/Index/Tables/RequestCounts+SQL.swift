/// Reads ``RequestCounts`` from the view `cache_requests`.
extension RequestCounts {
    /// Selects the sums over all hosts, for ``init(_:)``.
    package static let query = """
        SELECT total(hits), total(stale), total(revalidated), total(tier), total(misses), total(errors)
        FROM cache_requests
        """

    /// Reads the result of ``query``. The values of a damaged index may be negative, and then count as 0.
    package init(_ result: SQLRows) {
        let values =
            result.rows.first?.map { value in
                Int64(Swift.max(0, Swift.min(1e18, value.real ?? 0)))
            } ?? []
        guard values.count == 6 else { return }
        (hits, stale, revalidated) = (values[0], values[1], values[2])
        (tier, misses, errors) = (values[3], values[4], values[5])
    }

    /// Selects the counts and the hit ratio of each host.
    package static let queryByHost = """
        SELECT host, hits + stale + revalidated + tier + misses + errors AS requests,
          hits, stale, revalidated, tier, misses, errors,
          round(100.0 * (hits + stale + tier) / (hits + stale + revalidated + tier + misses + errors), 1) AS hit_percent
        FROM cache_requests ORDER BY requests DESC LIMIT 100
        """
}
