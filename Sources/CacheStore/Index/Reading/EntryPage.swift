/// The entries that a person pages through: a selection, in an order. A position consists of the values of an entry's
/// sort columns instead of a count. So every page takes the same time, and inserted or removed entries do not shift the
/// other entries between pages.
package struct EntryListing: Sendable {
    /// The orders. An index supports the first three. In any other order, a page reads every row of the selection.
    package enum Order: String, CaseIterable, Sendable {
        /// By partition and key, byte by byte.
        case key
        /// By the time when the body was stored.
        case stored
        /// In the order of the eviction policy, the next entry to go first. Cannot be descending.
        case eviction
        /// By the length of the body.
        case size
        case status
        /// By the content type, byte by byte.
        case type
        /// By the end of the freshness lifetime. Entries without one come first.
        case expires
        /// By the time of the last use.
        case used
        /// By the number of uses.
        case hits

        package var hasIndex: Bool { column == nil }

        /// The sort column, for an order without an index.
        fileprivate var column: String? {
            switch self {
            case .key, .stored, .eviction: nil
            case .size: "entry.byte_count"
            case .status: "entry.status"
            case .type: "coalesce(entry.content_type, '')"
            case .expires: "max(coalesce(entry.expires_at, 0), 0)"
            case .used: "coalesce(access.accessed_at, entry.created_at)"
            case .hits: "coalesce(access.hit_count, 0)"
            }
        }
    }

    package enum Freshness: String, CaseIterable, Sendable {
        case fresh, stale
    }

    /// The position of an entry in every order.
    package struct Position: Hashable, Sendable {
        package var partition: String
        package var key: String
        package var id: Int64
        /// The number of entries up to this one in the order of eviction. That order needs a count, because each access
        /// moves an entry. In an order without an index, the number in the sort column; a content type is in ``key``.
        package var rank: Int64

        package init(partition: String, key: String, id: Int64, rank: Int64 = 0) {
            self.partition = partition
            self.key = key
            self.id = id
            self.rank = rank
        }
    }

    var selection: EntrySelection
    package var order = Order.key
    package var isDescending = false
    package var freshness: Freshness?
    package var kind: EntryMetadata.Kind?
    package var minBytes: Int64?
    package var maxBytes: Int64?
    /// A text anywhere in the URL, without regard to the case of ASCII letters. No index finds it.
    package var urlText: String?
    /// The position after which the page begins, or `nil` for the first page.
    package var after: Position?
    /// The most entries of a page.
    package var limit = 100
    /// The time after which a page ends even if it is not full. Matches may be rare, and no index finds them.
    package var timeLimit = Duration.milliseconds(100)
    /// The time after which a page in an order without an index fails.
    package var sortingTimeLimit = Duration.seconds(5)

    package init(_ selection: EntrySelection) {
        self.selection = selection
    }

    /// A page of a listing.
    package struct Page: Sendable {
        package var ids: [Int64] = []
        /// The position after the last row that was read, or `nil` at the end of the listing.
        package var next: Position?
        /// Whether the page ended because of the time limit.
        package var isCutShort = false
    }
}

extension ResponseStore {
    /// Returns a page of a listing. Reads rows in the order of the listing until the page is full or the time limit is
    /// over. Throws ``StoreError/queryTimedOut(limit:)`` in an order without an index.
    package func page(of listing: EntryListing) throws(StoreError) -> EntryListing.Page {
        let now = now
        return try readLong { (connection) throws(StoreError) in try connection.page(of: listing, now: now) }
    }
}

extension Connection {
    /// The number of rows between two reads of the clock.
    private static let rowsPerLook = 256

    fileprivate func page(of listing: EntryListing, now: Int64) throws(StoreError) -> EntryListing.Page {
        if listing.order == .eviction { return try evictionPage(of: listing, now: now) }
        if let column = listing.order.column { return try sortedPage(of: listing, by: column, now: now) }
        let beginnings = try keyBeginnings(of: listing)
        let statement = try prepare(listing.query(isInRange: beginnings != nil))
        var page = EntryListing.Page()
        let end = ContinuousClock.now + listing.timeLimit
        var rowCount = 0
        for beginning in beginnings ?? [""] {
            defer { statement.reset() }
            statement.bind(listing.selection)
            listing.bind(to: statement, now: now)
            if beginnings != nil {
                let range = listing.keys(beginningWith: beginning)
                statement.bind(textBytes: range.start, at: 17)
                statement.bind(textBytes: range.end, at: 18)
            }
            while try statement.step() {
                rowCount += 1
                if statement.int64(3) == 1 { page.ids.append(statement.int64(0)) }
                let isLate = rowCount % Self.rowsPerLook == 0 && ContinuousClock.now >= end
                guard page.ids.count == listing.limit || isLate else { continue }
                page.isCutShort = page.ids.count < listing.limit
                page.next = EntryListing.Position(
                    partition: statement.text(1), key: statement.text(2), id: statement.int64(0))
                return page
            }
        }
        return page
    }

