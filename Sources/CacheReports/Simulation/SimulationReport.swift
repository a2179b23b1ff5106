package import CacheStore

/// The results of a replay.
package struct SimulationReport: Sendable {
    package struct Policy: Sendable {
        package let policy: String
        package let hits: Int64
        package let hitRatio: Double
        package let byteHitRatio: Double
        package let evictedEntries: Int64
        package let rowsWritten: Int64
        package let pagesWritten: Int64
        package let seconds: Double
    }

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

    package init(_ outcomes: [TraceReplay.Outcome], of replay: TraceReplay) {
        let bound = replay.bound
        let limit = replay.limits.maxBytes ?? .max
        let all = outcomes.first?.result ?? StoreSimulation.Result()
        func ratio(_ part: Double, _ whole: Int64) -> Double { whole == 0 ? 0 : part / Double(whole) }
        requests = all.requests
        keys = bound.keyCount
        uniqueBytes = bound.uniqueBytes
        maxBytes = limit
        maxEntryBytes = replay.limits.maxEntryBytes ?? .max
        policies = outcomes.map { outcome in
            let result = outcome.result
            return Policy(
                policy: outcome.policy.name, hits: result.hits,
                hitRatio: ratio(Double(result.hits), result.requests),
                byteHitRatio: ratio(Double(result.hitBytes), result.requestedBytes),
                evictedEntries: result.evictedEntries, rowsWritten: result.rowsWritten,
                pagesWritten: result.pagesWritten, seconds: outcome.duration / .seconds(1))
        }
        leftOut = replay.leftOut
        clairvoyantBound = Bound(
            hitRatio: ratio(bound.hits(maxBytes: limit), all.requests),
            byteHitRatio: ratio(bound.hitBytes(maxBytes: limit), all.requestedBytes))
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
            "policy": .text(policy),
            "hits": .integer(hits),
            "hit_ratio": .number(hitRatio),
            "byte_hit_ratio": .number(byteHitRatio),
            "evicted_entries": .integer(evictedEntries),
            "rows_written": .integer(rowsWritten),
            "pages_written": .integer(pagesWritten),
            "seconds": .number(seconds),
        ]
    }
}

extension EvictionPolicy {
    /// The name in `cache_stats`.
    package var name: String {
        switch self {
        case .leastRecentlyUsed: "least-recently-used"
        case .valueAware: "value-aware"
        }
    }
}
