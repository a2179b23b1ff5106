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
    /// - Parameter byteCount: The length of the content, if it is known without a field that says it.
    init(_ response: HTTPResponse, byteCount: Int64?, answering head: RequestHead) {
        let status = response.status
        // RFC 9110 §6.4.1: these have no content, whatever their fields say.
        if head.method == .head || status == .noContent || status == .notModified || status.kind == .informational {
            self = .none
            return
        }
        let length = Self.declaredLength(response.headerFields) ?? byteCount
        self = length.map { .length($0) } ?? (head.isHTTP10 ? .untilClose : .chunked)
    }

    /// The one number that `Content-Length` says.
    private static func declaredLength(_ fields: HTTPFields) -> Int64? {
        var length: Int64?
        for field in fields where field.name == .contentLength {
            guard length == nil, let value = Int64(field.value), value >= 0 else { return nil }
            length = value
        }
        return length
    }

    /// Writes the head of a response: its fields as they are, and what this framing needs.
    ///
    /// - Parameter closes: Whether the connection ends with the response.
    func write(_ response: HTTPResponse, closes: Bool, into buffer: inout ByteBuffer) {
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(String(response.status.code))
        buffer.writeStaticString(" ")
        buffer.writeString(response.status.reasonPhrase)
        var needsLength = if case .length = self { true } else { false }
        for field in response.headerFields {
            if field.name == .contentLength {
                guard keepsContentLength(response.status) else { continue }
                needsLength = false
            }
            buffer.writeStaticString("\r\n")
            buffer.writeString(field.name.rawName)
            buffer.writeStaticString(": ")
            field.withUnsafeBytesOfValue { _ = buffer.writeBytes($0) }
        }
        if needsLength, case .length(let length) = self {
            buffer.writeStaticString("\r\nContent-Length: ")
            buffer.writeString(String(length))
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
