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
        let count: Int64
        let entries: Int64
        /// The bytes of the bodies. A shared body counts once for each entry.
        let bytes: Int64
        /// The fraction of the bytes of all groups, from 0 to 1.
        fileprivate(set) var share = 0.0
    }

    /// The most named groups.
    static let limit = 10

    /// The names of ``Property/lastUse``. For an unused entry the time of storing counts.
    private static let ages = ["< 1 hour", "< 1 day", "< 1 week", "< 30 days", "older"]

    let property: Property
    /// The groups, largest first. By last use, all ages, the most recent first. Empty for an empty store.
    private(set) var groups: [Group]

    /// - Parameter result: The result of ``query``.
    init(_ property: Property, in result: SQLRows) {
        self.property = property
        groups = result.rows.filter { $0[0] == .text(property.rawValue) }.map { row in
            Group(name: row[2].name, count: row[3].number, entries: row[4].number, bytes: max(0, row[5].number))
        }
        if property == .lastUse, !groups.isEmpty {
            let found = Dictionary(groups.map { ($0.name, $0) }) { first, _ in first }
            groups = Self.ages.map { found[$0] ?? Group(name: $0, count: 1, entries: 0, bytes: 0) }
        }
        // A Double, because the values of a damaged index may overflow 64 bits.
        let sum = groups.reduce(0) { $0 + Double($1.bytes) }
        guard sum > 0 else { return }
        for index in groups.indices { groups[index].share = Double(groups[index].bytes) / sum }
    }

    /// Selects property, position, name, number of groups, entries and bytes of each group from one snapshot.
    static let query = """
        WITH
            media_type (name, bytes) AS (
                SELECT lower(trim(substr(content_type, 1, instr(content_type || ';', ';') - 1))), byte_size
                FROM cache_entries
            ),
            age (place, bytes) AS (
                SELECT
                    CASE
                        WHEN accessed_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour') THEN 1
                        WHEN accessed_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day') THEN 2
                        WHEN accessed_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-7 days') THEN 3
                        WHEN accessed_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-30 days') THEN 4
                        ELSE 5
                    END,
                    byte_size
                FROM cache_entries
            ),
            part (property, place, name, entries, bytes) AS (
                SELECT 'host', row_number() OVER (ORDER BY byte_size DESC, host), host, entries, byte_size
                FROM cache_hosts
                UNION ALL
                SELECT 'content_type', row_number() OVER (ORDER BY total(bytes) DESC, name), coalesce(name, ''),
                    count(*), total(bytes)
                FROM media_type GROUP BY name
                UNION ALL
                SELECT 'last_use', place, \(name(ofPlace: "place")), count(*), total(bytes)
                FROM age GROUP BY place
            )
        SELECT property, min(place, \(limit + 1)) AS place, iif(place > \(limit), NULL, name), count(*), sum(entries),
            CAST(total(bytes) AS INTEGER)
        FROM part
        GROUP BY 1, 2
        ORDER BY 1, 2
        """

    private static func name(ofPlace place: String) -> String {
        let cases = ages.enumerated().map { "WHEN \($0 + 1) THEN '\($1)'" }
        return "CASE \(place) \(cases.joined(separator: " ")) END"
    }
}

extension ByteShares.Group {
    var json: JSON {
        [
            "name": .optional(name), "groups": .integer(count), "entries": .integer(entries),
            "bytes": .integer(bytes), "share": .number(share),
        ]
    }
}

extension SQLValue {
    fileprivate var number: Int64 { integer ?? 0 }
    fileprivate var name: String? { isNull ? nil : displayText }
}
