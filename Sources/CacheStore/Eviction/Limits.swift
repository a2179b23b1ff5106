/// How much a store may keep. It keeps itself below, in every process that has it open with limits.
///
/// Bytes are those on disk: each body once, however many entries and forms derived from them share it, and the pages of the
/// index beyond those of an empty one. A commit that would go beyond a limit evicts in its own transaction, so that what is
/// committed is never above; bodies on their way into the store count, too. Then one process at a time goes on in the
/// background, in short transactions, down to the low-water mark. Which entries go is for the ``EvictionPolicy`` to say: by
/// value, what has just been stored may be worth least, and go first.
public struct Limits: Hashable, Sendable {
    /// The most bytes on disk; `nil` for any number.
    public var maxBytes: Int64?
    /// The most entries; `nil` for any number.
    public var maxEntries: Int?
    /// The most bytes of one body: writing a larger one throws ``StoreError/bodyTooLarge(limit:)``. `nil` for any number.
    /// It does not follow a change of ``maxBytes``.
    public var maxEntryBytes: Int64?
    /// The share of a limit, between 0 and 1, that is left once it has been reached. 0.9 by default: entries go by the
    /// dozen, and not with every write.
    public var lowWaterMark: Double

    /// Creates limits.
    ///
    /// What is below zero counts as zero, and a low-water mark above 1 as 1.
    ///
    /// - Parameters:
    ///   - maxBytes: The most bytes on disk; `nil` for any number.
    ///   - maxEntries: The most entries; `nil` for any number.
    ///   - maxEntryBytes: The most bytes of one body; an eighth of `maxBytes` unless given: one large body would displace
    ///     very many small ones.
    ///   - lowWaterMark: The share of a limit that is left once it has been reached.
    public init(
        maxBytes: Int64? = nil, maxEntries: Int? = nil, maxEntryBytes: Int64? = nil, lowWaterMark: Double = 0.9
    ) {
        self.maxBytes = maxBytes.map { max(0, $0) }
        self.maxEntries = maxEntries.map { max(0, $0) }
        self.maxEntryBytes = (maxEntryBytes ?? maxBytes.map { $0 / 8 }).map { max(0, $0) }
        self.lowWaterMark = lowWaterMark.isNaN ? 0.9 : min(max(lowWaterMark, 0), 1)
    }
}
