/// Which bytes of a representation are there.
package struct StoredPart: Hashable, Sendable {
    /// Those bytes.
    package let range: ByteRange
    /// How long the whole representation is, where that is known.
    package let completeLength: Int64?

    /// Creates a part; `nil` when it would reach beyond the end of the whole.
    package init?(range: ByteRange, completeLength: Int64?) {
        if let completeLength, range.end > completeLength { return nil }
        self.range = range
        self.completeLength = completeLength
    }

    /// Whether nothing is missing.
    package var isComplete: Bool { range.first == 0 && range.end == completeLength }
}

extension StoredPart {
    /// Whether both can be of one representation: neither contradicts the other about its length.
    func agrees(with other: StoredPart) -> Bool {
        if let completeLength, let length = other.completeLength { return completeLength == length }
        return max(range.end, other.range.end) <= completeLength ?? other.completeLength ?? .max
    }

    /// Both as one; `nil` when there is a gap between them, or a contradiction.
    func union(_ other: StoredPart) -> StoredPart? {
        guard agrees(with: other), let range = range.union(other.range) else { return nil }
        return StoredPart(range: range, completeLength: completeLength ?? other.completeLength)
    }
}
