internal import HTTPTypes

/// Encodes the head with the names of the properties. Times are seconds since 1970. Each field is a pair of its name
/// and its bytes. Bytes are one character each (ISO 8859-1), because a value need not be UTF-8 (RFC 9110 §5.5).
/// Decoding accepts every encoded response, and throws `DecodingError` for anything else.
extension StoredResponse: Codable {
    private enum CodingKeys: String, CodingKey {
        case status, reasonPhrase, fields, requestTime, responseTime, varyKey, hasIntactBody, isBodyDecoded, part
    }

    private enum PartKeys: String, CodingKey {
        case start, end, completeLength
    }

    /// Encodes all properties.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status.code, forKey: .status)
        try container.encode(status.reasonPhrase, forKey: .reasonPhrase)
        try container.encode(fields.map { [$0.name.rawName, $0.latin1Value] }, forKey: .fields)
        try container.encode(requestTime.secondsSince1970, forKey: .requestTime)
        try container.encode(responseTime.secondsSince1970, forKey: .responseTime)
        try container.encode(varyKey.text, forKey: .varyKey)
        try container.encode(hasIntactBody, forKey: .hasIntactBody)
        try container.encode(isBodyDecoded, forKey: .isBodyDecoded)
        guard let part else { return }
        var partContainer = container.nestedContainer(keyedBy: PartKeys.self, forKey: .part)
        try partContainer.encode(part.bytes.lowerBound, forKey: .start)
        try partContainer.encode(part.bytes.upperBound, forKey: .end)
        try partContainer.encodeIfPresent(part.completeLength, forKey: .completeLength)
    }

    /// Decodes a response. Throws `DecodingError` for invalid properties.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func corrupted(_ key: CodingKeys, _ reason: String) -> DecodingError {
            .dataCorruptedError(forKey: key, in: container, debugDescription: reason)
        }

        let code = try container.decode(Int.self, forKey: .status)
        // HTTPResponse.Status traps on any other code.
        guard (0...999).contains(code) else { throw corrupted(.status, "\(code) is not a status code") }
        let reasonPhrase = try container.decode(String.self, forKey: .reasonPhrase)

        let lines = try container.decode([[String]].self, forKey: .fields)
        // HTTPFields traps on 65,536 fields.
        guard lines.count <= 65_535 else { throw corrupted(.fields, "\(lines.count) fields") }
        var fields = HTTPFields()
        for line in lines {
            guard line.count == 2, let name = HTTPField.Name(line[0]),
                let field = HTTPField(name: name, latin1Value: line[1])
            else { throw corrupted(.fields, "\(line) is not a field") }
            fields.append(field)
        }

        var part: StoredPart?
        if container.contains(.part) {
            let partContainer = try container.nestedContainer(keyedBy: PartKeys.self, forKey: .part)
            let start = try partContainer.decode(Int64.self, forKey: .start)
            let end = try partContainer.decode(Int64.self, forKey: .end)
            let completeLength = try partContainer.decodeIfPresent(Int64.self, forKey: .completeLength)
            guard start < end, let decoded = StoredPart(bytes: start..<end, completeLength: completeLength) else {
                throw corrupted(.part, "\(start)..<\(end) is not a part of \(completeLength ?? .max) bytes")
            }
            part = decoded
        }

        self.init(
            status: HTTPResponse.Status(code: code, reasonPhrase: reasonPhrase), fields: fields,
            requestTime: HTTPDate(secondsSince1970: try container.decode(Int64.self, forKey: .requestTime)),
            responseTime: HTTPDate(secondsSince1970: try container.decode(Int64.self, forKey: .responseTime)),
            varyKey: VaryKey(text: try container.decode(String.self, forKey: .varyKey)),
            hasIntactBody: try container.decode(Bool.self, forKey: .hasIntactBody),
            isBodyDecoded: try container.decode(Bool.self, forKey: .isBodyDecoded), part: part)
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
