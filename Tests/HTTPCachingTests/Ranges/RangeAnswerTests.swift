internal import TestSupport

@Suite struct RangeAnswerTests {
    private let head = HTTPResponse(
        status: .ok,
        headerFields: Sample.fields([
            "Date: \(Sample.time())", "ETag: \"a\"", "Content-Type: text/plain", "Content-Length: 1000",
            "Cache-Control: max-age=60", "Age: 5", "Vary: Accept", "Accept-Ranges: bytes", "Set-Cookie: a=b",
            "X-Own: yes", "Content-Digest: sha-256=:AAAA:",
        ]))

    private func answer(_ answer: RangeAnswer, of length: Int64? = 1000) throws -> StoredAnswer {
        try #require(StoredAnswer(answer, head: head, completeLength: length, seed: "seed"))
    }

    @Test("One part is a 206 with its own length and all other fields", .requirement("G03", "G04"))
    func part() throws {
        let answer = try answer(.part(bytes(10, 30)))
        #expect(answer.head.status == .partialContent)
        #expect(answer.content == .segments([.stored(10..<30)]))
        var fields = head.headerFields
        fields[.contentLength] = "20"
        fields[.contentRange] = "bytes 10-29/1000"
        fields.removeAll { $0.name.canonicalName == "content-digest" }
        #expect(answer.head.headerFields == fields)
    }

    @Test("The Content-Range of a part of unknown length has `*`", .requirement("G10", "G03"))
    func unknownLength() throws {
        #expect(try answer(.part(bytes(10, 30)), of: nil).head.headerFields[.contentRange] == "bytes 10-29/*")
    }

    @Test("Several parts are multipart/byteranges of exactly the announced length", .requirement("G03", "G17"))
    func parts() throws {
        let answer = try answer(.parts([bytes(500, 510), bytes(0, 1)]))
        let fields = answer.head.headerFields
        #expect(answer.head.status == .partialContent)
        #expect(fields[.contentRange] == nil)
        let type = try #require(fields[.contentType])
        let prefix = "multipart/byteranges; boundary="
        #expect(type.hasPrefix(prefix))
        let boundary = type.dropFirst(prefix.count)
        #expect(boundary.utf8.count == 32)
        var text = ""
        guard case .segments(let segments) = answer.content else { return #expect(Bool(false), "\(answer.content)") }
        for segment in segments {
            switch segment {
            case .bytes(let bytes): text += String(decoding: bytes, as: UTF8.self)
            case .stored(let range): text += String(repeating: "x", count: Int(range.count))
            }
        }
        #expect(
            text == """
                --\(boundary)\r
                Content-Type: text/plain\r
                Content-Range: bytes 500-509/1000\r
                \r
                xxxxxxxxxx\r
                --\(boundary)\r
                Content-Type: text/plain\r
                Content-Range: bytes 0-0/1000\r
                \r
                x\r
                --\(boundary)--\r

                """)
        #expect(fields[.contentLength] == String(text.utf8.count))
        #expect(fields[.eTag] == "\"a\"")
    }

    @Test("The boundary depends only on the seed", .requirement("G17"))
    func boundary() throws {
        func type(_ seed: String) -> String? {
            StoredAnswer(.parts([bytes(0, 1), bytes(4, 5)]), head: head, completeLength: 1000, seed: seed)?
                .head.headerFields[.contentType]
        }
        #expect(type("one") == type("one"))
        #expect(type("one") != type("other"))
        #expect(type("")?.utf8.count == type(String(repeating: "é", count: 500))?.utf8.count)
    }

    @Test("Parts of an encoded representation are never sent in one message", .requirement("G16", "G17"))
    func encoded() {
        var encoded = head
        encoded.headerFields[.contentEncoding] = "gzip"
        let parts = RangeAnswer.parts([bytes(0, 1), bytes(4, 5)])
        #expect(StoredAnswer(parts, head: encoded, completeLength: 1000, seed: "") == nil)
        #expect(StoredAnswer(.part(bytes(0, 1)), head: encoded, completeLength: 1000, seed: "") != nil)
    }

    @Test("A 416 has the length, no body, and no fields that make it storable", .requirement("G12"))
    func unsatisfiable() throws {
        let answer = try answer(.unsatisfiable)
        #expect(answer.head.status == .rangeNotSatisfiable)
        #expect(answer.content == .segments([]))
        #expect(
            answer.head.headerFields
                == Sample.fields([
                    "Vary: Accept", "Accept-Ranges: bytes", "Content-Range: bytes */1000", "Content-Length: 0",
                ]))
    }

    @Test("The whole is a 200", .requirement("G11", "G17"), arguments: [0, 1, 1000, .max] as [Int64])
    func whole(length: Int64) throws {
        var head = head
        head.headerFields[.contentRange] = "bytes 0-9/1000"
        let answer = try #require(StoredAnswer(.whole, head: head, completeLength: length, seed: ""))
        #expect(answer.head.status == .ok)
        #expect(answer.head.headerFields[.contentLength] == String(length))
        #expect(answer.head.headerFields[.contentRange] == nil)
        #expect(answer.content == .segments(length == 0 ? [] : [.stored(0..<length)]))
    }

    @Test("Ranges that cannot be delivered", .requirement("G03", "G09"))
    func impossible() {
        let answers: [(RangeAnswer, Int64?)] = [
            (.whole, nil), (.whole, -1), (.unsatisfiable, nil), (.part(bytes(0, 10)), 9), (.parts([]), 10),
            (.parts([bytes(0, 1), bytes(9, 11)]), 10), (.parts([bytes(0, .max - 1), bytes(.max - 1, .max)]), nil),
        ]
        for (answer, length) in answers {
            #expect(StoredAnswer(answer, head: head, completeLength: length, seed: "") == nil, "\(answer)")
        }
    }
}
