/// The entry that an eviction removes next.
struct EvictionCandidate {
    let id: Int64
    /// The recency or the priority of the entry, depending on the policy.
    let rank: Int64
}

/// The entries in the order in which the policy of the store evicts them.
///
/// The order of the least recently used entries merges two cursors. Entries without an access row are in the order of
/// their ids, which is the order of their insertion. Used entries are in the order of `access.recency`:
///
///     unused   id         3    8    9          recency 3·2²⁴   8·2²⁴   9·2²⁴
///     used     recency              7·2²⁴+2   9·2²⁴+1                            evicts 3, 7·2²⁴+2, 8, 9, 9·2²⁴+1
///
/// The walk along unused entries skips used entries. The walk begins at `total.unused_id`: every entry with a smaller
/// id has an access row. So each used entry is skipped once, and the cost stays proportional to the number of evicted
/// entries.
struct EvictionOrder {
    private enum Kind { case recency, priority }

    private let kind: Kind
    private let spared: Int64?
    private var ranked = ArraySlice<EvictionCandidate>()
    private var unused = ArraySlice<EvictionCandidate>()
    /// Rank and id of the last ranked entry that was read.
    private var lastRanked: (rank: Int64, id: Int64) = (.min, .min)
    private var rankedIsComplete = false
    private var unusedIsComplete = false
    /// The id at which the walk along unused entries continues.
    private var unusedID: Int64
    private let firstUnusedID: Int64
    private var highestRank: Int64?
    /// The number of candidates to read at once. Small at first, because mostly one entry makes room for a new one.
    private var readAhead: Int64 = 1

    /// Whether the order is that of the value-aware policy.
    var isByValue: Bool { kind == .priority }

    /// - Parameter spared: An entry that stays.
    init(_ connection: Connection, sparing spared: Int64?) throws(SQLiteError) {
        kind = try connection.isOrderedByValue() ? .priority : .recency
        self.spared = spared
        firstUnusedID = try connection.integer(connection.prepared("SELECT unused_id FROM total"))
        unusedID = firstUnusedID
    }

    /// Returns the next candidate; `nil` when only pinned and spared entries are left.
    mutating func next(_ connection: Connection) throws(SQLiteError) -> EvictionCandidate? {
        while true {
            try fill(connection)
            let candidate =
                switch (unused.first, ranked.first) {
                case (nil, nil): nil as EvictionCandidate?
                case (let unusedFirst?, let rankedFirst?) where unusedFirst.rank > rankedFirst.rank: ranked.popFirst()
                case (.some, _): unused.popFirst()
                case (nil, .some): ranked.popFirst()
                }
            guard let candidate else { return nil }
            if candidate.id != spared { return candidate }
        }
    }

    /// Reads both cursors again from the beginning.
    mutating func restart() {
        (ranked, unused) = ([], [])
        (rankedIsComplete, unusedIsComplete) = (false, false)
        lastRanked = (.min, .min)
        unusedID = firstUnusedID
    }

    /// Records that a candidate was removed.
    mutating func removed(_ candidate: EvictionCandidate) {
        highestRank = max(highestRank ?? .min, candidate.rank)
    }

    /// Writes the progress of the walk along unused entries, or the highest priority of a removed entry.
    func finish(_ connection: Connection) throws(SQLiteError) {
        guard let highestRank else { return }
        guard kind == .recency else { return try connection.raiseEvictionAge(to: highestRank) }
        // All entries with a smaller id are removed, used or pinned.
        var first = unusedID
        if let next = unused.first {
            first = next.id
        } else if unusedIsComplete {
            first = try connection.lastEntryID() + 1
        }
        if let spared { first = min(first, spared) }
        guard first > firstUnusedID else { return }
        let statement = try connection.prepared("UPDATE total SET unused_id = ?1")
        statement.bind(first, at: 1)
        try statement.run()
    }

    private mutating func fill(_ connection: Connection) throws(SQLiteError) {
        if ranked.isEmpty, !rankedIsComplete {
            ranked = try connection.ranked(byPriority: kind == .priority, after: lastRanked, limit: readAhead)[...]
            if let last = ranked.last { lastRanked = (last.rank, last.id) }
            rankedIsComplete = ranked.isEmpty
        }
        if kind == .recency, unused.isEmpty, !unusedIsComplete {
            unused = try connection.unused(from: unusedID, limit: readAhead)[...]
            if let last = unused.last { unusedID = last.id + 1 }
            unusedIsComplete = unused.isEmpty
        }
        readAhead = min(readAhead * 2, 64)
    }
}

extension Connection {
    /// Returns unpinned entries in the order of their rank: used entries by recency, or all entries by priority.
    fileprivate func ranked(
        byPriority: Bool, after last: (rank: Int64, id: Int64), limit: Int64
    ) throws(SQLiteError) -> [EvictionCandidate] {
        let statement =
            try byPriority
            ? prepared(
                """
                SELECT entry_id, priority FROM priority
                WHERE priority >= ?1 AND (priority > ?1 OR entry_id > ?2) ORDER BY priority, entry_id LIMIT ?3
                """)
            : prepared(
                """
                SELECT entry_id, recency FROM access
                WHERE is_pinned = 0 AND recency >= ?1 AND (recency > ?1 OR entry_id > ?2)
                ORDER BY recency, entry_id LIMIT ?3
                """)
        defer { statement.reset() }
        statement.bind(last.rank, at: 1)
        statement.bind(last.id, at: 2)
        statement.bind(limit, at: 3)
        var candidates: [EvictionCandidate] = []
        while try statement.step() {
            candidates.append(EvictionCandidate(id: statement.int64(0), rank: statement.int64(1)))
        }
        return candidates
    }

    /// Returns unused entries in the order of their ids.
    fileprivate func unused(from id: Int64, limit: Int64) throws(SQLiteError) -> [EvictionCandidate] {
        let statement = try prepared(
            """
            SELECT id FROM entry LEFT JOIN access ON entry_id = id
            WHERE id >= ?1 AND entry_id IS NULL ORDER BY id LIMIT ?2
            """)
        statement.bind(id, at: 1)
        statement.bind(limit, at: 2)
        return try statement.integers().map { EvictionCandidate(id: $0, rank: Recency.ofUnused($0)) }
    }
}
