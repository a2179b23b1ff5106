/// 64 bits of FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), which is fast for short texts and the same in every
/// process. It does not protect against deliberate collisions.
package struct FNV1a {
    package var value: UInt64

    @inlinable package init() {
        value = 0xcbf2_9ce4_8422_2325
    }

    @inlinable package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        var hash = FNV1a()
        for byte in bytes { hash.update(UInt64(byte)) }
        return hash.value
    }

    /// Adds a byte. For speed, a caller may add a whole word, which gives another value than FNV-1a.
    @inlinable package mutating func update(_ word: UInt64) {
        value = (value ^ word) &* 0x0000_0100_0000_01b3
    }

    @inlinable package mutating func update(_ text: String) {
        var text = text
        text.withUTF8 { for byte in $0 { update(UInt64(byte)) } }
    }
}
