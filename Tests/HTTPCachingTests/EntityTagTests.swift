internal import TestSupport

@Suite struct EntityTagTests {
    private func tag(_ value: String) -> EntityTag? { EntityTag(Sample.fields(["ETag: \(value)"])) }

    /// The first four rows are the table of RFC 9110 §8.8.3.2.
    @Test(
        "RFC 9110 §8.8.3.2: strong and weak comparison", .requirement("P27"),
        arguments: [
            (#"W/"1""#, #"W/"1""#, false, true),
            (#"W/"1""#, #"W/"2""#, false, false),
            (#"W/"1""#, #""1""#, false, true),
            (#""1""#, #""1""#, true, true),
            (#""1""#, #""2""#, false, false),
            // W/ is case-sensitive; a tag without quotes differs from the quoted one.
            (#"w/"1""#, #"W/"1""#, false, false),
            (#"w/"1""#, #"w/"1""#, true, true),
            (#"1"#, #""1""#, false, false),
            (#"1"#, #"1"#, true, true),
            (#"W/1"#, #"1"#, false, true),
            // Backslashes are not unescaped.
            (#""a\"b""#, #""a"b""#, false, false),
            (#""a\\b""#, #""a\b""#, false, false),
            (#""a\\b""#, #""a\\b""#, true, true),
            (#""é""#, #""é""#, true, true),
            ("\"\u{E9}\"", "\"e\u{301}\"", false, false),
            (#""A""#, #""a""#, false, false),
            (#""""#, #""""#, true, true),
            (#"""#, #"""#, true, true),
            ("W/", "W/", false, true),
        ])
    func comparison(one: String, other: String, isStrong: Bool, isWeak: Bool) throws {
        let first = try #require(tag(one))
        let second = try #require(tag(other))
        #expect(first.isStronglyEqual(to: second) == isStrong)
        #expect(second.isStronglyEqual(to: first) == isStrong)
        #expect(first.isWeaklyEqual(to: second) == isWeak)
        #expect(second.isWeaklyEqual(to: first) == isWeak)
    }

    @Test("Bytes that are not UTF-8 are compared as bytes", .requirement("P27"))
    func otherBytes() throws {
        func tag(_ byte: UInt8) -> EntityTag? {
            EntityTag(HTTPFields([HTTPField(name: .eTag, value: [0x22, byte, 0x22])]))
        }
        let tag80 = try #require(tag(0x80))
        let tag81 = try #require(tag(0x81))
        #expect(tag80.isStronglyEqual(to: tag80))
        #expect(!tag80.isWeaklyEqual(to: tag81))
    }

    @Test("An empty ETag counts as absent; the first of two counts")
    func whichTag() throws {
        #expect(tag("") == nil)
        #expect(EntityTag(HTTPFields()) == nil)
        let two = try #require(EntityTag(Sample.fields([#"etag: "1""#, #"ETag: "2""#])))
        #expect(two.isStronglyEqual(to: try #require(tag(#""1""#))))
        #expect(!two.isWeak)
        #expect(try #require(tag(#"W/"1""#)).isWeak)
    }
}
