/// Encodes the head with the names of the properties. Times are seconds since 1970. Each field is a pair of its name
/// and its bytes. Bytes are one character each (ISO 8859-1), because a value need not be UTF-8 (RFC 9110 §5.5).
/// Decoding throws `DecodingError` for a missing or invalid property. A part of `null` counts as absent.
extension StoredResponse: Codable {
    private struct Encoded: Codable {
        struct Part: Codable {
            let start: Int64
            let end: Int64
            let completeLength: Int64?
        }

        enum CodingKeys: String, CodingKey {
            case status, reasonPhrase, fields, requestTime, responseTime, varyKey, hasIntactBody, isBodyDecoded, part
        }

        let status: Int
        let reasonPhrase: String
        let fields: [[String]]
        let requestTime: Int64
        let responseTime: Int64
        let varyKey: String
        let hasIntactBody: Bool
        let isBodyDecoded: Bool
        let part: Part?
    }

    /// Encodes all properties.
    public func encode(to encoder: any Encoder) throws {
        let part = part.map {
            Encoded.Part(start: $0.bytes.lowerBound, end: $0.bytes.upperBound, completeLength: $0.completeLength)
        }
        let encoded = Encoded(
            status: status.code, reasonPhrase: status.reasonPhrase,
            fields: fields.map { [$0.name.rawName, $0.latin1Value] }, requestTime: requestTime.secondsSince1970,
            responseTime: responseTime.secondsSince1970, varyKey: varyKey.text, hasIntactBody: hasIntactBody,
            isBodyDecoded: isBodyDecoded, part: part)
        try encoded.encode(to: encoder)
    }

    /// Decodes a response. Throws `DecodingError` for invalid properties.
    public init(from decoder: any Decoder) throws {
        let encoded = try Encoded(from: decoder)
        func corrupted(_ key: Encoded.CodingKeys, _ reason: String) -> DecodingError {
            .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath + [key], debugDescription: reason))
        }

        // HTTPResponse.Status traps on any other code.
        guard (0...999).contains(encoded.status) else {
            throw corrupted(.status, "\(encoded.status) is not a status code")
        }
        // HTTPFields traps at 65,535 fields.
        guard encoded.fields.count < 65_535 else { throw corrupted(.fields, "\(encoded.fields.count) fields") }
        var fields = HTTPFields()
        for line in encoded.fields {
            guard line.count == 2, let name = HTTPField.Name(line[0]),
                let field = HTTPField(name: name, latin1Value: line[1])
            else { throw corrupted(.fields, "\(line) is not a field") }
            fields.append(field)
        }
        let part = try encoded.part.map { part in
            guard part.start < part.end,
                let decoded = StoredPart(bytes: part.start..<part.end, completeLength: part.completeLength)
            else { throw corrupted(.part, "\(part) is not a part of the body") }
            return decoded
        }
        self.init(
            status: HTTPResponse.Status(code: encoded.status, reasonPhrase: encoded.reasonPhrase), fields: fields,
            requestTime: HTTPDate(secondsSince1970: encoded.requestTime),
            responseTime: HTTPDate(secondsSince1970: encoded.responseTime), varyKey: VaryKey(text: encoded.varyKey),
            hasIntactBody: encoded.hasIntactBody, isBodyDecoded: encoded.isBodyDecoded, part: part)
    }
}

extension HTTPField {
    /// The bytes of the value, one character each.
    fileprivate var latin1Value: String { withUnsafeBytesOfValue { $0.latin1Text } }

    /// Returns `nil` for a character beyond ISO 8859-1.
    fileprivate init?(name: Name, latin1Value: String) {
        var bytes: [UInt8] = []
        for scalar in latin1Value.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        self.init(name: name, lenientValue: bytes)
    }
}
