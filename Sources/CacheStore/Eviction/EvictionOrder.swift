/// The entry that an eviction removes next.
struct EvictionCandidate: Sendable {
    let id: Int64
    /// The recency or the priority of the entry, depending on the order.
    let rank: Int64
}

/// Enumerates entries in the order of eviction. Every eviction and every preview uses this type. The order of the least
/// recently used entries merges two cursors. Entries without an access row are in the order of their ids, which is the
/// order of their insertion. Used entries are in the order of `access.recency`:
///
///     unused   id         3    8    9          recency 3·2²⁴   8·2²⁴   9·2²⁴
///     used     recency              7·2²⁴+2   9·2²⁴+1                            evicts 3, 7·2²⁴+2, 8, 9, 9·2²⁴+1
///
/// The walk along the ids skips used entries. It begins at `total.unused_id`: every entry with a smaller id has an
/// access row. So it skips each used entry only once, and the cost stays proportional to the number of evicted entries.
/// A pinned entry always has an access row, so the access rows alone tell which used entries are pinned. Each call of
/// ``next(_:)`` reads a bounded number of rows.
struct EvictionOrder: Sendable {
    /// The entries and their order.
    enum Kind: Equatable, Sendable {
        /// All entries by their last use.
        case recency
        /// All entries by their value.
        case priority
        /// The entries of a partition by their last use.
        case partition(String)
        /// The entries whose last use was before a time, by their ids.
        case unused(before: Int64)
        /// The entries whose body was stored before a time, by their ids.
        case stored(before: Int64)
    }

    enum Step {
        case candidate(EvictionCandidate)
        /// The rows of this call had no candidate, but more rows follow.
        case searching
        /// Only pinned and spared entries are left.
        case end
    }

    /// The most rows that one call reads in the order of ids.
    private static let stride: Int64 = 4096

    let kind: Kind
    private let spared: Int64?
    private var ranked = ArraySlice<EvictionCandidate>()
    private var unused = ArraySlice<EvictionCandidate>()
    /// Rank and id of the last ranked entry that was read.
    private var lastRanked: (rank: Int64, id: Int64) = (.min, .min)
    private var rankedIsComplete = false
    private var unusedIsComplete = false
    /// The id at which the walk along the ids continues.
    private var nextID: Int64 = 0
    private var firstID: Int64 = 0
    private var highestRank: Int64?
    /// The number of candidates in the next read. Small at first, because one eviction usually makes enough room.
    private var readAhead: Int64 = 1

    /// The order of the policy of the store, without the entry `spared`.
    init(_ connection: Connection, sparing spared: Int64? = nil) throws(StoreError) {
        try self.init(connection.isOrderedByValue() ? .priority : .recency, connection, sparing: spared)
    }

    init(_ kind: Kind, _ connection: Connection, sparing spared: Int64? = nil) throws(StoreError) {
        self.kind = kind
        self.spared = spared
        switch kind {
        case .recency:
            let unusedID = try connection.prepared("SELECT unused_id FROM total").integer()
            firstID = min(max(unusedID, 0), Connection.maxID)
            nextID = firstID
        case .priority:
            unusedIsComplete = true
        case .partition(let partition):
            ranked = try connection.leastRecentlyUsed(ofPartition: partition)[...]
            (rankedIsComplete, unusedIsComplete) = (true, true)
        case .unused, .stored:
            rankedIsComplete = true
        }
    }

    /// Whether a candidate is still the next one. With `wasUsed`, the transaction has just written its pending access.
    mutating func isCurrent(
        _ candidate: EvictionCandidate, wasUsed: Bool, _ connection: Connection
    ) throws(StoreError) -> Bool {
        switch kind {
        case .recency, .priority:
            // This transaction read the order, so only that access can have changed it.
            if wasUsed { readRankedAgain() }
            return !wasUsed
        case .partition:
            // The order was read before the transaction. An access, a pin or a removal may have changed it since.
            let statement = try connection.prepared(
                """
                SELECT 1 FROM entry LEFT JOIN access ON entry_id = id
                WHERE id = ?1 AND entry.is_pinned = 0 AND coalesce(recency, id << 24) = ?2
                """)
            statement.bind(candidate.id, at: 1)
            statement.bind(candidate.rank, at: 2)
            return try statement.integer() == 1
        case .unused, .stored:
            // An earlier transaction may have read the candidate ahead. It may be used, pinned or removed by now.
            let id = candidate.id
            return try !connection.candidates(of: kind, from: id, before: id + 1, limit: 1).isEmpty
        }
    }

    /// Returns the next candidate in the order.
    mutating func next(_ connection: Connection) throws(StoreError) -> Step {
        let isFilled = try fill(connection)
        let candidate: EvictionCandidate? =
            switch (unused.first, ranked.first) {
            // Every other unused entry has a greater id than the ids read so far.
            case (nil, let rankedFirst?) where !isFilled && rankedFirst.rank <= nextID << 24: ranked.popFirst()
            case _ where !isFilled: nil
            case (nil, nil): nil
            case (let unusedFirst?, let rankedFirst?) where unusedFirst.rank > rankedFirst.rank: ranked.popFirst()
            case (.some, _): unused.popFirst()
            case (nil, .some): ranked.popFirst()
            }
        guard let candidate else { return isFilled ? .end : .searching }
        return candidate.id == spared ? try next(connection) : .candidate(candidate)
    }

    /// Returns the next candidate, after as many calls of ``next(_:)`` as needed, or `nil` at the end.
    mutating func nextCandidate(_ connection: Connection) throws(StoreError) -> EvictionCandidate? {
        while true {
            switch try next(connection) {
            case .candidate(let candidate): return candidate
            case .searching: break
            case .end: return nil
            }
        }
    }