    /// Returns the prefixes of all keys that can be in a listing, in its order. Each prefix is a range of the index of
    /// keys. Returns `nil` if no such ranges cover the listing.
    private func keyBeginnings(of listing: EntryListing) throws(StoreError) -> [String]? {
        let selection = listing.selection
        guard listing.order == .key, let partition = selection.partition, selection.tag == nil else { return nil }
        if let prefix = selection.prefix { return [prefix] }
        guard let host = selection.indexedHost, !host.isEmpty else { return nil }
        // The host of a named key comes from the URL of its body.
        let schemes = ["http://", "https://", "name="]
        // Named keys and two schemes have ranges. A key outside them may belong to the host, too: then the ranges do
        // not cover the listing.
        let others = try prepared(
            """
            SELECT EXISTS (SELECT 1 FROM entry WHERE partition = ?1 AND key < 'http://')
                OR EXISTS (SELECT 1 FROM entry WHERE partition = ?1 AND key >= 'http:/0' AND key < 'https://')
                OR EXISTS (SELECT 1 FROM entry WHERE partition = ?1 AND key >= 'https:/0' AND key < 'name=')
                OR EXISTS (SELECT 1 FROM entry WHERE partition = ?1 AND key >= 'name>')
            """)
        defer { others.reset() }
        others.bind(partition, at: 1)
        guard try others.step(), others.int64(0) == 0 else { return nil }
        let beginnings = schemes.map { $0 == "name=" ? $0 : $0 + host }
        return listing.isDescending ? beginnings.reversed() : beginnings
    }

    /// Reads every row of the selection. SQLite keeps only the rows of the page while it sorts.
    private func sortedPage(
        of listing: EntryListing, by column: String, now: Int64
    ) throws(StoreError) -> EntryListing.Page {
        let (comparison, direction) = listing.isDescending ? ("<", "DESC") : (">", "ASC")
        let start = listing.after == nil ? "" : "AND (\(column), entry.id) \(comparison) (?17, ?12)"
        let statement = try prepare(
            """
            SELECT entry.id, \(column)
            FROM entry LEFT JOIN access ON access.entry_id = entry.id
            WHERE \(listing.condition) \(start)
            ORDER BY 2 \(direction), entry.id \(direction)
            LIMIT ?18
            """)
        defer { statement.reset() }
        statement.bind(listing.selection)
        listing.bind(to: statement, now: now)
        if let after = listing.after {
            statement.bind(value: listing.order == .type ? .text(after.key) : .integer(after.rank), at: 17)
        }
        statement.bind(Int64(listing.limit), at: 18)
        return try limitingTime(to: listing.sortingTimeLimit) { () throws(StoreError) in
            var page = EntryListing.Page()
            while try statement.step() {
                page.ids.append(statement.int64(0))
                guard page.ids.count == listing.limit else { continue }
                let isText = listing.order == .type
                page.next = EntryListing.Position(
                    partition: "", key: isText ? statement.text(1) : "", id: statement.int64(0),
                    rank: isText ? 0 : statement.int64(1))
                break
            }
            return page
        }
    }

