import ByteText
import Testing

@Suite("ByteText")
struct ByteTextTests {
    @Test(
        "decodes hexadecimal digits into bytes, and encodes bytes",
        arguments: [("", []), ("00", [0]), ("0aff10", [10, 255, 16])] as [(String, [UInt8])])
    func hexadecimal(_ text: String, _ bytes: [UInt8]) {
        #expect(bytes.hexadecimal == text)
        #expect([UInt8](hexadecimal: text) == bytes)
        #expect([UInt8](hexadecimal: text.uppercased()) == bytes)
    }

    @Test(
        "a sign, an odd number of digits and non-hexadecimal letters decode to nothing",
        arguments: ["0", "123", "+1", "-1", "0g", "é0"])
    func malformed(_ text: String) {
        #expect([UInt8](hexadecimal: text) == nil)
    }

    @Test("compares texts byte by byte, even if their characters are canonically equivalent", arguments: 0...24)
    func sameBytes(_ count: Int) {
        let text = String(repeating: "a", count: count)
        #expect(text.hasSameBytes(as: String(decoding: Array(text.utf8), as: UTF8.self)))
        #expect(!text.hasSameBytes(as: text + "a"))
        for position in 0..<count {
            var bytes = Array(text.utf8)
            bytes[position] = UInt8(ascii: "b")
            #expect(!text.hasSameBytes(as: String(decoding: bytes, as: UTF8.self)))
        }
        let (composed, decomposed) = (text + "\u{1e0b}\u{323}", text + "\u{1e0d}\u{307}")
        #expect(composed == decomposed)
        #expect(composed.utf8.count == decomposed.utf8.count)
        #expect(!composed.hasSameBytes(as: decomposed))
    }

    // http://www.isthe.com/chongo/src/fnv/test_fnv.c
    @Test(
        "the hashes match the published FNV-1a vectors",
        arguments: [
            ("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8),
        ] as [(String, UInt64)])
    func hash(_ text: String, _ hash: UInt64) {
        #expect(FNV1a.hash(text.utf8) == hash)
        var other = FNV1a()
        other.update(text)
        #expect(other.value == hash)
    }

    @Test(
        "RFC 3986 §2.1: decodes a percent sign with two digits; keeps any other percent sign",
        arguments: [
            ("a%20b", "a b"), ("%4", "%4"), ("%", "%"), ("%zz", "%zz"), ("%+1", "%+1"), ("%2541", "%41"), ("+", "+"),
            ("%C3%A9", "é"),
        ])
    func decoding(_ text: String, _ decoded: String) {
        var (rest, bytes) = (text.utf8[...], [UInt8]())
        while let (byte, _) = PercentEncoding.popByte(&rest) { bytes.append(byte) }
        #expect(String(decoding: bytes, as: UTF8.self) == decoded)
    }

    @Test("RFC 3986 §2.3: unreserved characters stay unencoded")
    func encoding() {
        let text = PercentEncoding.encoded("aZ09-._~ /%é\n".utf8, keeping: PercentEncoding.isUnreserved)
        #expect(text == "aZ09-._~%20%2F%25%C3%A9%0A")
    }
}
