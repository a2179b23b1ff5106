internal import CZlib
internal import HTTPCaching

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Decompresses DEFLATE data (RFC 1951) while it arrives.
///
/// gzip data may consist of several members. Like gzip itself, ignores bytes after the last member.
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
    /// The first bytes, up to two, of a member or of bytes that are ignored.
    private var lookahead: [UInt8] = []

    /// - Parameter limit: The largest length of the decompressed data in bytes.
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

    func append(_ input: Data, into output: inout Data) throws(DecompressionFailure) {
        var rest = input
        while !rest.isEmpty {
            switch phase {
            case .start, .betweenMembers:
                while lookahead.count < 2, let byte = rest.popFirst() { lookahead.append(byte) }
                guard lookahead.count == 2 else { return }
                try begin()
            case .member:
                rest = rest.suffix(try inflate(rest, into: &output))
                continue
            case .ended:
                return
            }
            if phase == .member {
                let first = Data(lookahead)
                lookahead = []
                // A stream without a wrapper can end within two bytes.
                _ = try inflate(first, into: &output)
            }
        }
    }

    func finish() throws(DecompressionFailure) {
        guard phase == .ended || phase == .betweenMembers else { throw .malformed }
    }

    /// Begins a member, or ends the data, as the next two bytes demand.
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

    /// Decompresses bytes of a member.
    ///
    /// - Returns: The number of bytes after the member.
    private func inflate(_ input: Data, into output: inout Data) throws(DecompressionFailure) -> Int {
        // zlib counts input in 32 bits: a longer input is passed in parts.
        var given = 0
        var failure: DecompressionFailure?
        input.withUnsafeBytes { source in
            let base = UnsafeMutablePointer(mutating: source.bindMemory(to: UInt8.self).baseAddress)
            stream.pointee.avail_in = 0
            while true {
                if stream.pointee.avail_in == 0 {
                    let count = min(source.count - given, 1 << 30)
                    stream.pointee.next_in = base.map { $0 + given }
                    stream.pointee.avail_in = UInt32(count)
                    given += count
                }
                var status = Z_OK
                do throws(DecompressionFailure) {
                    _ = try bytes.append(to: &output) { buffer in
                        stream.pointee.next_out = buffer.baseAddress
                        stream.pointee.avail_out = UInt32(buffer.count)
                        status = CZlib.inflate(stream, Z_NO_FLUSH)
                        return buffer.count - Int(stream.pointee.avail_out)
                    }
                } catch {
                    failure = error
                    return
                }
                if status == Z_STREAM_END {
                    phase = wrapping == .gzip ? .betweenMembers : .ended
                    return
                }
                guard status == Z_OK || status == Z_BUF_ERROR else {
                    failure = .malformed
                    return
                }
                // zlib has used all input, and has no more output.
                let isIdle = stream.pointee.avail_in == 0 && stream.pointee.avail_out > 0
                if isIdle, given == source.count { return }
            }
        }
        if let failure { throw failure }
        return input.count - given + Int(stream.pointee.avail_in)
    }
}