    /// Whether the order of a partition is at its end.
    var isEmpty: Bool { ranked.isEmpty && rankedIsComplete && unusedIsComplete }

    /// Whether this is the order of the store's policy, which accesses change.
    var isOfPolicy: Bool { kind == .recency || kind == .priority }

    /// Reads the ranked entries again, because an access has moved a candidate up. Unused entries keep their order.
    private mutating func readRankedAgain() {
        ranked = []
        rankedIsComplete = false
        lastRanked = (.min, .min)
        readAhead = 1
    }

    /// Records that a candidate was removed.
    mutating func removed(_ candidate: EvictionCandidate) {
        highestRank = max(highestRank ?? .min, candidate.rank)
    }

    /// Saves the position of the walk along unused entries, or the highest priority of a removed entry.
    func finish(_ connection: Connection) throws(StoreError) {
        if kind == .priority, let highestRank { return try connection.raiseEvictionAge(to: highestRank) }
        guard kind == .recency else { return }
        // All entries with a smaller id are removed, used or pinned.
        var first = nextID
        if let next = unused.first {
            first = next.id
        } else if unusedIsComplete {
            first = min(try connection.lastEntryID(), Connection.maxID) + 1
        }
        // The spared entry may be unused, and the next walk must find it.
        if let spared { first = min(first, spared) }
        guard first > firstID else { return }
        let statement = try connection.prepared("UPDATE total SET unused_id = ?1")
        statement.bind(first, at: 1)
        try statement.run()
    }

    /// Reads the next rows into empty cursors. Returns `false` if the walk along the ids needs another call first.
    private mutating func fill(_ connection: Connection) throws(StoreError) -> Bool {
        if ranked.isEmpty, !rankedIsComplete {
            ranked = try connection.ranked(byPriority: kind == .priority, after: lastRanked, limit: readAhead)[...]
            if let last = ranked.last { lastRanked = (last.rank, last.id) }
            rankedIsComplete = ranked.isEmpty
        }
        var isFilled = true
        if unused.isEmpty, !unusedIsComplete {
            // Bounds the rows of one call: many used entries may come before the next unused one.
            let limit = nextID + Self.stride
            unused = try connection.candidates(of: kind, from: nextID, before: limit, limit: readAhead)[...]
            if let last = unused.last {
                nextID = last.id + 1
            } else if let next = try connection.firstEntryID(from: limit), next <= Connection.maxID {
                // Skip the ids of removed entries.
                (nextID, isFilled) = (next, false)
            } else {
                unusedIsComplete = true
            }
        }
        readAhead = min(readAhead * 2, 64)
        return isFilled
    }
}

extension Connection {
    /// Returns unpinned entries in the order of their rank: used entries by recency, or all entries by priority.
    fileprivate func ranked(
        byPriority: Bool, after last: (rank: Int64, id: Int64), limit: Int64
    ) throws(StoreError) -> [EvictionCandidate] {
        // Entries can have the same priority, and after very many accesses the same recency. So a position contains the
        // id, too.
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
        statement.bind(last.rank, at: 1)
        statement.bind(last.id, at: 2)
        statement.bind(limit, at: 3)
        return try candidates(statement)
    }

    /// Returns the candidates of an order by ids, from `first` up to the id before `end`.
    fileprivate func candidates(
        of kind: EvictionOrder.Kind, from first: Int64, before end: Int64, limit: Int64
    ) throws(StoreError) -> [EvictionCandidate] {
        let statement: Statement
        switch kind {
        case .unused(let time):
            statement = try prepared(
                """
                SELECT id, 0 FROM entry LEFT JOIN access ON entry_id = id
                WHERE id >= ?1 AND id < ?2 AND entry.is_pinned = 0 AND coalesce(accessed_at, created_at) < ?4
                ORDER BY id LIMIT ?3
                """)
            statement.bind(time, at: 4)
        case .stored(let time):
            statement = try prepared(
                """
                SELECT id, 0 FROM entry WHERE id >= ?1 AND id < ?2 AND is_pinned = 0 AND created_at < ?4
                ORDER BY id LIMIT ?3
                """)
            statement.bind(time, at: 4)
        case .recency, .priority, .partition:
            // A pinned entry always has an access row, so this condition also excludes pinned entries.
            statement = try prepared(
                """
                SELECT id, id << 24 FROM entry LEFT JOIN access ON entry_id = id
                WHERE id >= ?1 AND id < ?2 AND entry_id IS NULL ORDER BY id LIMIT ?3
                """)
        }
        statement.bind(first, at: 1)
        statement.bind(end, at: 2)
        statement.bind(limit, at: 3)
        return try candidates(statement)
    }

    /// Returns the unpinned entries of a partition, the least recently used first. Reads all of them.
    fileprivate func leastRecentlyUsed(ofPartition partition: String) throws(StoreError) -> [EvictionCandidate] {
        let statement = try prepared(
            """
            SELECT id, coalesce(recency, id << 24) AS recency FROM entry LEFT JOIN access ON entry_id = id
            WHERE partition = ?1 AND coalesce(access.is_pinned, 0) = 0
            ORDER BY 2, 1
            """)
        statement.bind(partition, at: 1)
        return try candidates(statement)
    }

    private func candidates(_ statement: Statement) throws(StoreError) -> [EvictionCandidate] {
        defer { statement.reset() }
        var candidates: [EvictionCandidate] = []
        while try statement.step() {
            candidates.append(EvictionCandidate(id: statement.int64(0), rank: statement.int64(1)))
        }
        return candidates
    }
}
