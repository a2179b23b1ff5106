internal import HTTPTypes
internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// How a client finds the end of a response (RFC 9112 §6.3), and the bytes that tell it so.
enum ResponseFraming: Hashable, Sendable {
    /// There is no content.
    case none
    case length(Int64)
    case chunked
    /// The content ends with the connection, as HTTP/1.0 has it.
    case untilClose

    /// The framing of the answer to `head`.
    ///
    /// - Parameter fields: Those of the response. Without a length, what stands there is not one number.
    init(status: HTTPResponse.Status, fields: HTTPFields, answering head: RequestHead) {
        // RFC 9110 §6.4.1: these have no content, whatever their fields say.
        if head.method == .head || status == .noContent || status == .notModified || status.kind == .informational {
            self = .none
            return
        }
        var lengths = fields.makeIterator()
        var length: Int64?
        while let field = lengths.next() {
            guard field.name == .contentLength else { continue }
            guard length == nil, let value = Int64(field.value), value >= 0 else {
                length = nil
                break
            }
            length = value
        }
        self = length.map { .length($0) } ?? (head.isHTTP10 ? .untilClose : .chunked)
    }

    /// Writes the head of a response: its fields as they are, and what this framing needs.
    ///
    /// - Parameter closes: Whether the connection ends with the response.
    func write(_ response: HTTPResponse, closes: Bool, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(String(response.status.code))
        buffer.writeStaticString(" ")
        buffer.writeString(response.status.reasonPhrase)
        for field in response.headerFields {
            if field.name == .contentLength, !keepsContentLength(response.status) { continue }
            buffer.writeStaticString("\r\n")
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            field.withUnsafeBytesOfValue { _ = buffer.writeBytes($0) }
        }
        if self == .chunked { buffer.writeStaticString("\r\nTransfer-Encoding: chunked") }
        if closes { buffer.writeStaticString("\r\nConnection: close") }
        buffer.writeStaticString("\r\n\r\n")
    }

    /// RFC 9110 §8.6 forbids it in a 204; beside chunks it says that the message was tampered with.
    private func keepsContentLength(_ status: HTTPResponse.Status) -> Bool {
        switch self {
        case .none: status != .noContent
        case .length: true
        case .chunked, .untilClose: false
        }
    }

    /// Writes a part of the content, which is not empty.
    func write(_ chunk: Data, into buffer: inout ByteBuffer) {
        guard self != .none else { return }
        if self == .chunked {
            buffer.writeString(String(chunk.count, radix: 16))
            buffer.writeStaticString("\r\n")
        }
        chunk.withUnsafeBytes { _ = buffer.writeBytes($0) }
        if self == .chunked { buffer.writeStaticString("\r\n") }
    }

    /// Writes what follows the content.
    func writeEnd(into buffer: inout ByteBuffer) {
        if self == .chunked { buffer.writeStaticString("0\r\n\r\n") }
    }
}
