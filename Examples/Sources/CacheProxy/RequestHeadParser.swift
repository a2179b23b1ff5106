internal import HTTPTypes
internal import NIOCore

/// Parses request heads from the bytes of a connection (RFC 9112 §2–5).
///
/// NIO's decoder would not do: it has a fixed list of methods, and converts values to strings, which changes bytes
/// beyond ASCII. The parser is strict: recipients may disagree about the end of an ambiguous line or request, so the
/// proxy forwards no ambiguous request.
struct RequestHeadParser {
    /// The longest head in bytes.
    static let maxByteCount = 65_536

    /// The number of bytes at the front of the buffer that contain no end of a head.
    private var scannedByteCount = 0

    /// Removes the next head from `buffer`. Returns `nil` for an incomplete head.
    mutating func next(_ buffer: inout ByteBuffer) throws(Refusal) -> RequestHead? {
        if scannedByteCount == 0 { Self.skipEmptyLines(&buffer) }
        let start = scannedByteCount
        let end = try buffer.withUnsafeReadableBytes { (bytes) throws(Refusal) in
            try Self.endOfHead(bytes, from: start)
        }
        guard let end else {
            guard buffer.readableBytes <= Self.maxByteCount else { throw Refusal(.requestHeaderFieldsTooLarge) }
            // The last bytes may begin the end of the head.
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

    /// Skips empty lines before a request (RFC 9112 §2.2).
    private static func skipEmptyLines(_ buffer: inout ByteBuffer) {
        while buffer.getInteger(at: buffer.readerIndex, as: UInt16.self) == 0x0d0a {
            buffer.moveReaderIndex(forwardBy: 2)
        }
    }

    /// Returns the index after the empty line that ends the head.
    private static func endOfHead(_ bytes: UnsafeRawBufferPointer, from start: Int) throws(Refusal) -> Int? {
        var index = start
        while let lineFeed = bytes[index...].firstIndex(of: lineFeedByte) {
            // RFC 9112 §2.2: a recipient may treat a line feed without a carriage return as a line end. This parser
            // refuses such a line feed.
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
        // The check for a token refuses a line that begins with a space, an obsolete continuation (RFC 9112 §5.2). The
        // check also refuses a space before the colon, which may hide a name (§5.1).
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let name = HTTPField.Name(String(decoding: line[..<colon], as: UTF8.self))
        else { throw .malformed }
        var value = line[(colon + 1)...]
        while let byte = value.first, byte == space || byte == tab { value.removeFirst() }
        while let byte = value.last, byte == space || byte == tab { value.removeLast() }
        // RFC 9110 §5.5: control characters are invalid, and the transport would not send them.
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
