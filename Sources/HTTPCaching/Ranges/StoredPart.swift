/// The bytes of a representation that a response has.
package struct StoredPart: Hashable, Sendable {
    package let range: ByteRange
    /// The length of the whole representation, if known.
    package let completeLength: Int64?

    /// Creates a part; `nil` when the range would reach beyond the end of the whole.
    package init?(range: ByteRange, completeLength: Int64?) {
        if let completeLength, range.end > completeLength { return nil }
        self.range = range
        self.completeLength = completeLength
    }

    /// Whether no byte is missing.
    package var isComplete: Bool { range.first == 0 && range.end == completeLength }
}

extension StoredPart {
    /// Whether both parts can be of one representation: neither contradicts the other about its length.
    func agrees(with other: StoredPart) -> Bool {
        if let completeLength, let length = other.completeLength { return completeLength == length }
        return max(range.end, other.range.end) <= completeLength ?? other.completeLength ?? .max
    }

    /// Joins both parts; `nil` when there is a gap or a contradiction between them.
    func union(_ other: StoredPart) -> StoredPart? {
        guard agrees(with: other), let range = range.union(other.range) else { return nil }
        return StoredPart(range: range, completeLength: completeLength ?? other.completeLength)
    }
}
