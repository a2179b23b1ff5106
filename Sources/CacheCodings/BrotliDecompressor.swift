#if canImport(CBrotli)
internal import CBrotli
internal import CacheFoundation

/// Decompresses a Brotli stream (RFC 7932) while it arrives. Bytes after the stream are an error. The window has at
/// most 16 MiB: the format allows no more, and the decoder accepts no larger one.
final class BrotliDecompressor: Decompressor {
    private let state: OpaquePointer?
    private var bytes: DecompressedBytes
    /// A copy of the dictionary, because the library keeps a pointer to it. Empty without a dictionary.
    private let dictionary: UnsafeMutableBufferPointer<UInt8>
    private var hasEnded = false

    /// `limit` is the largest length of the decompressed data in bytes.
    init(limit: Int64) {
        bytes = DecompressedBytes(limit: limit)
        state = BrotliDecoderCreateInstance(nil, nil, nil)
        dictionary = .allocate(capacity: 0)
    }

    /// Decompresses a stream that refers to a raw dictionary (RFC 9841 §8.2), without a length limit. RFC 9842 §4
    /// limits the window to 16 MiB, not counting the dictionary. Returns `nil` without dictionary support in the
    /// library.
    init?(dictionary content: Data) {
        bytes = DecompressedBytes(limit: .max)
        state = BrotliDecoderCreateInstance(nil, nil, nil)
        dictionary = .allocate(capacity: content.count)
        _ = dictionary.initialize(from: content)
        guard state != nil, cbrotli_attach_dictionary(state, dictionary.baseAddress, content.count) else { return nil }
    }

    deinit {
        BrotliDecoderDestroyInstance(state)
        dictionary.deallocate()
    }

    func decompress(_ input: inout Data, into output: inout Data) throws(DecompressionFailure) {
        guard state != nil, !hasEnded || input.isEmpty else { throw .malformed }
        guard !hasEnded else { return }
        var status = BROTLI_DECODER_RESULT_ERROR
        var rest = input.count
        // A full buffer leaves output inside the library, even after all input is used. The next call takes that
        // output.
        try bytes.append(to: &output) { [input] buffer in
            input.withUnsafeBytes { source in
                var next = source.bindMemory(to: UInt8.self).baseAddress
                var (target, room) = (buffer.baseAddress, buffer.count)
                status = BrotliDecoderDecompressStream(state, &rest, &next, &room, &target, nil)
                return buffer.count - room
            }
        }
        switch status {
        case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT, BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT: break
        case BROTLI_DECODER_RESULT_SUCCESS where rest == 0: hasEnded = true
        default: throw .malformed
        }
        input = input.suffix(rest)
    }

    func finish() throws(DecompressionFailure) {
        guard hasEnded else { throw .malformed }
    }
}
#endif
