/// The entries that an eviction removes. Pinned entries are never removed.
@nonexhaustive
public enum EvictionRule: Hashable, Sendable {
    /// Evicts in the order of the ``EvictionPolicy`` until at most this many bytes are on disk. Counts bytes as
    /// ``Limits`` does, but without the WAL.
    case maxBytes(Int64)
    /// Evicts in the same order until at most this many entries are left.
    case maxEntries(Int)
    /// Evicts every entry whose last access is longer ago than this. Reads every entry.
    case unusedFor(Duration)
    /// Evicts every entry whose body was stored longer ago than this. A validation does not change that time. Reads
    /// every entry.
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
    /// Whether the rule requires more removals. A rule by age ends with the last entry of that age.
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
