internal import HTTPTypes
internal import NIOCore

/// Extracts the content of one request from the bytes of a connection (RFC 9112 §6–7).
struct ContentDecoder {
    enum Step {
        /// Bytes of the content.
        case content(ByteBuffer)
        /// More bytes are needed.
        case wait
        /// The content is complete. The next request follows.
        case end
    }

    private enum State {
        /// This many bytes are still missing. In a chunk, a line end follows them.
        case bytes(Int64, isChunk: Bool)
        case chunkSize
        case chunkEnd
        case trailers
        case end
    }

    /// The longest line with a chunk size and its extensions, and the longest trailer section.
    private static let maxLineByteCount = 16_384

    private var state: State
    private var trailerByteCount = 0

    init(_ framing: RequestHead.Framing) {
        state =
            switch framing {
            case .none, .length(0): .end
            case .length(let length): .bytes(length, isChunk: false)
            case .chunked: .chunkSize
            }
    }

    var isAtEnd: Bool {
        if case .end = state { true } else { false }
    }

    /// Returns the next step. Throws for malformed framing, after which nothing can be read from the connection.
    mutating func next(_ buffer: inout ByteBuffer) throws(Refusal) -> Step {
        while true {
            switch state {
            case .end:
                return .end
            case .bytes(0, let isChunk):
                state = isChunk ? .chunkEnd : .end
            case .bytes(let count, let isChunk):
                let available = Int(min(count, Int64(buffer.readableBytes)))
                guard available > 0, let bytes = buffer.readSlice(length: available) else { return .wait }
                state = .bytes(count - Int64(available), isChunk: isChunk)
                return .content(bytes)
            case .chunkSize:
                guard let line = try Self.line(&buffer) else { return .wait }
                let size = try Self.chunkSize(line)
                state = size == 0 ? .trailers : .bytes(size, isChunk: true)
            case .chunkEnd:
                guard let bytes = buffer.readInteger(as: UInt16.self) else { return .wait }
                guard bytes == 0x0d0a else { throw .malformed }
                state = .chunkSize
            case .trailers:
                guard let line = try Self.line(&buffer) else { return .wait }
                // RFC 9110 §6.5.1: a recipient may discard trailers. The cache does not store them.
                trailerByteCount += line.readableBytes
                guard trailerByteCount <= Self.maxLineByteCount else { throw Refusal(.requestHeaderFieldsTooLarge) }
                if line.readableBytes == 0 { state = .end }
            }
        }
    }

    /// Returns a line without its line end, or `nil` while it is incomplete.
    private static func line(_ buffer: inout ByteBuffer) throws(Refusal) -> ByteBuffer? {
        guard let length = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else {
            guard buffer.readableBytes <= maxLineByteCount else { throw .malformed }
            return nil
        }
        let count = length - buffer.readerIndex
        guard count > 0, count <= maxLineByteCount, let line = buffer.readSlice(length: count - 1),
            buffer.readInteger(as: UInt16.self) == 0x0d0a
        else { throw .malformed }
        return line
    }

    /// Parses a chunk size (RFC 9112 §7.1): hexadecimal digits, then extensions, which are ignored.
    private static func chunkSize(_ line: ByteBuffer) throws(Refusal) -> Int64 {
        let view = line.readableBytesView
        let digits = view.prefix { ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x66 || (0x30...0x39).contains($0) }
        let rest = view[digits.endIndex...].drop { $0 == 0x20 || $0 == 0x09 }
        // Some readers treat a carriage return within an extension as a line end.
        guard !digits.isEmpty, digits.count <= 15, rest.first ?? 0x3b == 0x3b, !rest.contains(0x0d),
            let size = Int64(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw .malformed }
        return size
    }
}
