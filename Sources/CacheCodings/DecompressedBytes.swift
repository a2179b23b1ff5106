internal import CacheFoundation

/// Counts decompressed bytes up to a limit. A few compressed bytes can expand to any length.
struct DecompressedBytes {
    /// The size of the buffer that a library fills.
    static let chunkByteCount = 65_536

    private var room: Int64
    private lazy var chunk = [UInt8](repeating: 0, count: Self.chunkByteCount)

    /// `limit` is the largest length of the decompressed data in bytes.
    init(limit: Int64) {
        room = limit
    }

    /// Lets `fill` write up to `count` bytes and return their number. Appends them to `output` up to the limit.
    mutating func append(
        upTo count: Int = chunkByteCount, to output: inout Data, _ fill: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) throws(DecompressionFailure) {
        let count = chunk.withUnsafeMutableBufferPointer { fill(UnsafeMutableBufferPointer(rebasing: $0[..<count])) }
        let accepted = min(Int64(count), room)
        output.append(contentsOf: chunk[..<Int(accepted)])
        room -= accepted
        guard accepted == count else { throw .tooLarge }
    }
}
