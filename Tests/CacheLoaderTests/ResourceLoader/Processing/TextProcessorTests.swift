internal import TestSupport

@Suite struct TextProcessorTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let type: String?
        let bytes: [UInt8]
        let text: String

        init(_ name: String, _ type: String?, _ bytes: [UInt8], _ text: String) {
            (testDescription, self.type, self.bytes, self.text) = (name, type, bytes, text)
        }
    }

    @Test(
        "Bytes are text in the charset of the response", .requirement("F1"),
        arguments: [
            Case("no bytes", nil, [], ""),
            Case("UTF-8 where nothing is said", nil, [0xC3, 0xA9], "é"),
            Case("UTF-8 where the charset is not said", "text/plain", [0xC3, 0xA9], "é"),
            Case("UTF-8 where the type makes no sense", "nonsense", [0xC3, 0xA9], "é"),
            Case("UTF-8 in capitals", "text/plain; Charset=UTF-8", [0xC3, 0xA9], "é"),
            Case("UTF-8 in quotes", #"text/plain;charset="ut\f-8""#, [0xC3, 0xA9], "é"),
            Case("the first charset", "text/plain; charset=utf-8; charset=latin1", [0xC3, 0xA9], "é"),
            Case("NUL is text", "text/plain", [0x41, 0, 0x42], "A\u{0}B"),
            Case("UTF-8 with a mark", nil, [0xEF, 0xBB, 0xBF, 0x41], "A"),
            Case("only the first mark is one", nil, [0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF], "\u{FEFF}"),
            Case("a mark beats the charset", "text/plain; charset=iso-8859-1", [0xEF, 0xBB, 0xBF, 0xC3, 0xA9], "é"),
            Case("UTF-16 with a mark, big", "text/plain; charset=utf-16", [0xFE, 0xFF, 0x20, 0xAC], "€"),
            Case("UTF-16 with a mark, little", "text/plain; charset=utf-16", [0xFF, 0xFE, 0xAC, 0x20], "€"),
            Case("UTF-16 by its mark alone", nil, [0xFE, 0xFF, 0xD8, 0x3D, 0xDE, 0x00], "😀"),
            Case("UTF-16 without a mark is little", "text/plain; charset=utf-16", [0xAC, 0x20], "€"),
            Case("UTF-16BE", "text/plain; charset=UTF-16BE", [0x20, 0xAC], "€"),
            Case("UTF-16LE", "text/plain; charset=UTF-16LE", [0x3D, 0xD8, 0x00, 0xDE], "😀"),
            Case("windows-1252", "text/plain; charset=windows-1252", [0x80, 0x9F, 0xE9, 0xFF], "€Ÿéÿ"),
            Case("ISO-8859-1 is windows-1252", "text/plain; charset=ISO-8859-1", [0x93, 0xE9, 0x94], "“é”"),
            Case("its holes are controls", "text/plain; charset=latin1", [0x81, 0x9D], "\u{81}\u{9D}"),
            Case("US-ASCII", "text/plain; charset=us-ascii", [0x00, 0x7F], "\u{0}\u{7F}"),
        ])
    func text(_ example: Case) async throws {
        let text = try await ProcessorSample.value(Data(example.bytes), contentType: example.type, as: .text)
        // Compared by characters, "é" would equal "e" with a combining accent.
        #expect(Array(text.unicodeScalars) == Array(example.text.unicodeScalars))
    }

    @Test(
        "Invalid bytes throw, without replacement characters", .requirement("F1"),
        arguments: [
            (nil, [0xE9], .malformedText(charset: "utf-8")),
            (nil, [0x41, 0xC3], .malformedText(charset: "utf-8")),
            // Overlong, a surrogate, beyond U+10FFFF.
            (nil, [0xC0, 0x80], .malformedText(charset: "utf-8")),
            (nil, [0xED, 0xA0, 0x80], .malformedText(charset: "utf-8")),
            (nil, [0xF4, 0x90, 0x80, 0x80], .malformedText(charset: "utf-8")),
            ("text/plain; charset=us-ascii", [0x41, 0x80], .malformedText(charset: "us-ascii")),
            ("text/plain; charset=utf-16be", [0x00], .malformedText(charset: "utf-16be")),
            ("text/plain; charset=utf-16be", [0xD8, 0x3D], .malformedText(charset: "utf-16be")),
            ("text/plain; charset=utf-16", [0x00, 0xDE, 0x3D, 0xD8], .malformedText(charset: "utf-16le")),
            (nil, [0xFF, 0xFE, 0x41], .malformedText(charset: "utf-16le")),
            ("text/plain; charset=iso-8859-1", [0xEF, 0xBB, 0xBF, 0xE9], .malformedText(charset: "utf-8")),
            ("text/plain; charset=x-unknown", [0x41], .unknownCharset("x-unknown")),
            (#"text/plain; charset="utf-8 ""#, [0x41], .unknownCharset("utf-8 ")),
        ] as [(String?, [UInt8], ProcessingError)])
    func malformed(type: String?, bytes: [UInt8], error: ProcessingError) async {
        await #expect(throws: error) { try await ProcessorSample.value(Data(bytes), contentType: type, as: .text) }
    }

    @Test("A slice of larger data is read from its own start", .requirement("F1"))
    func slice() async throws {
        let slice = Data([0xFF, 0xFF, 0xEF, 0xBB, 0xBF, 0x41, 0xFF]).dropFirst(2).dropLast()
        #expect(try await ProcessorSample.value(slice, as: .text) == "A")
        let wide = Data([0xFF, 0xFE, 0xFF, 0x20, 0xAC]).dropFirst()
        #expect(try await ProcessorSample.value(wide, as: .text) == "€")
    }

    @Test(
        "Each error has a description", .requirement("F1"),
        arguments: [
            (ProcessingError.unknownCharset("x\n"), #"the charset "x\n" is not supported"#),
            (.malformedText(charset: "utf-8"), "the bytes are no text in utf-8"),
            (.malformedJSON(type: "T", path: "", reason: "r"), "the bytes are no JSON of a T: r"),
            (.malformedJSON(type: "T", path: "a[1]", reason: "r"), "the bytes are no JSON of a T, at a[1]: r"),
        ])
    func descriptions(error: ProcessingError, text: String) { #expect("\(error)" == text) }
}
