package import CacheStore

/// The results of a replay. The JSON of `cachestore simulate`.
package struct SimulationReport: Encodable, Sendable {
    package struct Policy: Encodable, Sendable {
        package let policy: String
        package let hits: Int64
        package let hitRatio: Double
        package let byteHitRatio: Double
        package let evictedEntries: Int64
        package let rowsWritten: Int64
        package let pagesWritten: Int64
        package let seconds: Double
    }

    package struct Bound: Encodable, Sendable {
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
