import CacheReports
import Foundation

/// The shares of the outcomes of a store's requests.
struct AnswerShares {
    private static let titles: [(counter: StoreCounters.Counter, title: String)] = [
        (.hits, "fresh, from the store"), (.stale, "stale, from the store"), (.revalidated, "confirmed by the origin"),
        (.misses, "new from the origin"), (.errors, "error"),
    ]

    let counters: StoreCounters

    /// The values of a damaged index may be negative.
    private func count(_ counter: StoreCounters.Counter) -> Int64 { max(0, counters[counter]) }

    /// A double, because the sum of all requests may overflow 64 bits.
    private var sum: Double { Self.titles.reduce(0) { $0 + Double(count($1.counter)) } }

    /// The share of requests answered without the origin, or `nil` without requests.
    private var hitRatio: Double? {
        sum > 0 ? (Double(count(.hits)) + Double(count(.stale))) / sum : nil
    }

    /// The numbers. Omits an absent hit ratio.
    var json: JSON {
        .object(omittingNulls: [
            "hits": .integer(count(.hits)), "stale": .integer(count(.stale)),
            "revalidated": .integer(count(.revalidated)), "misses": .integer(count(.misses)),
            "errors": .integer(count(.errors)), "hit_ratio": .optional(hitRatio),
        ])
    }

    /// A table with bars, and the hit ratio. Empty without requests.
    var text: String {
        guard let hitRatio else { return "" }
        let rows = Self.titles.map { counter, title in
            (name: title, share: Double(count(counter)) / sum, numbers: ["\(count(counter))"])
        }
        let table = TextTable.shares("answer", ["requests"], rows, longest: 1)
        return "\(table)\nhit ratio" + String(format: "%21.1f%%", hitRatio * 100)
    }
}
