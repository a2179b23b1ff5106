import CacheTier

/// The counts of a command with a tier, as text and as JSON. The refusals are one number.
struct TierCounts: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let counts: [(name: String, value: Int)]

    init(_ statistics: TierStatistics) {
        let values = TierCount.all.map { (count: $0, value: statistics[keyPath: $0.path]) }
        let refused = values.filter(\.count.isRefusal).map(\.value).reduce(0, +)
        counts = values.filter { !$0.count.isRefusal }.map { ($0.count.name, $0.value) } + [("refused", refused)]
    }

    /// One line of `name=value` pairs.
    var text: String {
        "tier: " + counts.map { "\(Self.hyphenated($0.name))=\($0.value)" }.joined(separator: " ")
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        for (name, value) in counts { try container.encode(value, forKey: Key(stringValue: name)) }
    }

    private static func hyphenated(_ name: String) -> String {
        name.map { $0.isUppercase ? "-\($0.lowercased())" : "\($0)" }.joined()
    }
}
