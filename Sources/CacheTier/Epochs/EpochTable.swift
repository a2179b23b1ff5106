/// The epochs that this process has read, and when.
///
/// Pure: the caller reads and writes the objects. An epoch is a random text, and `""` before the first removal. A
/// record is valid only while its epochs are the present ones. A removal writes another epoch.
///
///     fill:     read epoch e0 ─▶ ask the origin ─▶ write record(e0)
///     removal:                        write e1
///     reader:   read epoch e1 ─▶ read record(e0) ─▶ e0 ≠ e1, a miss
///
/// So a fill that began before a removal never becomes visible after it.
package struct EpochTable: Sendable {
    private struct Entry {
        var value: String
        /// The beginning of the read, or the end of the write.
        var time: Duration
    }

    /// The time for which a read epoch counts.
    package let lifetime: Duration
    /// Older entries make room beyond this number.
    private let limit: Int
    private var entries: [String: Entry] = [:]

    package init(lifetime: Duration, limit: Int = 10_000) {
        self.lifetime = lifetime
        self.limit = limit
    }

    /// Returns the epoch if its read has begun less than ``lifetime`` ago.
    package func current(_ name: String, at now: Duration) -> String? {
        entries[name].flatMap { now - $0.time < lifetime ? $0.value : nil }
    }

    /// Returns the epoch of the last read. An old one invalidates too much, never too little, as the epoch of a new
    /// record.
    package func known(_ name: String) -> String? { entries[name]?.value }

    /// Records a read or a write, and returns the epoch that counts; `nil` if it cannot be trusted.
    ///
    /// - Parameters:
    ///   - value: The epoch; `""` for an absent object.
    ///   - time: The beginning of a read, or the end of a write.
    package mutating func note(_ value: String, of name: String, at time: Duration) -> String? {
        if let entry = entries[name] {
            // A read that began before a write may have the older epoch.
            if entry.time > time { return entry.value }
            // The object is lost: records from before the removal would be valid again.
            if value.isEmpty, !entry.value.isEmpty { return nil }
        }
        if entries.count >= limit, entries[name] == nil {
            // Half the entries go at once, so that the cost of sorting spreads over many calls.
            let times = entries.values.map(\.time).sorted()
            let middle = times[times.count / 2]
            entries = entries.filter { $0.value.time > middle }
        }
        entries[name] = Entry(value: value, time: time)
        return value
    }
}
