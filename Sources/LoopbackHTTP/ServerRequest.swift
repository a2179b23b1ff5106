package import HTTPTypes
internal import NIOCore
internal import NIOHTTP1

/// A complete request.
package struct ServerRequest: Sendable {
    package let method: HTTPRequest.Method
    /// The request target as received.
    package let target: String
    /// The header fields, including `Host`.
    package let fields: HTTPFields
    /// Whether the client expects to send further requests on the connection (RFC 9112 §9.3).
    package let keepsAlive: Bool
    /// The content without chunk framing, up to the limit of the server.
    package private(set) var content: [UInt8] = []
    /// Whether the content was longer than the limit.
    package private(set) var isTooLarge = false

    /// Returns `nil` for a method that is not a token.
    init?(_ head: HTTPRequestHead) {
        guard let method = HTTPRequest.Method(head.method.rawValue) else { return nil }
        var fields = HTTPFields()
        for (name, value) in head.headers {
            guard let name = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        self.method = method
        target = head.uri
        self.fields = fields
        keepsAlive = head.isKeepAlive
    }

    mutating func append(_ bytes: ByteBuffer, limit: Int) {
        let room = limit - content.count
        content += bytes.readableBytesView.prefix(room)
        if bytes.readableBytes > room { isTooLarge = true }
    }
}
