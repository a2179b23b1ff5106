import CacheStore
import Foundation

/// The results of a replay, as text and as JSON.
struct SimulationReport: Encodable {
    struct Policy: Encodable {
        let policy: String
        let hits: Int64
        let hitRatio: Double
        let byteHitRatio: Double
        let evictedEntries: Int64
        let rowsWritten: Int64
        let pagesWritten: Int64
        let seconds: Double
    }

    struct Bound: Encodable {
        let hitRatio: Double
        let byteHitRatio: Double
    }

    let requests: Int64
    let keys: Int
    let uniqueBytes: Int64
    let maxBytes: Int64
    let maxEntryBytes: Int64
    let policies: [Policy]
    let clairvoyantBound: Bound
    let leftOut: LeftOutRequests

    init(_ outcomes: [TraceReplay.Outcome], of replay: TraceReplay) {
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

    /// A line about the trace, and a table.
    var text: String {
        var table = TextTable(columns: [
            .init("policy"), .init("hits", .right), .init("hit ratio", .right), .init("byte hit ratio", .right),
            .init("rows written", .right), .init("pages written", .right), .init("time", .right),
        ])
        for policy in policies {
            table.rows.append([
                policy.policy, "\(policy.hits)", Self.percent(policy.hitRatio), Self.percent(policy.byteHitRatio),
                "\(policy.rowsWritten)", "\(policy.pagesWritten)", String(format: "%.2f s", policy.seconds),
            ])
        }
        table.rows.append([
            "clairvoyant bound", "", Self.percent(clairvoyantBound.hitRatio),
            Self.percent(clairvoyantBound.byteHitRatio), "", "", "",
        ])
        return """
            \(requests.of("request", "requests")) for \(keys.of("key", "keys")) with \(uniqueBytes.asByteCount); \
            limit \(maxBytes.asByteCount), for a body \(maxEntryBytes.asByteCount)
            \(leftOutText)\(table.text())
            """
    }

    /// A line about the requests that were not replayed; empty without any.
    private var leftOutText: String {
        let parts = [
            leftOut.malformedLines > 0 ? leftOut.malformedLines.of("malformed line", "malformed lines") : nil,
            leftOut.uncacheable > 0
                ? leftOut.uncacheable.of("request that no cache answers", "requests that no cache answers") : nil,
            leftOut.lost > 0 ? leftOut.lost.of("lost record", "lost records") : nil,
        ].compactMap(\.self)
        return parts.isEmpty ? "" : "left out: \(parts.joined(separator: ", "))\n"
    }

    private static func percent(_ ratio: Double) -> String { String(format: "%.2f %%", 100 * ratio) }
}

extension EvictionPolicy {
    /// The name in `cache_stats`.
    var name: String {
        switch self {
        case .leastRecentlyUsed: "least-recently-used"
        case .valueAware: "value-aware"
        }
    }
}
