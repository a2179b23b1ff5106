internal import CZlib
internal import HTTPCaching

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Decompresses DEFLATE data (RFC 1951) with a gzip (RFC 1952) or zlib (RFC 1950) wrapper, or with none.
struct Inflater {
    enum Wrapping {
        case gzip
        case zlib
        case none

        /// The argument of zlib's `inflateInit2`: the size of the window and the wrapper.
        fileprivate var windowBits: Int32 {
            switch self {
            case .gzip: 15 + 16
            case .zlib: 15
            case .none: -15
            }
        }
    }

    enum Failure: Error {
        /// The data does not have the stated format, or is incomplete.
        case malformed
        /// The decompressed data is longer than the limit.
        case tooLarge
    }

    private static let chunkByteCount = 65_536

    /// Decompresses all of `data`.
    ///
    /// gzip data may consist of several members. Like gzip itself, ignores bytes after the last member.
    static func inflate(_ data: Data, _ wrapping: Wrapping, limit: Int64) throws(Failure) -> Data {
        var output = Data()
        try inflate(data, wrapping, limit: limit, into: &output)
        return output
    }

    /// Decompresses the first `limit` bytes, and tells whether these are all. Damaged data ends at the damage.
    static func inflateStart(of data: Data, _ wrapping: Wrapping, limit: Int64) -> (bytes: Data, isWhole: Bool) {
        var output = Data()
        do throws(Failure) {
            try inflate(data, wrapping, limit: limit, into: &output)
            return (output, true)
        } catch {
            return (output, false)
        }
    }

    /// - Parameter output: Has the bytes before the failure, too.
    private static func inflate(
        _ data: Data, _ wrapping: Wrapping, limit: Int64, into output: inout Data
    ) throws(Failure) {
        var input = data
        repeat {
            let rest = try inflateMember(input, wrapping, limit: limit, into: &output)
            input = input.suffix(rest)
        } while wrapping == .gzip && input.starts(with: [0x1F, 0x8B])
    }

    /// - Returns: The number of bytes after the member.
    private static func inflateMember(
        _ input: Data, _ wrapping: Wrapping, limit: Int64, into output: inout Data
    ) throws(Failure) -> Int {
        var stream = z_stream()
        guard czlib_inflate_init(&stream, wrapping.windowBits) == Z_OK else { throw .malformed }
        defer { inflateEnd(&stream) }
        // zlib counts input in 32 bits: a longer input is passed in parts.
        var given = 0
        var failure: Failure?
        input.withUnsafeBytes { bytes in
            let base = UnsafeMutablePointer(mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
            var chunk = [UInt8](repeating: 0, count: chunkByteCount)
            while failure == nil {
                if stream.avail_in == 0 {
                    let count = min(bytes.count - given, 1 << 30)
                    stream.next_in = base.map { $0 + given }
                    stream.avail_in = UInt32(count)
                    given += count
                }
                let status = chunk.withUnsafeMutableBufferPointer { buffer in
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = UInt32(buffer.count)
                    return CZlib.inflate(&stream, Z_NO_FLUSH)
                }
                let produced = chunkByteCount - Int(stream.avail_out)
                let room = Int(clamping: limit - Int64(output.count))
                output.append(contentsOf: chunk[..<min(produced, room)])
                guard produced <= room else {
                    failure = .tooLarge
                    return
                }
                if status == Z_STREAM_END { return }
                // zlib cannot continue: the data is truncated.
                let isStuck = status == Z_BUF_ERROR && stream.avail_in == 0 && given == bytes.count
                if status != Z_OK && status != Z_BUF_ERROR || isStuck { failure = .malformed }
            }
        }
        if let failure { throw failure }
        return input.count - given + Int(stream.avail_in)
    }
}
