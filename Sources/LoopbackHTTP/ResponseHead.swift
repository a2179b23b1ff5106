package import HTTPTypes

/// Encodes the head of a response as bytes.
package enum ResponseHead {
    package static func bytes(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> [UInt8] {
        var bytes = Array("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n".utf8)
        for field in fields {
            bytes += "\(field.name.rawName): ".utf8
            field.withUnsafeBytesOfValue { bytes += $0 }
            bytes += "\r\n".utf8
        }
        bytes += "\r\n".utf8
        return bytes
    }
}

extension HTTPResponse.Status {
    /// RFC 9110 §6.4.1: these statuses have no content, regardless of their fields.
    package var hasNoContent: Bool {
        kind == .informational || self == .noContent || self == .notModified
    }
}
