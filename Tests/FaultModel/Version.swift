package import Foundation

/// A body that its number distinguishes from every other.
package struct Version: Hashable, Sendable {
    /// Two keys with the same number share a file.
    package let number: UInt64
    /// The length of the body.
    package let byteCount: Int

    package init(_ number: UInt64, _ byteCount: Int) {
        self.number = number
        self.byteCount = byteCount
    }

    /// The body.
    package var bytes: Data { .noise(byteCount, seed: number) }

    /// The representation that is derived from this body.
    package var form: Version { Version(number + 1_000, 4_000) }

    /// The ETag of every entry that has this body.
    package var etag: String { "\"\(number)\"" }
}

extension Data {
    /// `count` bytes that another `seed` makes different: SplitMix64.
    package static func noise(_ count: Int, seed: UInt64) -> Data {
        var state = seed
        let words = (0..<(count + 7) / 8).map { _ in
            state &+= 0x9e37_79b9_7f4a_7c15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
            return mixed ^ (mixed >> 31)
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}
