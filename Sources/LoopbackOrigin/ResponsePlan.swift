internal import LoopbackHTTP
internal import NIOCore

/// The planned bytes of one reply. Avoids NIO's encoder, because a test origin must be able to send wrong framing.
struct ResponsePlan: Sendable {
    enum Ending: Sendable {
        case keepAlive
        case close
        case reset
        case stall
    }

    /// The head, or the bytes that replace it.
    private(set) var head: [UInt8] = []
    /// The sent part of the body.
    private(set) var pieces: [ArraySlice<UInt8>] = []
    /// The bytes after the last piece: the last chunk of a chunked body.
    private(set) var trailer = ""
    /// Called before each piece. If set, each piece is flushed separately.
    private(set) var pace: (@Sendable (Int) async -> Void)?
    private(set) var ending = Ending.keepAlive

    private var isChunked = false

    init(_ reply: OriginReply, to method: HTTPRequest.Method, keepsAlive: Bool, date: String?) {
        var fields = reply.fields
        let body = reply.body[...]

        switch reply.delivery {
        case .complete:
            fields.setIfAbsent(.contentLength, "\(body.count)")
            pieces = [body]
        case .chunked(let bytes):
            isChunked = true
            trailer = "0\r\n\r\n"
            pieces = body.pieces(of: bytes)
        case .closeDelimited:
            pieces = [body]
            ending = .close
        case .paced(let bytes, let before):
            fields.setIfAbsent(.contentLength, "\(body.count)")
            pieces = body.pieces(of: bytes)
            pace = before
        case .declaring(let length):
            fields.setIfAbsent(.contentLength, "\(length)")
            pieces = [body]
            ending = .close
        case .stalling(let bytes):
            fields.setIfAbsent(.contentLength, "\(body.count)")
            pieces = [body.prefix(bytes)]
            ending = .stall
        case .resetting(let bytes):
            fields.setIfAbsent(.contentLength, "\(body.count)")
            pieces = [body.prefix(bytes)]
            ending = .reset
        case .abortedChunked(let bytes):
            isChunked = true
            pieces = [body.prefix(bytes)]
            ending = .close
        case .resetBeforeHead:
            ending = .reset
            return
        case .garbage(let bytes):
            head = bytes
            ending = .close
            return
        case .breakingOff(let bytes):
            head = bytes
            ending = .reset
            return
        }

        if isChunked { fields.setIfAbsent(.transferEncoding, "chunked") }
        if reply.status.hasNoContent {
            fields[.contentLength] = reply.fields[.contentLength]
            fields[.transferEncoding] = reply.fields[.transferEncoding]
        }
        if reply.status.hasNoContent || method == .head {
            pieces = []
            trailer = ""
            pace = nil
            if case .closeDelimited = reply.delivery { ending = .close } else { ending = .keepAlive }
        }
        if ending == .keepAlive, !keepsAlive || fields[.connection]?.lowercased() == "close" {
            ending = .close
        }
        if ending == .close { fields.setIfAbsent(.connection, "close") }
        if let date { fields.setIfAbsent(.date, date) }
        head = ResponseHead.bytes(reply.status, fields)
    }

    func write(_ piece: ArraySlice<UInt8>, into buffer: inout ByteBuffer) {
        // An empty chunk would be the last chunk.
        guard !piece.isEmpty else { return }
        if isChunked { buffer.writeString("\(String(piece.count, radix: 16))\r\n") }
        buffer.writeBytes(piece)
        if isChunked { buffer.writeString("\r\n") }
    }
}

extension HTTPFields {
    fileprivate mutating func setIfAbsent(_ name: HTTPField.Name, _ value: String) {
        if self[name] == nil { self[name] = value }
    }
}

extension ArraySlice {
    fileprivate func pieces(of count: Int) -> [Self] {
        precondition(count > 0, "a piece has at least one byte")
        return stride(from: startIndex, to: endIndex, by: count).map { self[$0..<Swift.min($0 + count, endIndex)] }
    }
}
