import ByteText
import CacheReports
import CacheStore

extension StoreInspector {
    /// The columns of a list row. The other columns of the view are long or read other tables.
    static let rowColumns = """
        partition, key, url, host, kind, variant, status, content_type, etag, last_modified, byte_size, sha256, file_path,
        freshness, expires_at, created_at, validated_at, accessed_at, hit_count, id, lifetime, is_pinned, tags, part_start,
        part_total, groups
        """

    /// Returns a page of entries. Takes seconds for a million entries in an order without an index.
    func entries(_ query: QueryParameters) throws -> JSON {
        let page = try store.page(of: try listing(query))
        return [
            "entries": .array(try rows(page.ids).map { JSON($0) }),
            "next": page.next.map { .text($0.cursor) } ?? nil,
            "is_complete": .bool(!page.isCutShort),
            "total": .integer(Int64(try store.statistics().entries)),
        ]
    }

    private func listing(_ query: QueryParameters) throws -> EntryListing {
        enum Direction: String, CaseIterable { case ascending, descending }
        enum Kind: String, CaseIterable { case content, error }
        var selection = EntrySelection(
            partition: query.given("partition"), prefix: query.text("prefix"), host: query.text("host"),
            tag: query.text("tag"), contentType: query.text("type"))
        // With one partition given, a prefix is a range of the index of keys.
        if selection.partition == nil, try !hasPartitions() { selection.partition = "" }
        var listing = EntryListing(selection)
        listing.order = try query.choice("sort") ?? .key
        listing.isDescending = try query.choice("order", Direction.self) == .descending
        guard !listing.isDescending || listing.order != .eviction else {
            throw InspectorFailure.invalid("the order of eviction is ascending only")
        }
        listing.urlText = query.text("search")
        listing.freshness = try query.choice("freshness")
        listing.kind = try query.choice("kind", Kind.self).map { $0 == .content ? .content : .error }
        listing.minBytes = try query.integer("min_bytes", in: 0 ... .max)
        listing.maxBytes = try query.integer("max_bytes", in: 0 ... .max)
        listing.limit = Int(try query.integer("limit", in: 1...500) ?? 100)
        if let cursor = query.text("after") {
            guard let position = EntryListing.Position(cursor: cursor) else {
                throw InspectorFailure.invalid("after is not a cursor of an earlier page")
            }
            listing.after = position
        }
        return listing
    }

    private func hasPartitions() throws -> Bool {
        try !store.query("SELECT 1 FROM cache_partitions LIMIT 1").isEmpty
    }

    /// Returns the rows of entries in the order of the ids. Omits entries removed since then.
    func rows(_ ids: [Int64]) throws -> SQLRows {
        try store.query(
            """
            SELECT \(Self.rowColumns)
            FROM (SELECT key AS place, value AS wanted_id FROM json_each(?1)) AS wanted
            CROSS JOIN cache_entries ON cache_entries.id = wanted_id
            ORDER BY place
            """, [.text("[\(ids.map(String.init).joined(separator: ","))]")])
    }
}

extension EntryListing.Position {
    /// The position as text for the page: rank, id, and partition and key in hexadecimal digits.
    var cursor: String {
        "\(rank).\(id).\(partition.utf8.hexadecimal).\(key.utf8.hexadecimal)"
    }

    init?(cursor: String) {
        let parts = cursor.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4, let rank = Int64(parts[0]), let id = Int64(parts[1]), rank >= 0,
            let partition = [UInt8](hexadecimal: parts[2]).flatMap({ String(validating: $0, as: UTF8.self) }),
            let key = [UInt8](hexadecimal: parts[3]).flatMap({ String(validating: $0, as: UTF8.self) })
        else { return nil }
        self.init(partition: partition, key: key, id: id, rank: rank)
    }
}
