internal import HTTPTypes
internal import NIOCore

/// Reads the heads of requests from the bytes of a connection (RFC 9112 §2–5).
///
/// NIO's own decoder knows a fixed list of methods and makes strings of values, which changes bytes beyond ASCII. A proxy
/// that is to change nothing reads them itself, and strictly: what one reader takes for the end of a line or of a request,
/// another may not, so that nothing doubtful is passed on.
struct RequestHeadParser {
    /// The longest head.
    static let maxByteCount = 65_536

    /// Bytes at the front of the buffer that are known to hold no end of a head.
    private var scannedByteCount = 0

    /// Takes the next head out of `buffer`; `nil` while it is incomplete.
    mutating func next(_ buffer: inout ByteBuffer) throws(Refusal) -> RequestHead? {
        if scannedByteCount == 0 { Self.skipEmptyLines(&buffer) }
        let start = scannedByteCount
        let end = try buffer.withUnsafeReadableBytes { (bytes) throws(Refusal) in
            try Self.endOfHead(bytes, from: start)
        }
        guard let end else {
            guard buffer.readableBytes <= Self.maxByteCount else { throw Refusal(.requestHeaderFieldsTooLarge) }
            // The last bytes may be the beginning of an end.
            scannedByteCount = max(0, buffer.readableBytes - 3)
            return nil
        }
        guard end <= Self.maxByteCount else { throw Refusal(.requestHeaderFieldsTooLarge) }
        scannedByteCount = 0
        let head = try buffer.withUnsafeReadableBytes { (bytes) throws(Refusal) in
            try Self.head(UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        }
        buffer.moveReaderIndex(forwardBy: end)
        return head
    }

    /// RFC 9112 §2.2: empty lines before a request are ignored.
    private static func skipEmptyLines(_ buffer: inout ByteBuffer) {
        while buffer.getInteger(at: buffer.readerIndex, as: UInt16.self) == 0x0d0a {
            buffer.moveReaderIndex(forwardBy: 2)
        }
    }

    /// Where the empty line ends that ends the head.
    private static func endOfHead(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(Refusal) -> Int? {
        var index = start
        while let lineFeed = bytes[index...].firstIndex(of: lineFeedByte) {
            // A line feed of its own could be the end of a line, or a byte in it: RFC 9112 §2.2 lets it be refused.
            guard lineFeed > 0, bytes[lineFeed - 1] == carriageReturn else { throw .malformed }
            if lineFeed >= 3, bytes[lineFeed - 2] == lineFeedByte { return lineFeed + 1 }
            index = lineFeed + 1
        }
        return nil
    }

    private static func head(_ bytes: UnsafeRawBufferPointer) throws(Refusal) -> RequestHead {
        guard let lineEnd = bytes.firstIndex(of: carriageReturn) else { throw .malformed }
        let (method, target, isHTTP10) = try requestLine(UnsafeRawBufferPointer(rebasing: bytes[..<lineEnd]))
        var fields = HTTPFields()
        var start = lineEnd + 2
        // The last two bytes are the empty line.
        while start < bytes.count - 2 {
            guard let end = bytes[start...].firstIndex(of: carriageReturn), bytes[end + 1] == lineFeedByte else {
                throw .malformed
            }
            fields.append(try field(UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
            start = end + 2
        }
        return try RequestHead(method: method, target: target, isHTTP10: isHTTP10, fields: fields)
    }

    private static func requestLine(
        _ line: UnsafeRawBufferPointer
    ) throws(Refusal) -> (HTTPRequest.Method, target: String, isHTTP10: Bool) {
        guard let first = line.firstIndex(of: space), let last = line.lastIndex(of: space), first < last,
            let method = HTTPRequest.Method(String(decoding: line[..<first], as: UTF8.self))
        else { throw .malformed }
        let target = line[(first + 1)..<last]
        guard !target.isEmpty, target.allSatisfy({ $0 > space && $0 != delete }),
            let text = String(validating: target, as: UTF8.self)
        else { throw .malformed }
        let version = line[(last + 1)...]
        guard version.count == 8, version.starts(with: "HTTP/".utf8), isDigit(version[last + 6]),
            version[last + 7] == UInt8(ascii: "."), isDigit(version[last + 8])
        else { throw .malformed }
        guard version[last + 6] == UInt8(ascii: "1") else { throw Refusal(.httpVersionNotSupported) }
        return (method, text, isHTTP10: version[last + 8] == UInt8(ascii: "0"))
    }

    private static func field(_ line: UnsafeRawBufferPointer) throws(Refusal) -> HTTPField {
        // A name is a token: a line that begins with a space continues the one before (RFC 9112 §5.2), and a space before
        // the colon may hide a name (§5.1). Neither is one.
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw .malformed }
        var value = line[(colon + 1)...]
        while let byte = value.first, byte == space || byte == tab { value.removeFirst() }
        while let byte = value.last, byte == space || byte == tab { value.removeLast() }
        // RFC 9110 §5.5: control characters are invalid; the transport would send none.
        guard value.allSatisfy({ $0 >= space && $0 != delete || $0 == tab }) else { throw .malformed }
        return HTTPField(name: name, lenientValue: value)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static let tab = UInt8(ascii: "\t")
    private static let lineFeedByte = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let space = UInt8(ascii: " ")
    private static let delete: UInt8 = 0x7f
}
