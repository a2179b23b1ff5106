#if canImport(CZstd)
internal import CZstd
internal import CacheFoundation

/// Decompresses Zstandard frames (RFC 8878) while they arrive. The data may consist of several frames, and of skippable
/// ones. Bytes that begin no frame are an error.
final class ZstdDecompressor: Decompressor {
    /// RFC 9659 §3: the window of the content coding has at most 8 MiB, so that a decoder needs no more memory.
    private static let largestWindowLog: Int32 = 23

    private let context: OpaquePointer?
    private var bytes: DecompressedBytes
    /// A copy of the dictionary, because the library keeps a pointer to it. Empty without a dictionary.
    private let dictionary: UnsafeMutableRawBufferPointer
    /// Whether the next bytes begin a frame.
    private var isAtStart = true
    /// Whether the bytes so far are whole frames, at least one.
    private var isBetweenFrames = false
    /// Whether the library may hold output, because the buffer was full.
    private var mayHaveOutput = false

    /// `limit` is the largest length of the decompressed data in bytes.
    convenience init(limit: Int64) {
        self.init(limit: limit, dictionary: Data(), windowLog: Self.largestWindowLog)
    }

    /// Decompresses frames that refer to a raw dictionary (RFC 8878 §5), without a length limit. RFC 9842 §5: the
    /// window has 8 MiB or 1.25 times the size of the dictionary, up to 128 MiB.
    convenience init(dictionary: Data) {
        let window = min(max(1 << Self.largestWindowLog, dictionary.count / 4 * 5), 1 << 27)
        let windowLog = Int32(Int.bitWidth - (window - 1).leadingZeroBitCount)
        self.init(limit: .max, dictionary: dictionary, windowLog: windowLog)
    }

    private init(limit: Int64, dictionary: Data, windowLog: Int32) {
        bytes = DecompressedBytes(limit: limit)
        self.dictionary = .allocate(byteCount: dictionary.count, alignment: 16)
        self.dictionary.copyBytes(from: dictionary)
        context = ZSTD_createDCtx()
        _ = ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, windowLog)
    }

    deinit {
        ZSTD_freeDCtx(context)
        dictionary.deallocate()
    }

    func decompress(_ input: inout Data, into output: inout Data) throws(DecompressionFailure) {
        var used = 0
        var hasFailed = false
        try bytes.append(to: &output) { [input] buffer in
            input.withUnsafeBytes { input in
                var source = ZSTD_inBuffer(src: input.baseAddress, size: input.count, pos: 0)
                var target = ZSTD_outBuffer(dst: buffer.baseAddress, size: buffer.count, pos: 0)
                // The library stops at the end of a block.
                while !hasFailed, target.pos < target.size, source.pos < source.size || mayHaveOutput {
                    hasFailed = !decompress(&source, &target)
                }
                used = source.pos
                return target.pos
            }
        }
        guard !hasFailed else { throw .malformed }
        input = input.dropFirst(used)
    }

    /// Decompresses the next bytes. Returns `false` for malformed data.
    private func decompress(_ source: inout ZSTD_inBuffer, _ target: inout ZSTD_outBuffer) -> Bool {
        // The library drops its reference at the end of each frame.
        if isAtStart, !dictionary.isEmpty {
            _ = ZSTD_DCtx_refPrefix(context, dictionary.baseAddress, dictionary.count)
        }
        let status = ZSTD_decompressStream(context, &target, &source)
        // Zero means that a frame and its output are complete.
        isBetweenFrames = status == 0
        isAtStart = isBetweenFrames
        mayHaveOutput = target.pos == target.size && !isBetweenFrames
        return ZSTD_isError(status) == 0
    }

    func finish() throws(DecompressionFailure) {
        guard isBetweenFrames else { throw .malformed }
    }
}
#endif
