internal import Synchronization

/// Knows the limits of a store, what is on its way into it, and when there is too much.
///
/// A commit evicts what it has to in its own transaction. What a store holds beyond that, down to the low-water mark, and
/// the files that wait for their deletion are for a pass in the background.
package final class LimitKeeper: Sendable {
    let limits: Limits?
    /// Bytes of bodies that are being written and have no entry yet.
    private let inFlight = Atomic<Int64>(0)
    /// Bytes that the store held after the latest transaction of this process.
    private let held = Atomic<Int64>(0)
    /// Bytes of files that the latest pass in the background could not delete.
    private let undeletable = Atomic<Int64>(0)
    private let isPassRequested = Atomic(false)

    package init(_ limits: Limits?) {
        self.limits = limits
    }

    // MARK: Bodies on their way

    /// Counts bytes of a body on its way, or takes them back.
    func add(_ byteCount: Int64) {
        inFlight.wrappingAdd(byteCount, ordering: .relaxed)
    }

    /// Whether the bodies on their way leave room for so many bytes more.
    func hasRoom(for byteCount: Int64) -> Bool {
        guard let maxBytes = limits?.maxBytes else { return true }
        return inFlight.load(ordering: .relaxed) &+ byteCount <= maxBytes
    }

    /// Whether what is held, as far as this process knows, and what is on its way are too much together.
    var isExceeded: Bool {
        guard let maxBytes = limits?.maxBytes else { return false }
        return held.load(ordering: .relaxed) &+ inFlight.load(ordering: .relaxed) > maxBytes
    }

    // MARK: In a transaction

    /// Evicts as much as the limits ask for. Whether a pass in the background should follow: where nothing could be evicted,
    /// and no file deleted, it could do nothing either, and would be followed by another without end.
    package func enforce(_ connection: Connection, now: Int64) throws(SQLiteError) -> Bool {
        guard let limits else { return false }
        let hasEvicted = try evict(connection, limits, now)
        let size = try connection.size()
        note(size)
        guard let maxBytes = limits.maxBytes, size.unreferencedBytes > undeletable.load(ordering: .relaxed) else {
            return hasEvicted
        }
        return hasEvicted || size.bytes &+ size.unreferencedBytes > maxBytes
    }

    /// Evicts as much as the limits ask for; whether they are kept then: what is pinned stays, and may be too much.
    func keep(_ connection: Connection, now: Int64) throws(SQLiteError) -> Bool {
        guard let limits else { return true }
        _ = try evict(connection, limits, now)
        return try !isTooMuch(connection.size(), limits, share: 1)
    }

    private func evict(_ connection: Connection, _ limits: Limits, _ now: Int64) throws(SQLiteError) -> Bool {
        var (hasEvicted, isDone) = (false, false)
        while !isDone {
            // Few at once: mostly one entry has to go for one that came.
            let bite = try connection.evict(atMost: 16, now: now) { isTooMuch($0, limits, share: 1) }
            if bite.report.entries > 0 { hasEvicted = true }
            isDone = bite.isDone
        }
        return hasEvicted
    }

    /// Learns what the store holds; whether that is more than it may.
    @discardableResult
    func note(_ size: StoreSize) -> Bool {
        held.store(size.bytes &+ size.unreferencedBytes, ordering: .relaxed)
        return limits.map { isTooMuch(size, $0, share: 1) } ?? false
    }

    /// Evicts a bite so that there is room for what is on its way; whether there is, or no more can be done.
    func makeRoom(_ connection: Connection, now: Int64) throws(SQLiteError) -> Bool {
        guard let limits else { return true }
        return try connection.evict(atMost: Connection.evictionBite, now: now) { isTooMuch($0, limits, share: 1) }
            .isDone
    }

    /// Evicts a bite on the way down to the low-water mark; whether there is nothing left to do.
    package func evictBite(_ connection: Connection, now: Int64) throws(SQLiteError) -> Bool {
        guard let limits else { return true }
        return try connection.evict(atMost: Connection.evictionBite, now: now) {
            isTooMuch($0, limits, share: limits.lowWaterMark)
        }.isDone
    }

    private func isTooMuch(_ size: StoreSize, _ limits: Limits, share: Double) -> Bool {
        if let maxBytes = limits.maxBytes {
            let bytes = size.bytes &+ inFlight.load(ordering: .relaxed)
            if Double(bytes) > Double(maxBytes) * share { return true }
        }
        if let maxEntries = limits.maxEntries, Double(size.entries) > Double(maxEntries) * share { return true }
        return false
    }

    // MARK: Passes

    /// Whether nobody has asked for the next pass yet.
    func requestPass() -> Bool {
        !isPassRequested.exchange(true, ordering: .relaxed)
    }

    /// From now on the next pass may be asked for.
    package func passBegins() {
        isPassRequested.store(false, ordering: .relaxed)
    }

    /// - Parameter bytes: What files have that no entry needs and that could not be deleted.
    package func passEnded(leaving bytes: Int64) {
        undeletable.store(bytes, ordering: .relaxed)
    }
}
