internal import CZlib
internal import CacheFoundation

/// Decompresses DEFLATE data (RFC 1951) while it arrives. gzip data may consist of several members. Like gzip itself,
/// ignores bytes after the last member.
final class Inflater: Decompressor {
    enum Wrapping {
        /// RFC 1952.
        case gzip
        /// The wrapper of zlib (RFC 1950), or none: RFC 9110 §8.4.1.2: some servers send "deflate" data without it.
        case zlibOrNone
    }

    private enum Phase {
        case start
        case member
        case betweenMembers
        case ended
    }

    private let wrapping: Wrapping
    private var bytes: DecompressedBytes
    /// zlib keeps the address of its stream.
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var phase = Phase.start
    /// Up to two bytes: the start of a member, or of ignored bytes after the last member.
    private var lookahead: [UInt8] = []

    /// `limit` is the largest length of the decompressed data in bytes.
    init(_ wrapping: Wrapping, limit: Int64) {
        self.wrapping = wrapping
        bytes = DecompressedBytes(limit: limit)
        stream.initialize(to: z_stream())
    }

    deinit {
        // Does nothing to a stream that has not begun.
        inflateEnd(stream)
        stream.deinitialize(count: 1)
        stream.deallocate()
    }

    func decompress(_ input: inout Data, into output: inout Data) throws(DecompressionFailure) {
        let end = output.count + DecompressedBytes.chunkByteCount
        while output.count < end {
            switch phase {
            case .start, .betweenMembers:
                while lookahead.count < 2, let byte = input.popFirst() { lookahead.append(byte) }
                guard lookahead.count == 2 else { return }
                try begin()
            case .member where lookahead.isEmpty:
                let count = output.count
                try inflate(&input, upTo: end, into: &output)
                if phase == .member, input.isEmpty, output.count == count { return }
            case .member:
                var first = Data(lookahead)
                lookahead = []
                // A stream without a wrapper can end within these two bytes, and leave one of them unused.
                try inflate(&first, upTo: end, into: &output)
            case .ended:
                input = Data()
                return
            }
        }
    }

    func finish() throws(DecompressionFailure) {
        guard phase == .ended || phase == .betweenMembers else { throw .malformed }
    }

    /// Begins a member, or ends the data, depending on the next two bytes.
    private func begin() throws(DecompressionFailure) {
        if phase == .betweenMembers {
            guard lookahead == [0x1F, 0x8B] else {
                phase = .ended
                return
            }
            guard inflateReset(stream) == Z_OK else { throw .malformed }
        } else {
            guard czlib_inflate_init(stream, windowBits) == Z_OK else { throw .malformed }
        }
        phase = .member
    }

    /// The argument of zlib's `inflateInit2`: the size of the window and the wrapper.
    private var windowBits: Int32 {
        switch wrapping {
        case .gzip: 15 + 16
        case .zlibOrNone: hasZlibHeader ? 15 : -15
        }
    }

    /// RFC 1950 §2.2: the method is 8, the window has at most 32 KiB, and both bytes are a multiple of 31. No encoder
    /// begins data without a wrapper like this: the padding of its first block would have to be 1.
    private var hasZlibHeader: Bool {
        let (first, second) = (Int(lookahead[0]), Int(lookahead[1]))
        return first & 0x0F == 8 && first >> 4 <= 7 && (first << 8 | second) % 31 == 0
    }

    /// Decompresses bytes of a member, and removes them from `input`, until `output` has `end` bytes.
    private func inflate(_ input: inout Data, upTo end: Int, into output: inout Data) throws(DecompressionFailure) {
        // zlib counts input in 32 bits. The next call takes the rest of longer input.
        let given = min(input.count, 1 << 30)
        var status = Z_OK
        try bytes.append(upTo: end - output.count, to: &output) { [input] buffer in
            input.withUnsafeBytes { source in
                stream.pointee.next_in = UnsafeMutablePointer(mutating: source.bindMemory(to: UInt8.self).baseAddress)
                stream.pointee.avail_in = UInt32(given)
                stream.pointee.next_out = buffer.baseAddress
                stream.pointee.avail_out = UInt32(buffer.count)
                status = CZlib.inflate(stream, Z_NO_FLUSH)
                return buffer.count - Int(stream.pointee.avail_out)
            }
        }
        // `Z_BUF_ERROR`: there was neither input nor output.
        guard status == Z_OK || status == Z_BUF_ERROR || status == Z_STREAM_END else { throw .malformed }
        input = input.dropFirst(given - Int(stream.pointee.avail_in))
        if status == Z_STREAM_END { phase = wrapping == .gzip ? .betweenMembers : .ended }
    }
}
