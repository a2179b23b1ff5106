/// What an eviction removes. Never pinned entries.
@nonexhaustive
public enum EvictionRule: Hashable, Sendable {
    /// Entries in the order of the ``EvictionPolicy`` until at most so many bytes are on disk, counted as ``Limits`` do.
    case maxBytes(Int64)
    /// Entries in the same order until there are at most so many.
    case maxEntries(Int)
    /// Every entry whose last use is longer ago than this. Reads every entry.
    case unusedFor(Duration)
    /// Every entry whose body was stored longer ago than this. A validation does not make a body younger. Reads every entry.
    case olderThan(Duration)
}

extension Duration {
    /// Cut to the range of 64 bits.
    var milliseconds: Int64 {
        let seconds = components.seconds.multipliedReportingOverflow(by: 1000)
        guard !seconds.overflow else { return components.seconds < 0 ? .min : .max }
        let sum = seconds.partialValue.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return sum.overflow ? (components.seconds < 0 ? .min : .max) : sum.partialValue
    }
}
