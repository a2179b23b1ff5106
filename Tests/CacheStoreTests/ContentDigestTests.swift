import TestSupport

@Suite("ContentDigest")
struct ContentDigestTests {
    static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test("is the SHA-256, in lower-case hexadecimal")
    func knownValue() {
        #expect(ContentDigest(of: Data("hello".utf8)).description == Self.hello)
        #expect(ContentDigest(of: Data()).description.hasPrefix("e3b0c44298fc1c149afbf4c8996fb924"))
    }

    @Test("reads upper and lower case")
    func hexadecimal() {
        #expect(ContentDigest(hexadecimal: Self.hello) == ContentDigest(of: Data("hello".utf8)))
        #expect(ContentDigest(hexadecimal: Self.hello.uppercased()) == ContentDigest(of: Data("hello".utf8)))
    }

    @Test("refuses other text", arguments: ["", "2c", hello.dropLast() + "g", hello + "0", hello.dropLast(2) + "é"])
    func refused(_ text: String) {
        #expect(ContentDigest(hexadecimal: text) == nil)
    }
}
