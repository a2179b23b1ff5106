import CacheReports
import CacheStore

/// The shares of a store's bytes by groups of entries. One property divides the entries into groups.
struct ByteShares {
    /// The property that divides the entries.
    enum Property: String, CaseIterable {
        case host
        case contentType = "content_type"
        case lastUse = "last_use"
    }

    /// The entries that share a value of the property.
    struct Group {
        /// The value, `""` for entries without the property, or `nil` for all groups beyond ``limit``.
        let name: String?
        /// The number of groups in this one: 1 unless the name is `nil`.
        let count: Int
        let entries: Int64
        /// The bytes of the bodies. A shared body counts once for each entry.
        let bytes: Int64
        /// The fraction of the bytes of all groups, from 0 to 1.
        fileprivate(set) var share = 0.0
    }

    /// The most named groups.
    static let limit = 10

    /// The names of ``Property/lastUse`` for the ages of a ``ByteGroup``.
    private static let ages: KeyValuePairs = [
        "hour": "< 1 hour", "day": "< 1 day", "week": "< 1 week", "month": "< 30 days", "older": "older",
    ]

    let property: Property
    /// The groups, largest first. By last use, all ages, the most recent first. Empty for an empty store.
    private(set) var groups: [Group]

    /// - Parameter parts: The groups of a store, by all properties.
    init(_ property: Property, of parts: [ByteGroup]) {
        self.property = property
        switch property {
        case .host: groups = Self.largest(Dictionary(grouping: parts, by: \.host))
        case .contentType: groups = Self.largest(Dictionary(grouping: parts, by: \.contentType))
        case .lastUse:
            let parts = Dictionary(grouping: parts, by: \.age)
            groups = parts.isEmpty ? [] : Self.ages.map { Group(name: $0.value, parts[$0.key] ?? []) }
        }
        // A Double, because the values of a damaged index may overflow 64 bits.
        let sum = groups.reduce(0) { $0 + Double($1.bytes) }
        guard sum > 0 else { return }
        for index in groups.indices { groups[index].share = Double(groups[index].bytes) / sum }
    }

    /// Returns the largest groups, and one group of all others.
    private static func largest(_ parts: [String: [ByteGroup]]) -> [Group] {
        let sorted = parts.map { (name: $0, parts: $1, bytes: Group(name: $0, $1).bytes) }
            .sorted { ($1.bytes, $0.name) < ($0.bytes, $1.name) }
        let others = sorted.dropFirst(limit)
        return sorted.prefix(limit).map { Group(name: $0.name, $0.parts) }
            + (others.isEmpty ? [] : [Group(name: nil, count: others.count, others.flatMap(\.parts))])
    }
}

extension ByteShares.Group {
    fileprivate init(name: String?, count: Int = 1, _ parts: [ByteGroup]) {
        self.name = name
        self.count = count
        entries = parts.reduce(0) { $0 + $1.entries }
        // The values of a damaged index may be negative or overflow.
        bytes = max(0, parts.reduce(0) { $0 &+ $1.bytes })
    }

    var json: JSON {
        [
            "name": .optional(name), "groups": .integer(count), "entries": .integer(entries),
            "bytes": .integer(bytes), "share": .number(share),
        ]
    }
}
