/// The entries that an eviction removes. Pinned entries are never removed.
@nonexhaustive
public enum EvictionRule: Hashable, Sendable {
    /// Entries in the order of the ``EvictionPolicy``, until the store has at most this many bytes on disk, counted as
    /// for ``Limits`` but without the WAL.
    case maxBytes(Int64)
    /// Entries in the same order, until the store has at most this many.
    case maxEntries(Int)
    /// Every entry whose last use is longer ago than this. Reads every entry.
    case unusedFor(Duration)
    /// Every entry whose body was stored longer ago than this. A validation does not make a body younger. Reads every
    /// entry.
    case olderThan(Duration)
}

extension Duration {
    /// The duration in milliseconds, limited to the range of 64 bits.
    var milliseconds: Int64 {
        let seconds = components.seconds.multipliedReportingOverflow(by: 1000)
        guard !seconds.overflow else { return components.seconds < 0 ? .min : .max }
        let sum = seconds.partialValue.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return sum.overflow ? (components.seconds < 0 ? .min : .max) : sum.partialValue
    }
}
