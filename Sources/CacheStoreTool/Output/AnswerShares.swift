import CacheReports
import Foundation

/// How the requests of a store were answered.
struct AnswerShares {
    let hits: Int64
    let stale: Int64
    let revalidated: Int64
    let misses: Int64
    let errors: Int64
    /// The share of requests that needed no origin; `nil` without requests.
    let hitRatio: Double?

    init(_ counters: StoreCounters) {
        // The values of a damaged index may be negative.
        hits = max(0, counters[.hits])
        stale = max(0, counters[.stale])
        revalidated = max(0, counters[.revalidated])
        misses = max(0, counters[.misses])
        errors = max(0, counters[.errors])
        // As doubles: their sum may overflow 64 bits.
        let sum = [hits, stale, revalidated, misses, errors].reduce(0) { $0 + Double($1) }
        hitRatio = sum > 0 ? (Double(hits) + Double(stale)) / sum : nil
    }

    /// The numbers without an absent hit ratio.
    var json: JSON {
        .object(omittingNulls: [
            "hits": .integer(hits), "stale": .integer(stale), "revalidated": .integer(revalidated),
            "misses": .integer(misses), "errors": .integer(errors), "hit_ratio": .optional(hitRatio),
        ])
    }

    /// A table with bars, and the hit ratio; empty without requests.
    var text: String {
        guard let hitRatio else { return "" }
        let counts: [(String, Int64)] = [
            ("fresh, from the store", hits), ("stale, from the store", stale), ("confirmed by the origin", revalidated),
            ("new from the origin", misses), ("error", errors),
        ]
        let sum = counts.reduce(0) { $0 + Double($1.1) }
        let rows = counts.map { (name: $0, share: Double($1) / sum, numbers: ["\($1)"]) }
        let table = TextTable.shares("answer", ["requests"], rows, longest: 1)
        return "\(table)\nhit ratio" + String(format: "%21.1f%%", hitRatio * 100)
    }
}
