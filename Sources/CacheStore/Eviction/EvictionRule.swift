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

extension EvictionRule {
    /// Whether more entries must go for the rule. A rule by age ends with the entries of that age.
    package func isTooMuch(_ size: StoreSize) -> Bool {
        switch self {
        case .maxBytes(let limit): size.bytes > limit
        case .maxEntries(let limit): size.entries > limit
        case .unusedFor, .olderThan: true
        }
    }
}

extension EvictionOrder {
    /// The entries that an eviction by `rule` takes, in order.
    init(_ rule: EvictionRule, _ connection: Connection, now: Int64) throws(StoreError) {
        switch rule {
        case .maxBytes, .maxEntries:
            try self.init(connection)
        case .unusedFor(let age):
            try self.init(.unused(before: now.saturatingSubtracting(age.milliseconds)), connection)
        case .olderThan(let age):
            try self.init(.stored(before: now.saturatingSubtracting(age.milliseconds)), connection)
        }
    }
}
