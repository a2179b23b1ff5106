internal import TestSupport

private let date = "Sun, 06 Nov 1994 08:49:37 GMT"
private let before = "Sun, 06 Nov 1994 08:49:36 GMT"

@Suite struct IfRangeTests {
    @Test(
        "Whether a stored response may answer the range", .requirement("G14"),
        arguments: [
            (#""a""#, [#"ETag: "a""#], true),
            (#""a""#, [#"ETag: "b""#], false),
            (#""a""#, [#"ETag: W/"a""#], false),
            (#"W/"a""#, [#"ETag: W/"a""#], false),
            (#"W/"a""#, [#"ETag: "a""#], false),
            (#"a"#, [#"ETag: a"#], false),
            (#""a", "b""#, [#"ETag: "a""#], false),
            (#"*"#, [#"ETag: "a""#], false),
            (#""a""#, [], false),
            (#""a""#, [#"ETag: "a""#, #"ETag: "b""#], false),
            ("", [#"ETag: "a""#], false),
            // A Last-Modified equal to the Date is not strong.
            (before, ["Last-Modified: \(before)"], true),
            (date, ["Last-Modified: \(date)"], false),
            // Byte for byte: neither a later date nor another spelling.
            (date, ["Last-Modified: \(before)"], false),
            ("Sunday, 06-Nov-94 08:49:36 GMT", ["Last-Modified: \(before)"], false),
            ("sun, 06 nov 1994 08:49:36 gmt", ["Last-Modified: \(before)"], false),
            ("Sunday, 06-Nov-94 08:49:36 GMT", ["Last-Modified: Sunday, 06-Nov-94 08:49:36 GMT"], true),
            (before, [#"ETag: "a""#, "Last-Modified: \(before)"], true),
            (before, [], false),
            (before, ["Date: \(before)", "Last-Modified: \(before)"], false),
            (before, ["Last-Modified: \(before)", "Last-Modified: \(before)"], false),
            ("yesterday", ["Last-Modified: yesterday"], false),
        ] as [(String, [String], Bool)])
    func permits(value: String, stored lines: [String], isPermitted: Bool) {
        var fields = Sample.fields(lines)
        if !fields.contains(.date) { fields[.date] = date }
        let request = Sample.request("Range: bytes=0-1", "If-Range: \(value)")
        #expect(IfRange.permitsRange(request, stored: fields, responseTime: Sample.time()) == isPermitted)
    }

    @Test("Without If-Range the range is allowed; with two it is not", .requirement("G14"))
    func lines() {
        let fields = Sample.fields([#"ETag: "a""#])
        #expect(IfRange.permitsRange(Sample.request("Range: bytes=0-1"), stored: fields, responseTime: Sample.time()))
        let twice = Sample.request("Range: bytes=0-1", #"If-Range: "a""#, #"If-Range: "a""#)
        #expect(!IfRange.permitsRange(twice, stored: fields, responseTime: Sample.time()))
    }

    @Test(
        "The validator with which the cache asks for the rest of a response", .requirement("G15"),
        arguments: [
            ([#"ETag: "a""#], #""a""#),
            ([#"ETag: "a""#, "Last-Modified: \(before)"], #""a""#),
            (["Last-Modified: \(before)"], before),
            (["ETag:", "Last-Modified: \(before)"], before),
            ([#"ETag: W/"a""#], nil),
            ([#"ETag: W/"a""#, "Last-Modified: \(before)"], nil),
            (["ETag: a", "Last-Modified: \(before)"], nil),
            ([#"ETag: w/"a""#, "Last-Modified: \(before)"], nil),
            ([#"ETag: "a"b""#, "Last-Modified: \(before)"], nil),
            ([#"ETag: "a b""#, "Last-Modified: \(before)"], nil),
            ([#"ETag: ""#], nil),
            ([#"ETag: "a""#, #"ETag: "b""#], nil),
            (["Last-Modified: \(date)"], nil),
            (["Last-Modified: yesterday"], nil),
            ([], nil),
        ] as [([String], String?)])
    func field(lines: [String], value: String?) {
        var fields = Sample.fields(lines)
        fields[.date] = date
        let field = StrongValidator(fields, responseTime: Sample.time())?.ifRange
        #expect(field?.value == value)
        #expect(field.map { $0.name == .ifRange } ?? true)
    }

    @Test("If-Range has the bytes of the entity-tag", .requirement("G15", "P28"))
    func otherBytes() {
        var fields = HTTPFields([HTTPField(name: .eTag, value: [0x22, 0x80, 0xFF, 0x22])])
        fields[.date] = date
        let field = StrongValidator(fields, responseTime: Sample.time())?.ifRange
        #expect(field?.withUnsafeBytesOfValue { $0.elementsEqual([0x22, 0x80, 0xFF, 0x22]) } == true)
    }
}

@Suite struct StrongValidatorTests {
    private func validator(_ lines: [String], date: String? = date) -> StrongValidator? {
        var fields = Sample.fields(lines)
        if let date { fields[.date] = date }
        return StrongValidator(fields, responseTime: Sample.time())
    }

    @Test(
        "The responses that have bytes of one representation", .requirement("G06"),
        arguments: [
            ([#"ETag: "a""#], [#"ETag: "a""#], true),
            ([#"ETag: "a""#], [#"ETag: "a""#, "Last-Modified: \(before)"], true),
            ([#"ETag: "a""#], [#"ETag: "b""#], false),
            ([#"ETag: "a""#, "Last-Modified: \(before)"], [#"ETag: "b""#, "Last-Modified: \(before)"], false),
            (["Last-Modified: \(before)"], ["Last-Modified: \(before)"], true),
            // Only one response has an entity-tag: the dates decide nothing.
            ([#"ETag: "a""#, "Last-Modified: \(before)"], ["Last-Modified: \(before)"], false),
        ] as [([String], [String], Bool)])
    func equality(one: [String], other: [String], isSame: Bool) throws {
        let first = try #require(validator(one))
        let second = try #require(validator(other))
        #expect((first == second) == isSame)
    }

    @Test(
        "Combines no responses without a strong validator", .requirement("G06"),
        arguments: [
            [], [#"ETag: W/"a""#], [#"ETag: W/"a""#, "Last-Modified: \(before)"], ["Last-Modified: \(date)"],
            ["Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT"],
        ])
    func none(lines: [String]) { #expect(validator(lines) == nil) }

    @Test("Without a Date, Last-Modified is not strong", .requirement("G06"))
    func noDate() {
        #expect(validator(["Last-Modified: \(before)"], date: nil) == nil)
        #expect(validator(["Last-Modified: \(before)"], date: "now") == nil)
        #expect(validator([#"ETag: "a""#], date: nil) != nil)
    }
}
