internal import TestSupport

/// The bytes from `first` to `end`.
func bytes(_ first: Int64, _ end: Int64) -> Range<Int64> { first..<end }

@Suite struct ContentRangeTests {
    private func read(_ value: String) -> StoredPart? {
        StoredPart(contentRange: Sample.fields(["Content-Range: \(value)"]))
    }

    @Test(
        "Valid Content-Range values", .requirement("G09", "G10", "G12"),
        arguments: [
            ("bytes 0-99/100", bytes(0, 100), 100),
            ("bytes 0-0/1", bytes(0, 1), 1),
            ("bytes 5-9/100", bytes(5, 10), 100),
            ("bytes 0-99/*", bytes(0, 100), nil),
            ("bytes 0-9223372036854775805/9223372036854775807", bytes(0, .max - 1), .max),
            ("bytes 0-9223372036854775806/9223372036854775807", bytes(0, .max), .max),
        ] as [(String, Range<Int64>, Int64?)])
    func valid(value: String, range: Range<Int64>, length: Int64?) throws {
        let part = try #require(read(value))
        #expect(part.bytes == range)
        #expect(part.completeLength == length)
        #expect(part.contentRange == value)
    }

    @Test(
        "Case, leading zeros and outer whitespace do not count", .requirement("G09"),
        arguments: ["Bytes 00-099/0100", " BYTES 0-99/100\t"])
    func normal(value: String) { #expect(read(value)?.contentRange == "bytes 0-99/100") }

    @Test(
        "Invalid Content-Range values", .requirement("G09"),
        arguments: [
            "", "bytes", "bytes ", "bytes */*", "bytes */", "bytes *", "bytes 0-99", "bytes 0-99/", "bytes -99/100",
            "bytes 0-/100", "bytes -/100", "bytes 99-0/100", "bytes 5-4/100", "bytes 0-99/99", "bytes 0-99/0",
            "bytes 100-100/100", "bytes=0-99/100", "bytes: 0-99/100", "bytes  0-99/100", "bytes\t0-99/100",
            "0-99/100", " 0-99/100", "items 0-99/100", "bytes 0 - 99/100", "bytes 0-99 /100", "bytes 0-99/ 100",
            "bytes 0-99/100, bytes 0-99/100", "bytes 0-99/100;", "bytes 0-99/100 x", "bytes +0-99/100",
            // The length in a 416 belongs to no part.
            "bytes */100", "bytes */0",
            "bytes a-b/c", "bytes 0-99/**", "bytes 0-99/*1", "bytes **/100", "bytes 0x0-99/100",
            // Overflow
            "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775807/9223372036854775807",
            "bytes 0-9223372036854775808/*", "bytes 0-99/9223372036854775808", "bytes */9223372036854775808",
            "bytes 99999999999999999999-99999999999999999999/*", "bytes 0-1/99999999999999999999999999",
        ])
    func invalid(value: String) { #expect(read(value) == nil) }

    @Test("A missing or repeated Content-Range", .requirement("G09"))
    func lines() {
        #expect(StoredPart(contentRange: HTTPFields()) == nil)
        let line = "Content-Range: bytes 0-1/2"
        #expect(StoredPart(contentRange: Sample.fields([line, line])) == nil)
        #expect(StoredPart(contentRange: Sample.fields([line])) != nil)
    }
}

@Suite struct StoredPartTests {
    @Test(
        "A part with all bytes from the first to the last is complete", .requirement("G08", "G10"),
        arguments: [
            (bytes(0, 10), 10, true), (bytes(0, 10), 11, false), (bytes(1, 10), 10, false), (bytes(0, 10), nil, false),
            (bytes(0, .max), .max, true),
        ] as [(Range<Int64>, Int64?, Bool)])
    func complete(range: Range<Int64>, length: Int64?, isComplete: Bool) throws {
        let part = try #require(StoredPart(bytes: range, completeLength: length))
        #expect(part.isComplete == isComplete)
        #expect(StoredPart(contentRange: [.contentRange: part.contentRange]) == part)
    }

    @Test(
        "A part has a byte and no negative offset", .requirement("G09", "G11"),
        arguments: [
            (5..<9, true), ((.max - 1)..<(.max), true), (0..<(.max), true),
            (0..<0, false), (5..<5, false), (-1..<5, false), (.min..<(.max), false), (.min..<(.min), false),
        ] as [(Range<Int64>, Bool)])
    func creation(range: Range<Int64>, isPart: Bool) {
        let part = StoredPart(bytes: range, completeLength: nil)
        #expect((part != nil) == isPart)
        #expect(part?.byteCount == (isPart ? range.upperBound - range.lowerBound : nil))
    }

    @Test("A part is not longer than the whole", .requirement("G09"), arguments: [9, 0, -1, .min] as [Int64])
    func beyond(length: Int64) { #expect(StoredPart(bytes: bytes(0, 10), completeLength: length) == nil) }
}
