import TestSupport

@Suite struct StoredResponseCodableTests {
    private func decode(_ json: String) throws -> StoredResponse {
        try JSONDecoder().decode(StoredResponse.self, from: Data(json.utf8))
    }

    /// An encoded response with one property replaced.
    private func json(
        status: String = "200", fields: String = "[]", varyKey: String = "\"\"", part: String? = nil
    ) -> String {
        """
        {"status": \(status), "reasonPhrase": "", "fields": \(fields), "requestTime": 1, "responseTime": 2,
         "varyKey": \(varyKey), "hasIntactBody": true, "isBodyDecoded": false\(part.map { ", \"part\": \($0)" } ?? "")}
        """
    }

    @Test("A decoded response equals the encoded one")
    func roundTrip() throws {
        var response = Sample.stored(
            "Set-Cookie: a=1", "Vary: Accept-Language", "Set-Cookie: b=2", "ETag: W/\"é\"", status: .notFound,
            requested: -3, received: 4, for: Sample.request("Accept-Language: de"), hasIntactBody: false,
            isBodyDecoded: true)
        for part in [
            nil, StoredPart(bytes: 3..<9, completeLength: nil), StoredPart(bytes: 0..<9, completeLength: 9),
        ] {
            response.part = part
            let decoded = try JSONDecoder().decode(StoredResponse.self, from: JSONEncoder().encode(response))
            #expect(decoded == response)
            #expect(decoded.status.reasonPhrase == response.status.reasonPhrase)
        }
    }

    @Test("RFC 9110 §5.5: keeps values that are not UTF-8 or invalid")
    func otherBytes() throws {
        let bytes: [UInt8] = Array(1...9) + [11, 12] + Array(14...255)
        var response = Sample.stored()
        response.fields.append(HTTPField(name: .server, lenientValue: bytes))
        let decoded = try JSONDecoder().decode(StoredResponse.self, from: JSONEncoder().encode(response))
        let field = try #require(decoded.fields.first { $0.name == .server })
        #expect(field.withUnsafeBytesOfValue(Array.init) == bytes)
    }

    @Test("The names and the values of the encoding stay stable")
    func format() throws {
        let decoded = try decode(
            json(
                fields: #"[["ETag", "\"a\""], ["Date", "x"]]"#, varyKey: #""accept: a/b""#,
                part: #"{"start": 2, "end": 5, "completeLength": 9}"#))
        let expected = StoredResponse(
            status: .ok, fields: Sample.fields(["ETag: \"a\"", "Date: x"]), requestTime: HTTPDate(secondsSince1970: 1),
            responseTime: HTTPDate(secondsSince1970: 2), varyKey: VaryKey(text: "accept: a/b"),
            part: StoredPart(bytes: 2..<5, completeLength: 9))
        #expect(decoded == expected)
    }

    @Test("Decoding other text throws, and never traps")
    func corrupted() {
        let many = "[" + Array(repeating: #"["a","b"]"#, count: 65_535).joined(separator: ",") + "]"
        for json in [
            json(status: "1000"), json(status: "-1"), json(status: "\"200\""), json(fields: #"[["a b", ""]]"#),
            json(fields: #"[[":status", "1"]]"#), json(fields: #"[["a"]]"#), json(fields: #"[["a", "\u0100"]]"#),
            json(fields: many), json(part: #"{"start": 5, "end": 5}"#), json(part: #"{"start": 5, "end": 2}"#),
            json(part: #"{"start": -1, "end": 2}"#), json(part: #"{"start": 0, "end": 9, "completeLength": 8}"#),
            json(varyKey: "null"), "{}",
        ] {
            #expect(throws: DecodingError.self) { try decode(json) }
        }
    }
}
