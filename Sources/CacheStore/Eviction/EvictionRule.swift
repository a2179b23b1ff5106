/// What an eviction removes. Never what is pinned.
@nonexhaustive
public enum EvictionRule: Hashable, Sendable {
    /// Entries until at most so many bytes are on disk, counted as ``Limits`` do: the expired first, then those that end
    /// with the session, then the others in the order of the ``EvictionPolicy``.
    case maxBytes(Int64)
    /// Entries until there are at most so many, in the same order.
    case maxEntries(Int)
    /// Every entry whose last use is longer ago than this.
    case unusedFor(Duration)
    /// Every entry whose body was stored longer ago than this. A validation does not make a body younger.
    case olderThan(Duration)
}

extension Duration {
    /// Cut to what 64 bits hold.
    var milliseconds: Int64 {
        let seconds = components.seconds.multipliedReportingOverflow(by: 1000)
        guard !seconds.overflow else { return components.seconds < 0 ? .min : .max }
        let sum = seconds.partialValue.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        return sum.overflow ? (components.seconds < 0 ? .min : .max) : sum.partialValue
    }
}
