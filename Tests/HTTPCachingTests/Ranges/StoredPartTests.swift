internal import HTTPCaching
internal import HTTPTypes
internal import Testing

@Suite struct ContentRangeTests {
    private func contentRange(_ value: String) -> ContentRange? {
        ContentRange(Sample.fields(["Content-Range: \(value)"]))
    }

    @Test(
        "G09, G10, G12: a Content-Range that is valid",
        arguments: [
            ("bytes 0-99/100", bytes(0, 100), 100),
            ("bytes 0-0/1", bytes(0, 1), 1),
            ("bytes 5-9/100", bytes(5, 10), 100),
            ("bytes 0-99/*", bytes(0, 100), nil),
            ("bytes */100", nil, 100),
            ("bytes */0", nil, 0),
            ("bytes 0-9223372036854775805/9223372036854775807", bytes(0, .max - 1), .max),
            ("bytes 0-9223372036854775806/9223372036854775807", bytes(0, .max), .max),
        ] as [(String, ByteRange?, Int64?)])
    func valid(value: String, range: ByteRange?, length: Int64?) throws {
        let parsed = try #require(contentRange(value))
        #expect(parsed.range == range)
        #expect(parsed.completeLength == length)
        #expect(parsed.fieldValue == value)
        #expect(parsed.part?.range == range)
        #expect(parsed.part?.completeLength == (range == nil ? nil : length))
    }

    @Test("G09: case, zeros and outer whitespace do not matter", arguments: ["Bytes 00-099/0100", " BYTES 0-99/100\t"])
    func normal(value: String) {
        #expect(contentRange(value)?.fieldValue == "bytes 0-99/100")
    }

    @Test(
        "G09: a Content-Range that is not",
        arguments: [
            "", "bytes", "bytes ", "bytes */*", "bytes */", "bytes *", "bytes 0-99", "bytes 0-99/", "bytes -99/100",
            "bytes 0-/100", "bytes -/100", "bytes 99-0/100", "bytes 5-4/100", "bytes 0-99/99", "bytes 0-99/0",
            "bytes 100-100/100", "bytes=0-99/100", "bytes: 0-99/100", "bytes  0-99/100", "bytes\t0-99/100",
            "0-99/100", " 0-99/100", "items 0-99/100", "bytes 0 - 99/100", "bytes 0-99 /100", "bytes 0-99/ 100",
            "bytes 0-99/100, bytes 0-99/100", "bytes 0-99/100;", "bytes 0-99/100 x", "bytes +0-99/100",
            "bytes a-b/c", "bytes 0-99/**", "bytes 0-99/*1", "bytes **/100", "bytes 0x0-99/100",
            // Overflow
            "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775807/9223372036854775807",
            "bytes 0-9223372036854775808/*", "bytes 0-99/9223372036854775808", "bytes */9223372036854775808",
            "bytes 99999999999999999999-99999999999999999999/*", "bytes 0-1/99999999999999999999999999",
        ])
    func invalid(value: String) {
        #expect(contentRange(value) == nil)
    }

    @Test("G09: missing, or there twice")
    func lines() {
        #expect(ContentRange(HTTPFields()) == nil)
        let line = "Content-Range: bytes 0-1/2"
        #expect(ContentRange(Sample.fields([line, line])) == nil)
        #expect(ContentRange(Sample.fields([line])) != nil)
    }

    @Test("G12: the fields of a 416")
    func unsatisfied() {
        #expect(ContentRange.unsatisfied(completeLength: 47).fieldValue == "bytes */47")
        #expect(ContentRange.unsatisfied(completeLength: 0).fieldValue == "bytes */0")
        #expect(ContentRange.unsatisfied(completeLength: -1).description == "bytes */0")
    }
}

@Suite struct StoredPartTests {
    @Test(
        "G08, G10: complete is what has the first byte and all the others",
        arguments: [
            (bytes(0, 10), 10, true), (bytes(0, 10), 11, false), (bytes(1, 10), 10, false), (bytes(0, 10), nil, false),
            (bytes(0, .max), .max, true),
        ] as [(ByteRange, Int64?, Bool)])
    func complete(range: ByteRange, length: Int64?, isComplete: Bool) throws {
        let part = try #require(StoredPart(range: range, completeLength: length))
        #expect(part.isComplete == isComplete)
        #expect(ContentRange(part).part == part)
    }

    @Test("G09: a part is not longer than the whole", arguments: [9, 0, -1, .min] as [Int64])
    func beyond(length: Int64) {
        #expect(StoredPart(range: bytes(0, 10), completeLength: length) == nil)
    }
}
