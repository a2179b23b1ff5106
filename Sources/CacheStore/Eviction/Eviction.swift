/// How much a store holds, as limits count it.
package struct StoreSize: Sendable {
    package var entries: Int64
    /// Bytes of the bodies that entries and derived forms need, each once, those in the index, too.
    package var bodyBytes: Int64
    /// Bytes of files that wait for their deletion.
    package var unreferencedBytes: Int64
    /// Pages of the index beyond those of an empty one, in bytes and without the bodies in them, shared out among the
    /// entries: pages become free somewhat later than the rows in them.
    package let indexBytesPerEntry: Double

    /// Bytes that are counted against a limit.
    package var bytes: Int64 {
        let index = (Double(max(0, entries)) * indexBytesPerEntry).rounded()
        // Sums that somebody has edited must not trap.
        return bodyBytes &+ (index < 9.2e18 ? Int64(index) : .max)
    }
}

/// Which entries an eviction takes, and which of them first.
extension Connection {
    /// Entries removed in one transaction; bounds how long the write lock is held.
    package static let evictionBite = 256

    /// Pages of an index without entries.
    package static let emptyPageCount: Int64 = 35
    /// What SQLite makes the pages of a new file.
    static let pageByteCount: Int64 = 4096

    /// What one transaction of an eviction has done.
    package struct EvictionBite: Sendable {
        package var report: EvictionReport
        package var isDone: Bool
        /// Where the next one goes on, for a walk along the entries themselves.
        package var lastID = Int64.min
    }

    /// Removes up to ``evictionBite`` entries that `rule` wants gone. The files of their bodies are deleted in a later transaction.
    ///
    /// - Parameter id: ``EvictionBite/lastID`` of the bite before.
    package func evictBite(
        _ rule: EvictionRule, now: Int64, after id: Int64 = .min
    ) throws(SQLiteError) -> EvictionBite {
        switch rule {
        case .maxBytes(let limit):
            try evict(atMost: Self.evictionBite, now: now) { $0.bytes > limit }
        case .maxEntries(let limit):
            try evict(atMost: Self.evictionBite, now: now) { $0.entries > limit }
        case .unusedFor(let age):
            try evict(unusedSince: now.saturatingSubtracting(age.milliseconds), after: id)
        case .olderThan(let age):
            try evict(ids(storedBefore: now.saturatingSubtracting(age.milliseconds)))
        }
    }

    /// Removes up to `count` entries while there is too much of something: those that have expired, the longest expired
    /// before the others, then those that end with the session, then the others, in the order of the policy. What is
    /// pinned stays.
    package func evict(
        atMost count: Int, now: Int64, while isTooMuch: (StoreSize) -> Bool
    ) throws(SQLiteError) -> EvictionBite {
        var size = try size()
        let before = size.bodyBytes
        var removed = 0
        func remove(_ id: Int64) throws(SQLiteError) -> Bool {
            guard try removeEntry(id: id) else { return false }
            removed += 1
            try update(&size)
            return true
        }
        if isTooMuch(size) {
            for id in try ids(expiredBy: now, limit: count) where removed < count && isTooMuch(size) {
                _ = try remove(id)
            }
        }
        if isTooMuch(size), removed < count {
            var highest: Int64?
            for candidate in try candidates(limit: count) where removed < count && isTooMuch(size) {
                if try remove(candidate.id) { highest = max(highest ?? .min, candidate.priority) }
            }
            if let highest { try raiseEvictionAge(to: highest) }
        }
        let report = EvictionReport(entries: removed, bytes: max(0, before &- size.bodyBytes))
        note(report)
        guard removed > 0, removed < count else { return EvictionBite(report: report, isDone: removed == 0) }
        // Pages become free somewhat later than the rows in them, so the index may be larger than was reckoned with.
        let left = try self.size()
        return EvictionBite(report: report, isDone: !isTooMuch(left))
    }

    /// Along the order of eviction where that is the order of use; else along all entries, some thousands in a bite.
    private func evict(unusedSince time: Int64, after id: Int64) throws(SQLiteError) -> EvictionBite {
        if try isOrderedByUse() { return try evict(ids(unusedSince: time)) }
        let (ids, lastID) = try ids(unusedSince: time, after: id)
        var bite = try evict(ids)
        bite.isDone = lastID == nil
        bite.lastID = lastID ?? id
        return bite
    }

    private func evict(_ ids: [Int64]) throws(SQLiteError) -> EvictionBite {
        var size = try size()
        let before = size.bodyBytes
        var removed = 0
        for id in ids where try removeEntry(id: id) { removed += 1 }
        try update(&size)
        let report = EvictionReport(entries: removed, bytes: max(0, before &- size.bodyBytes))
        note(report)
        // Rows of a damaged index that lead to no entry would be found again and again.
        return EvictionBite(report: report, isDone: removed == 0 || ids.count < Self.evictionBite)
    }

