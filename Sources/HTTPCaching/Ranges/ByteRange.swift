/// A non-empty range of bytes of a representation, from `first` up to, but not including, `end`.
///
/// HTTP names the last byte instead (RFC 9110 §14.1.2). A half-open range needs no corrections by one in sums and
/// differences.
package struct ByteRange: Hashable, Sendable {
    /// The offset of the first byte.
    package let first: Int64
    /// The offset after the last byte.
    package let end: Int64

    /// Creates a range; `nil` when the range would be empty or begin before offset 0.
    package init?(first: Int64, end: Int64) {
        guard first >= 0, end > first else { return nil }
        self.first = first
        self.end = end
    }

    /// The offset of the last byte: `last-pos` in HTTP.
    package var last: Int64 { end - 1 }

    /// The number of bytes.
    package var count: Int64 { end - first }
}

extension ByteRange {
    /// Whether all of `other` is in this range.
    package func contains(_ other: ByteRange) -> Bool { first <= other.first && other.end <= end }

    /// Whether both ranges have a byte in common.
    package func overlaps(_ other: ByteRange) -> Bool { first < other.end && other.first < end }

    /// Whether one range begins where the other ends.
    package func isAdjacent(to other: ByteRange) -> Bool { end == other.first || other.end == first }

    /// The bytes that are in both ranges; `nil` when there are none.
    package func intersection(_ other: ByteRange) -> ByteRange? {
        ByteRange(first: max(first, other.first), end: min(end, other.end))
    }

    /// The bytes that are in either range; `nil` when there is a gap between the two.
    package func union(_ other: ByteRange) -> ByteRange? {
        guard overlaps(other) || isAdjacent(to: other) else { return nil }
        return ByteRange(first: min(first, other.first), end: max(end, other.end))
    }
}

extension ByteRange: Comparable {
    /// Orders ranges by their first byte, then by their end.
    package static func < (lhs: ByteRange, rhs: ByteRange) -> Bool {
        (lhs.first, lhs.end) < (rhs.first, rhs.end)
    }
}
