import CacheReports
import CacheTier

/// The counts of a command with a tier, as text and as JSON. Adds up all refusals.
struct TierCounts {
    private let counts: [(name: String, value: Int)]

    init(_ statistics: TierStatistics) {
        let values = TierCount.all.map { (count: $0, value: statistics[keyPath: $0.path]) }
        let refused = values.filter(\.count.isRefusal).map(\.value).reduce(0, +)
        counts = values.filter { !$0.count.isRefusal }.map { ($0.count.name, $0.value) } + [("refused", refused)]
    }

    /// One line of `name=value` pairs.
    var text: String {
        "tier: " + counts.map { "\(Self.words($0.name, "-"))=\($0.value)" }.joined(separator: " ")
    }

    var json: JSON { .object(counts.map { (Self.words($0.name, "_"), JSON.integer($0.value)) }) }

    /// Returns the words of a name in lower case, with a separator between them.
    private static func words(_ name: String, _ separator: String) -> String {
        name.map { $0.isUppercase ? "\(separator)\($0.lowercased())" : "\($0)" }.joined()
    }
}
