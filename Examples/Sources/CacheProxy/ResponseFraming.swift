internal import HTTPTypes
internal import NIOCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The framing of a response (RFC 9112 §6.3).
enum ResponseFraming: Hashable, Sendable {
    /// No content.
    case none
    case length(Int64)
    case chunked
    /// The end of the connection ends the content, as in HTTP/1.0.
    case untilClose

    /// Chooses the framing for the response to `head`.
    ///
    /// - Parameter byteCount: The length of the content, if it is known without Content-Length.
    init(_ response: HTTPResponse, byteCount: Int64?, answering head: RequestHead) {
        let status = response.status
        // RFC 9110 §6.4.1: these responses have no content, regardless of their fields.
        if head.method == .head || status == .noContent || status == .notModified || status.kind == .informational {
            self = .none
            return
        }
        let length = Self.declaredLength(response.headerFields) ?? byteCount
        self = length.map { .length($0) } ?? (head.isHTTP10 ? .untilClose : .chunked)
    }

    /// Returns the length in `Content-Length`, or `nil` without exactly one valid line.
    private static func declaredLength(_ fields: HTTPFields) -> Int64? {
        var length: Int64?
        for field in fields where field.name == .contentLength {
            guard length == nil, let value = Int64(field.value), value >= 0 else { return nil }
            length = value
        }
        return length
    }

    /// Writes the head of a response: its fields unchanged, and the fields of this framing.
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

    /// Whether to keep Content-Length. RFC 9110 §8.6 forbids it in a 1xx and a 204. With chunked coding it may indicate
    /// an attack (RFC 9112 §6.3).
    private func keepsContentLength(_ status: HTTPResponse.Status) -> Bool {
        switch self {
        case .none: status != .noContent && status.kind != .informational
        case .length: true
        case .chunked, .untilClose: false
        }
    }

    /// Writes a non-empty part of the content.
    func write(_ chunk: Data, into buffer: inout ByteBuffer) {
        guard self != .none else { return }
        if self == .chunked {
            buffer.writeString(String(chunk.count, radix: 16))
            buffer.writeStaticString("\r\n")
        }
        chunk.withUnsafeBytes { _ = buffer.writeBytes($0) }
        if self == .chunked { buffer.writeStaticString("\r\n") }
    }

    /// Writes the end of the content.
    func writeEnd(into buffer: inout ByteBuffer) {
        if self == .chunked { buffer.writeStaticString("0\r\n\r\n") }
    }
}
