internal import TestSupport

@Suite struct ContentTypeFilterTests {
    @Test(
        "Media ranges, in any case and with any parameters", .requirement("F7"),
        arguments: [
            (["image/*"], "Image/PNG; q=1", true),
            (["IMAGE/*"], "image/svg+xml", true),
            (["image/*"], "text/html", false),
            (["image/*"], "images/png", false),
            (["image/*"], "application/image", false),
            (["image/png"], "image/png", true),
            (["image/PNG;q=0.5"], "IMAGE/png ;a=b", true),
            (["image/png"], "image/png;", true),
            (["image/png"], "  image/png\t", true),
            (["image/png"], "image/pngx", false),
            (["image/png"], "image/jpeg", false),
            (["image/png", "application/json"], "application/json; charset=utf-8", true),
            (["application/json"], "application/problem+json", false),
            (["*/*"], "a/b", true),
            ([], "image/png", false),
            // The type of a response is a type, not a range.
            (["image/png"], "image/*", false),
            (["image/*"], "*/*", false),
        ] as [([String], String, Bool)])
    func ranges(ranges: [String], type: String, isAccepted: Bool) throws {
        let mediaRanges = ranges.compactMap { MediaRange($0) }
        try #require(mediaRanges.count == ranges.count)
        let filter = ContentTypeFilter(mediaRanges)
        #expect(filter.accepts(contentType: type) == isAccepted)
        // The option applies only to a missing type.
        #expect(ContentTypeFilter(filter.ranges, acceptsMissing: true).accepts(contentType: type) == isAccepted)
        var fields = HTTPFields()
        fields[.contentType] = type
        #expect(filter.accepts(fields) == isAccepted)
    }

    @Test(
        "The option decides about a missing or malformed type", .requirement("F7"),
        arguments: [nil, "", " ", "png", "image/", "/png", "image png", "image/png, image/gif", "image/png x", "é/é"])
    func missing(type: String?) {
        #expect(!ContentTypeFilter(["*/*"]).accepts(contentType: type))
        #expect(ContentTypeFilter(["image/gif"], acceptsMissing: true).accepts(contentType: type))
        #expect(ContentTypeFilter([], acceptsMissing: true).accepts(contentType: type))
    }

    @Test("The last of several fields counts; without a field, the option", .requirement("F7"))
    func fields() {
        var fields = HTTPFields()
        #expect(!ContentTypeFilter(["image/*"]).accepts(fields))
        #expect(ContentTypeFilter(["image/*"], acceptsMissing: true).accepts(fields))
        fields.append(HTTPField(name: .contentType, value: "text/html"))
        fields.append(HTTPField(name: .contentType, value: "image/png"))
        #expect(ContentTypeFilter(["image/*"]).accepts(fields))
        #expect(!ContentTypeFilter(["text/*"]).accepts(fields))
    }

    @Test(
        "Invalid ranges", .requirement("F7"),
        arguments: ["", "image", "*", "*/png", "image/", "image/*, text/*", "image /png"])
    func noRange(text: String) { #expect(MediaRange(text) == nil) }

    @Test(
        "A range is written in lower case, and compares case-insensitively", .requirement("F7"),
        arguments: ["image/png", "image/*", "*/*"])
    func description(text: String) throws {
        let range = try #require(MediaRange(text.uppercased() + ";a=b"))
        #expect(range.description == text)
        #expect(range == MediaRange(text))
    }

    @Test("An invalid range literal in the source traps", .requirement("F7"))
    func wrongLiteral() async { await #expect(processExitsWith: .failure) { _ = "*/png" as MediaRange } }

    @Test(
        "The charset of a media type", .requirement("F1"),
        arguments: [
            ("text/plain", nil),
            ("text/plain; charset=x-8", "x-8"),
            ("text/plain;CHARSET=X-8", "X-8"),
            ("text/plain; format=flowed ; charset=a", "a"),
            ("text/plain; charset=; charset=b", "b"),
            ("text/plain; charset ; charset=c", "c"),
            (#"text/plain; title="; charset=no"; charset=d"#, "d"),
            (#"text/plain; title="\"; charset=no"; charset=e"#, "e"),
            (#"text/plain; charset="f\\g\"""#, #"f\g""#),
            (#"text/plain; charset="open"#, "open"),
            ("text/plain; charset = h", nil),
            ("text/plain;;;charset=i;", "i"),
        ] as [(String, String?)])
    func charset(text: String, charset: String?) throws {
        let context = ProcessingContext(url: "https://example.com/", headerFields: [.contentType: text])
        if let charset {
            #expect(throws: ProcessingError.unknownCharset(charset)) {
                try TextProcessor().processSynchronously(Data(), context)
            }
        } else {
            #expect(try TextProcessor().processSynchronously(Data("a".utf8), context) == "a")
        }
    }
}
