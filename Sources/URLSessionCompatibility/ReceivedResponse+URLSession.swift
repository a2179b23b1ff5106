internal import CacheLoader
internal import CacheStore
internal import Foundation

extension HTTPFields {
    /// Creates fields from Foundation's names and values. Omits a name that is no token (RFC 9110 §5.6.2).
    init(_ fields: some Sequence<(name: String, value: String)>) {
        self.init()
        for (name, value) in fields {
            if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
        }
    }
}

extension ReceivedResponse {
    /// Removes the fields that describe the encoded bytes, if `URLSession` has decoded the body.
    mutating func removeCoding(if isRemoved: (_ codings: String) -> Bool) {
        guard let codings = head.headerFields[.contentEncoding], isRemoved(codings) else { return }
        head.headerFields.removeEncodedDescription()
        isBodyDecoded = true
    }

    /// Whether the head announces a body of a different length.
    func contradicts(byteCount: Int64) -> Bool {
        guard let announced = head.headerFields[.contentLength].flatMap({ Int64($0) }) else { return false }
        return announced != byteCount
    }
}
