/// A stored body's range of bytes within the whole representation (RFC 9111 §3.3).
public struct StoredPart: Hashable, Sendable {
    /// The offsets of the bytes in the whole representation. HTTP names the last byte instead of the end (RFC 9110
    /// §14.1.2).
    public let bytes: Range<Int64>
    /// The length of the whole representation, if known.
    public let completeLength: Int64?

    /// Creates a part. Returns `nil` for a range that is empty, begins before offset 0 or exceeds the complete length.
    public init?(bytes: Range<Int64>, completeLength: Int64?) {
        guard bytes.lowerBound >= 0, !bytes.isEmpty else { return nil }
        if let completeLength, bytes.upperBound > completeLength { return nil }
        self.bytes = bytes
        self.completeLength = completeLength
    }

    package var byteCount: Int64 { bytes.upperBound - bytes.lowerBound }

    /// Whether no byte is missing.
    public var isComplete: Bool { bytes.lowerBound == 0 && bytes.upperBound == completeLength }
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
    /// Whether both parts can belong to one representation, judged by their lengths.
    func agrees(with other: StoredPart) -> Bool {
        if let completeLength, let length = other.completeLength { return completeLength == length }
        return max(bytes.upperBound, other.bytes.upperBound) <= completeLength ?? other.completeLength ?? .max
    }

    /// Joins both parts. Returns `nil` for a gap or for contradictory lengths.
    func union(_ other: StoredPart) -> StoredPart? {
        let (start, end) = (bytes.lowerBound, bytes.upperBound)
        guard agrees(with: other), start <= other.bytes.upperBound, other.bytes.lowerBound <= end else { return nil }
        return StoredPart(
            bytes: min(start, other.bytes.lowerBound)..<max(end, other.bytes.upperBound),
            completeLength: completeLength ?? other.completeLength)
    }
}
