import CacheStoreTool
import TestSupport

@Suite("Binary bodies")
struct BinaryTests {
    @Test(
        "Control characters that texts do not use make a body binary",
        arguments: [
            ("", false), ("text\n", false), ("a\tb\r\nc\u{C}", false), ("\u{1B}[1mbold\u{1B}[0m", false),
            ("é 字 🎉", false), ("a\0b", true), ("\u{1}", true), ("\u{7F}", true), ("\u{1A}", true),
            (String(repeating: "a", count: 1_999) + "\0", true), (String(repeating: "a", count: 2_000) + "\0", false),
        ])
    func text(text: String, isBinary: Bool) {
        #expect(Data(text.utf8).isBinary == isBinary)
    }

    @Test("Latin-1 is text")
    func latin1() {
        #expect(!Data([0x63, 0x61, 0x66, 0xE9, 0x0A]).isBinary)
    }
}

@Suite("Lines of usage")
struct UsageTextTests {
    @Test("Breaks a wide line between options, and no other line")
    func wrapped() {
        let other = String(repeating: "x ", count: 50)
        let usage = "USAGE: cachestore tier get <url> [--header <field> ...] --tier <url> [--deadline <seconds>]"
        #expect(
            UsageText.wrapped("\(other)\n\(usage)\nend", width: 50) == """
                \(other)
                USAGE: cachestore tier get <url>
                    [--header <field> ...] --tier <url>
                    [--deadline <seconds>]
                end
                """)
        #expect(UsageText.wrapped(usage, width: 100) == usage)
    }
}
