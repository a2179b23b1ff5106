package import HTTPCaching

/// The epochs that this process has read or written, with their times.
///
/// Pure: the caller reads and writes the objects. An epoch is a random text. A record is valid only while its epochs
/// are the present ones. A removal writes a new epoch. Without an epoch no record is valid, and a machine writes a new
/// epoch before it asks the origin for a record.
///
///     fill:     read epoch e0 ─▶ ask the origin ─▶ write record(e0)
///     removal:                        write e1
///     reader:   read epoch e1 ─▶ read record(e0) ─▶ e0 ≠ e1, a miss
///
/// So a fill that began before a removal never becomes visible after it. Each removal has a unique value, and so has
/// the repetition of a failed removal. If two removals shared a value, records from between them would become valid
/// again.
package struct EpochTable: Sendable {
    /// The result of a read.
    package enum Reading: Hashable, Sendable {
        case value(String)
        /// A removal of this process is not written yet, or was written during the read.
        case unsettled
        /// The engine has no object, or an object without a proof. Replacing it only invalidates.
        case absent
        /// The object has a value that this process has already seen replaced.
        ///
        /// A copy of the engine may lag behind for some seconds. If the newer value has counted for longer than that,
        /// the engine was set back. Then only another new value invalidates the records that the older value has
        /// revived.
        case superseded(isSetBack: Bool)
    }

    /// A time on the clocks of this process and of the engine.
    package struct Time: Sendable {
        package let uptime: Duration
        /// The engine's last known time, or `nil` before its first response.
        package let date: HTTPDate?

        package init(uptime: Duration, date: HTTPDate?) {
            self.uptime = uptime
            self.date = date
        }
    }

    /// The end of a read or write.
    package struct Completion: Sendable {
        package let uptime: Duration
        /// The engine's times in the answer to a read, or `nil` for a write.
        package let stamp: SharedTier.Stamp?

        package init(uptime: Duration, stamp: SharedTier.Stamp?) {
            self.uptime = uptime
            self.stamp = stamp
        }
    }

    private struct Entry {
        var value: String
        /// The beginning of the read or write.
        var time: Duration
        /// The end of the write. A read that began before it may return the older value.
        var end: Duration
        /// The time since which this process knows the value.
        var completion: Completion
        /// Whether the engine had the value at the last read.
        var isPresent = true
        /// Whether the value is at least as new as the last write of this process.
        var isSettled = true
        /// The latest replaced values.
        var superseded: [String] = []
    }

    /// How long a read epoch counts.
    package let lifetime: Duration
    /// The number of entries above which older entries are dropped.
    private let limit: Int
    private let supersededLimit = 8
    /// The age in seconds above which an epoch is clearly older than a time. Larger than the differences between the
    /// clocks and copies of one engine.
    private static let clearAge: Int64 = 30
    private var entries: [String: Entry] = [:]
    /// The number of removals of each name since its last complete write. While a name has any, its epoch does not
    /// count.
    private var pending: [String: Int] = [:]

    package init(lifetime: Duration, limit: Int = 10_000) {
        self.lifetime = lifetime
        self.limit = limit
    }

    /// Returns the epoch if its read began less than ``lifetime`` ago.
    package func current(_ name: String, at now: Duration) -> String? {
        known(name).flatMap { value in
            entries[name].flatMap { $0.isSettled && now - $0.time < lifetime ? value : nil }
        }
    }

    /// Returns the epoch of the last read, for a new record. An outdated epoch is safe: it can only invalidate the
    /// record.
    package func known(_ name: String) -> String? {
        guard !isPending(name), let entry = entries[name], entry.isPresent else { return nil }
        return entry.value
    }

    /// Returns the epoch if the engine had it at `time`, even if this process read it later.
    ///
    /// An epoch read later counts if it was clearly older than `time`. Compares its time with two times of the engine:
    /// the one known at `time`, and the one stated with the read. So setting the engine's clock in between makes no
    /// epoch look older.
    package func known(_ name: String, at time: Time) -> String? {
        guard let value = known(name), let entry = entries[name] else { return nil }
        let completion = entry.completion
        let elapsed = completion.uptime - time.uptime
        guard elapsed > .zero else { return value }
        guard let date = time.date, let stamp = completion.stamp else { return nil }
        let before = date.seconds(since: stamp.lastModified)
        let after = stamp.now.advanced(by: -elapsed.components.seconds).seconds(since: stamp.lastModified)
        return min(before, after) > Self.clearAge ? value : nil
    }

    /// Records a read, and returns the epoch that counts.
    ///
    /// - Parameters:
    ///   - value: The epoch, or `nil` for an absent object.
    ///   - start: The beginning of the read.
    ///   - completion: Its end.
    package mutating func note(
        _ value: String?, of name: String, at start: Duration, _ completion: Completion
    ) -> Reading {
        guard !isPending(name) else { return .unsettled }
        if let entry = entries[name] {
            if entry.end > start, !entry.isSettled { return .unsettled }
            if entry.time > start { return entry.isPresent ? .value(entry.value) : .absent }
            if let value, entry.superseded.contains(value) {
                let isSetBack = start - entry.completion.uptime > .seconds(Self.clearAge)
                if isSetBack { entries[name]?.isPresent = false }
                return .superseded(isSetBack: isSetBack)
            }
            if entry.end > start, value != entry.value { return .unsettled }
        }
        guard let value else {
            entries[name]?.isPresent = false
            return .absent
        }
        replace(name, with: value, time: start, end: start, completion)
        return .value(value)
    }

    /// Records a complete write.
    ///
    /// - Parameters:
    ///   - start: The beginning of the write.
    ///   - end: Its end.
    package mutating func wrote(_ value: String, to name: String, from start: Duration, to end: Duration) {
        if var entry = entries[name], entry.time > start {
            // The engine may have processed the read and the write in either order, so only a later read counts.
            entry.end = max(entry.end, end)
            entry.isSettled = entry.isSettled && entry.value == value
            entries[name] = entry
            return
        }
        replace(name, with: value, time: start, end: end, Completion(uptime: end, stamp: nil))
    }

    private mutating func replace(
        _ name: String, with value: String, time: Duration, end: Duration, _ completion: Completion
    ) {
        if entries.count >= limit, entries[name] == nil {
            // Drop half of the entries, which spreads the cost of sorting over many calls.
            let times = entries.values.map(\.time).sorted()
            let middle = times[times.count / 2]
            entries = entries.filter { $0.value.time > middle }
        }
        var (superseded, completion) = (entries[name]?.superseded ?? [], completion)
        if let old = entries[name], old.isPresent, old.value == value { completion = old.completion }
        if let old = entries[name]?.value, old != value { superseded = [old] + superseded.prefix(supersededLimit - 1) }
        let lastEnd = max(end, entries[name]?.end ?? end)
        entries[name] = Entry(value: value, time: time, end: lastEnd, completion: completion, superseded: superseded)
    }

    // MARK: Removals that are not written yet

    /// The number of names with a removal that is not written yet.
    package var pendingCount: Int { pending.count }

    /// Whether a removal of this name is not written yet.
    package func isPending(_ name: String) -> Bool { pending[name] != nil }

    /// Begins a removal. No epoch of this name counts until its write is complete.
    ///
    /// - Returns: Whether the caller has to write. Otherwise a running write repeats itself.
    package mutating func beginRemoval(of name: String) -> Bool {
        pending[name, default: 0] += 1
        return pending[name] == 1
    }

    /// The number of removals of this name that are not written yet, for ``endRemoval(of:count:_:from:to:)``.
    package func removalCount(of name: String) -> Int { pending[name] ?? 0 }

    /// Records a complete write of a removal.
    ///
    /// - Parameters:
    ///   - count: The number of removals before the write.
    ///   - value: The epoch that was written.
    ///   - start: The beginning of the write.
    ///   - end: Its end.
    /// - Returns: `false` if another removal has begun since then, which needs another write.
    package mutating func endRemoval(
        of name: String, count: Int, _ value: String, from start: Duration, to end: Duration
    ) -> Bool {
        guard pending[name] == count else { return false }
        pending[name] = nil
        wrote(value, to: name, from: start, to: end)
        return true
    }
}