    private func evictionPage(of listing: EntryListing, now: Int64) throws(StoreError) -> EntryListing.Page {
        let match = try prepare("SELECT 1 FROM entry WHERE entry.id = ?12 AND \(listing.condition)")
        var order = try EvictionOrder(self)
        var page = EntryListing.Page()
        let end = ContinuousClock.now + listing.timeLimit
        let first = listing.after?.rank ?? 0
        var rank: Int64 = 0
        while let candidate = try order.nextCandidate(self) {
            rank += 1
            guard rank > first else { continue }
            match.bind(listing.selection)
            listing.bind(to: match, now: now)
            match.bind(candidate.id, at: 12)
            defer { match.reset() }
            if try match.step() { page.ids.append(candidate.id) }
            let isLate = rank % Int64(Self.rowsPerLook) == 0 && ContinuousClock.now >= end
            guard page.ids.count == listing.limit || isLate else { continue }
            page.isCutShort = page.ids.count < listing.limit
            page.next = EntryListing.Position(partition: "", key: "", id: candidate.id, rank: rank)
            break
        }
        return page
    }
}

extension EntryListing {
    /// Selects id, partition, key and whether the entry matches, for every row in the order, so that the caller can
    /// stop between rows that do not match. With `isInRange`, reads only keys between the parameters 17 and 18.
    fileprivate func query(isInRange: Bool) -> String {
        let (comparison, direction) = isDescending ? ("<", "DESC") : (">", "ASC")
        // The index of tags lists the entries of a tag in the order of their ids.
        let isByTag = selection.tag != nil
        var range: [String] = isByTag ? ["tag.name = ?5"] : []
        if isInRange { range += ["entry.partition = ?1", "entry.key >= ?17 AND entry.key < ?18"] }
        if selection.partition != nil, order == .key, !isInRange { range.append("entry.partition = ?1") }
        if after != nil {
            range.append(
                order == .key
                    ? "(entry.partition, entry.key, entry.id) \(comparison) (?10, ?11, ?12)"
                        // Without this term SQLite would start at the first key of the partition.
                        + (selection.partition == nil || isInRange ? "" : " AND entry.key \(comparison)= ?11")
                    : isByTag ? "tag.entry_id \(comparison) ?12" : "entry.id \(comparison) ?12")
        }
        let terms =
            order == .key ? ["entry.partition", "entry.key", "entry.id"] : [isByTag ? "tag.entry_id" : "entry.id"]
        return """
            SELECT entry.id, entry.partition, entry.key, \(condition)
            FROM \(isByTag ? "tag CROSS JOIN entry ON entry.id = tag.entry_id" : "entry")
            WHERE \(range.isEmpty ? "true" : range.joined(separator: " AND "))
            ORDER BY \(terms.map { "\($0) \(direction)" }.joined(separator: ", "))
            """
    }

    /// The bounds of the keys with a prefix, from the position on.
    fileprivate func keys(beginningWith beginning: String) -> (start: [UInt8], end: [UInt8]) {
        // Give one bound for each side: with two, SQLite may search with the wider one and read all rows between both.
        let (start, end) = (Array(beginning.utf8), Array(beginning.utf8) + [0xff])
        guard let key = after.map({ Array($0.key.utf8) }) else { return (start, end) }
        if isDescending {
            return (start, key.lexicographicallyPrecedes(end) ? key + [0] : end)
        }
        return (start.lexicographicallyPrecedes(key) ? key : start, end)
    }

    fileprivate var condition: String {
        var conditions = [
            selection.conditionOfOneEntry,
            "(entry.session IS NULL OR entry.session = (SELECT session FROM state))",
        ]
        switch freshness {
        case .fresh: conditions.append("coalesce(entry.expires_at > ?13, false)")
        case .stale: conditions.append("coalesce(entry.expires_at <= ?13, true)")
        case nil: break
        }
        if kind != nil { conditions.append("entry.kind = ?14") }
        if minBytes != nil { conditions.append("entry.byte_count >= ?15") }
        if maxBytes != nil { conditions.append("entry.byte_count <= ?16") }
        if urlText != nil { conditions.append("instr(lower(coalesce(entry.url, entry.key)), lower(?19)) > 0") }
        return conditions.joined(separator: " AND ")
    }

    fileprivate func bind(to statement: Statement, now: Int64) {
        if let after, order != .eviction {
            if order == .key {
                statement.bind(after.partition, at: 10)
                statement.bind(after.key, at: 11)
            }
            statement.bind(after.id, at: 12)
        }
        if freshness != nil { statement.bind(now, at: 13) }
        if let kind { statement.bind(kind.rawValue, at: 14) }
        if let minBytes { statement.bind(minBytes, at: 15) }
        if let maxBytes { statement.bind(maxBytes, at: 16) }
        if let urlText { statement.bind(urlText, at: 19) }
    }
}
