internal import HTTPTypes

/// The consecutive bytes of a representation that a stored body consists of (RFC 9111 §3.3).
public struct StoredPart: Hashable, Sendable {
    package let range: ByteRange
    /// The length of the whole representation; `nil` if unknown.
    public let completeLength: Int64?

    /// Creates a part; `nil` if it is empty, begins before offset 0 or reaches beyond the end of the whole.
    public init?(bytes: Range<Int64>, completeLength: Int64?) {
        guard let range = ByteRange(first: bytes.lowerBound, end: bytes.upperBound) else { return nil }
        self.init(range: range, completeLength: completeLength)
    }

    /// Creates a part; `nil` if it reaches beyond the end of the whole.
    package init?(range: ByteRange, completeLength: Int64?) {
        if let completeLength, range.end > completeLength { return nil }
        self.range = range
        self.completeLength = completeLength
    }

    /// The offsets of the bytes in the whole representation.
    public var bytes: Range<Int64> { range.first..<range.end }

    /// Whether no byte is missing.
    public var isComplete: Bool { range.first == 0 && range.end == completeLength }
}

extension HTTPFields {
    /// Whether both responses have the same content codings, in the same order (RFC 9110 §8.4).
    func hasSameCoding(as other: HTTPFields) -> Bool { codings == other.codings }

    private var codings: [String] {
        filter { $0.name == .contentEncoding }.flatMap { $0.withUnsafeBytesOfValue(\.lowercasedTokens) ?? ["?"] }
            .filter { $0 != "identity" }
    }
}

extension StoredPart {
    /// Whether both parts can belong to one representation: their lengths do not contradict each other.
    func agrees(with other: StoredPart) -> Bool {
        if let completeLength, let length = other.completeLength { return completeLength == length }
        return max(range.end, other.range.end) <= completeLength ?? other.completeLength ?? .max
    }

    /// Joins both parts; `nil` if there is a gap or a contradiction between them.
    func union(_ other: StoredPart) -> StoredPart? {
        guard agrees(with: other), let range = range.union(other.range) else { return nil }
        return StoredPart(range: range, completeLength: completeLength ?? other.completeLength)
    }
}
