internal import ByteText
package import CacheFoundation
internal import Crypto

/// The SHA-256 of a body, which names its file.
public struct ContentDigest: Hashable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Computes the digest of `bytes`; takes about half a second per gigabyte.
    public init(of bytes: UnsafeRawBufferPointer) {
        var hasher = SHA256()
        hasher.update(bufferPointer: bytes)
        self.init(hasher.finalize())
    }

    /// Computes the digest of `bytes`.
    package init(of bytes: Data) {
        self = bytes.withUnsafeBytes { Self(of: $0) }
    }

    init(_ digest: SHA256Digest) {
        words = digest.withUnsafeBytes { $0.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self) }
    }

    /// Creates a digest from the bytes of a column. Returns `nil` unless there are 32.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == 32 else { return nil }
        words = bytes.loadUnaligned(as: (UInt64, UInt64, UInt64, UInt64).self)
    }

    /// Creates a digest from hexadecimal digits, upper or lower case. Returns `nil` unless there are 64.
    public init?(hexadecimal: some StringProtocol) {
        guard let digest = [UInt8](hexadecimal: hexadecimal)?.withUnsafeBytes(Self.init) else { return nil }
        self = digest
    }

    /// The first eight bytes. The digest is random, so they are a good hash.
    var prefix: UInt64 { words.0 }

    /// Calls `body` with the 32 bytes.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var copy = words
        return try withUnsafePointer(to: &copy) { (pointer) throws(Failure) in
            try body(UnsafeRawBufferPointer(start: pointer, count: 32))
        }
    }

    /// Compares all bytes.
    public static func == (left: ContentDigest, right: ContentDigest) -> Bool { left.words == right.words }

    /// Feeds the first eight bytes, which are enough to distinguish digests.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension ContentDigest: CustomStringConvertible {
    /// 64 lower-case hexadecimal digits.
    public var description: String { hexadecimal(separator: nil, after: 0) }

    /// Returns the digits, with a separator after those of the first `count` bytes.
    func hexadecimal(separator: UInt8?, after count: Int) -> String {
        String(unsafeUninitializedCapacity: 65) { digits in
            withUnsafeBytes { bytes in
                var length = 0
                for (index, byte) in bytes.enumerated() {
                    if index == count, let separator {
                        digits[length] = separator
                        length += 1
                    }
                    (digits[length], digits[length + 1]) = byte.hexadecimalDigits
                    length += 2
                }
                return length
            }
        }
    }
}
