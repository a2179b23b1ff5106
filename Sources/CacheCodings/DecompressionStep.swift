package import CacheFoundation

/// A decompressor and its pending input.
package struct DecompressionStep {
    private let decompressor: any Decompressor
    private var rest = Data()
    /// Whether the decompressor has neither input nor output.
    private(set) var isIdle = true

    init(_ decompressor: any Decompressor) {
        self.decompressor = decompressor
    }

    /// Takes the next compressed bytes. Call it while the step is idle.
    package mutating func append(_ bytes: Data) {
        rest = bytes
        isIdle = bytes.isEmpty
    }

    /// The next decompressed bytes, up to ``DecompressedBytes/chunkByteCount``, or `nil` when it needs more input.
    package mutating func next() throws(DecompressionFailure) -> Data? {
        guard !isIdle else { return nil }
        var piece = Data()
        try decompressor.decompress(&rest, into: &piece)
        isIdle = piece.isEmpty
        return isIdle ? nil : piece
    }

    /// Appends all decompressed bytes of the input to `output`.
    mutating func drain(into output: inout Data) throws(DecompressionFailure) {
        try decompressor.append(rest, into: &output)
        append(Data())
    }

    package func finish() throws(DecompressionFailure) { try decompressor.finish() }
}
