import CacheStore

/// The results of a replay.
package struct SimulationReport: Sendable {
    /// The result of a policy.
    package struct Policy: Sendable {
        let policy: EvictionPolicy
        package let result: StoreSimulation.Result
        let duration: Duration

        package var name: String { policy.name }
        package var seconds: Double { duration / .seconds(1) }
    }

    /// The hit ratios that no cache can exceed.
    package struct Bound: Sendable {
        package let hitRatio: Double
        package let byteHitRatio: Double
    }

    package let requests: Int64
    package let keys: Int
    package let uniqueBytes: Int64
    package let maxBytes: Int64
    package let maxEntryBytes: Int64
    package let policies: [Policy]
    package let clairvoyantBound: Bound
    package let leftOut: LeftOutRequests

    init(_ policies: [Policy], limits: Limits, bound: ClairvoyantBound, leftOut: LeftOutRequests) {
        let all = policies.first?.result ?? StoreSimulation.Result()
        requests = all.requests
        keys = bound.keyCount
        uniqueBytes = bound.uniqueBytes
        maxBytes = limits.maxBytes ?? .max
        maxEntryBytes = limits.maxEntryBytes ?? .max
        self.policies = policies
        self.leftOut = leftOut
        clairvoyantBound = Bound(
            hitRatio: ratio(bound.hits(maxBytes: maxBytes), all.requests),
            byteHitRatio: ratio(bound.hitBytes(maxBytes: maxBytes), all.requestedBytes))
    }

    package var json: JSON {
        [
            "requests": .integer(requests),
            "keys": .integer(keys),
            "unique_bytes": .integer(uniqueBytes),
            "max_bytes": .integer(maxBytes),
            "max_entry_bytes": .integer(maxEntryBytes),
            "policies": .array(policies.map(\.json)),
            "clairvoyant_bound": [
                "hit_ratio": .number(clairvoyantBound.hitRatio),
                "byte_hit_ratio": .number(clairvoyantBound.byteHitRatio),
            ],
            "left_out": [
                "malformed_lines": .integer(leftOut.malformedLines),
                "uncacheable": .integer(leftOut.uncacheable),
                "lost": .integer(leftOut.lost),
            ],
        ]
    }
}

extension SimulationReport.Policy {
    fileprivate var json: JSON {
        [
            "policy": .text(name),
            "hits": .integer(result.hits),
            "hit_ratio": .number(result.hitRatio),
            "byte_hit_ratio": .number(result.byteHitRatio),
            "evicted_entries": .integer(result.evictedEntries),
            "rows_written": .integer(result.rowsWritten),
            "pages_written": .integer(result.pagesWritten),
            "seconds": .number(seconds),
        ]
    }
}

extension StoreSimulation.Result {
    package var hitRatio: Double { ratio(Double(hits), requests) }
    package var byteHitRatio: Double { ratio(Double(hitBytes), requestedBytes) }
}

private func ratio(_ part: Double, _ whole: Int64) -> Double { whole == 0 ? 0 : part / Double(whole) }

extension EvictionPolicy {
    /// The name of the policy in `cache_stats`.
    fileprivate var name: String {
        switch self {
        case .leastRecentlyUsed: "least-recently-used"
        case .valueAware: "value-aware"
        }
    }
}