    private func note(_ report: EvictionReport) {
        evicted.entries += report.entries
        evicted.bytes &+= report.bytes
    }

    // MARK: Sizes

    package func size() throws(SQLiteError) -> StoreSize {
        var size = StoreSize(entries: 0, bodyBytes: 0, unreferencedBytes: 0, indexBytesPerEntry: 0)
        let inlineBytes = try update(&size)
        let pages = max(0, try usedPageCount() - Self.emptyPageCount)
        let bytes = max(0, pages * Self.pageByteCount &- max(0, inlineBytes))
        return StoreSize(
            entries: size.entries, bodyBytes: size.bodyBytes, unreferencedBytes: size.unreferencedBytes,
            indexBytesPerEntry: Double(bytes) / Double(max(1, size.entries)))
    }

    /// - Returns: Bytes of bodies that are in the index.
    @discardableResult
    private func update(_ size: inout StoreSize) throws(SQLiteError) -> Int64 {
        let statement = try prepared(
            """
            SELECT entry_count, physical_bytes - unreferenced_bytes, unreferenced_bytes, inline_bytes FROM total
            """)
        defer { statement.reset() }
        guard try statement.step() else { throw error(0, sql: statement.sql) }
        size.entries = statement.int64(0)
        size.bodyBytes = statement.int64(1)
        size.unreferencedBytes = statement.int64(2)
        return statement.int64(3)
    }

    /// Pages of the index that hold something.
    package func usedPageCount() throws(SQLiteError) -> Int64 {
        try integer(prepared("PRAGMA page_count")) - integer(prepared("PRAGMA freelist_count"))
    }

    // MARK: Candidates

    private func ids(expiredBy now: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
        try ids(
            prepared("SELECT id FROM entry WHERE expires_at <= ?2 AND is_pinned = 0 ORDER BY expires_at LIMIT ?1"),
            now, limit)
    }

    private func candidates(limit: Int) throws(SQLiteError) -> [(id: Int64, priority: Int64)] {
        let statement = try prepared(
            "SELECT entry_id, priority FROM access WHERE rank < 2 ORDER BY rank, priority LIMIT ?1")
        defer { statement.reset() }
        statement.bind(Int64(limit), at: 1)
        var candidates: [(Int64, Int64)] = []
        while try statement.step() { candidates.append((statement.int64(0), statement.int64(1))) }
        return candidates
    }

    /// Where the order of eviction is that of use.
    private func ids(unusedSince time: Int64) throws(SQLiteError) -> [Int64] {
        // The first condition is that of the index, the second has it searched in either rank.
        try ids(
            prepared("SELECT entry_id FROM access WHERE rank < 2 AND rank IN (0, 1) AND priority < ?2 LIMIT ?1"), time,
            Self.evictionBite)
    }

    /// Up to a bite of the entries behind `id`, and the last one looked at; `nil` when there are no more.
    private func ids(unusedSince time: Int64, after id: Int64) throws(SQLiteError) -> ([Int64], lastID: Int64?) {
        let statement = try prepared(
            "SELECT entry_id, rank < 2 AND accessed_at < ?2 FROM access WHERE entry_id > ?1 ORDER BY entry_id")
        defer { statement.reset() }
        statement.bind(id, at: 1)
        statement.bind(time, at: 2)
        var ids: [Int64] = []
        // Bounds how long the write lock is held where nothing is found.
        for _ in 0..<64 * Self.evictionBite {
            guard try statement.step() else { return (ids, nil) }
            if statement.int64(1) != 0 { ids.append(statement.int64(0)) }
            if ids.count == Self.evictionBite { break }
        }
        return (ids, statement.int64(0))
    }

    private func ids(storedBefore time: Int64) throws(SQLiteError) -> [Int64] {
        try ids(
            prepared("SELECT id FROM entry WHERE created_at < ?2 AND is_pinned = 0 ORDER BY created_at LIMIT ?1"),
            time, Self.evictionBite)
    }

    private func ids(_ statement: Statement, _ time: Int64, _ limit: Int) throws(SQLiteError) -> [Int64] {
        defer { statement.reset() }
        statement.bind(Int64(limit), at: 1)
        statement.bind(time, at: 2)
        var ids: [Int64] = []
        while try statement.step() { ids.append(statement.int64(0)) }
        return ids
    }

    // MARK: Pages

    /// Cuts up to 256 empty pages off the file of the index; whether there are more.
    package func releasePages() throws(SQLiteError) -> Bool {
        try prepared("PRAGMA incremental_vacuum(256)").run()
        return try integer(prepared("PRAGMA freelist_count")) > 0
    }
}

extension Int64 {
    func saturatingSubtracting(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
