import CacheStore
import Foundation

extension RequestCounts {
    /// The answers by kind. Names a tier only if one has answered.
    private var parts: [(title: String, count: Int64)] {
        [("fresh, from the store", hits), ("stale, from the store", stale), ("confirmed by the origin", revalidated)]
            + (tier > 0 ? [("from a shared tier", tier)] : [])
            + [("from the origin", misses), ("no answer, or a 5xx", errors)]
    }

    /// A table with bars, and the hit ratio. Empty without requests.
    var text: String {
        guard let hitRatio else { return "" }
        let rows = parts.map { title, count in
            (name: title, share: Double(count) / requests, numbers: ["\(count)"])
        }
        let table = TextTable.shares("answer", ["requests"], rows, longest: 1)
        return "\(table)\nhit ratio" + String(format: "%21.1f%%", hitRatio * 100)
            + "            fresh\(tier > 0 ? ", stale and from the tier" : " and stale"), of all requests"
    }
}
