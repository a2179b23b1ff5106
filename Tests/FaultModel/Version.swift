package import Foundation

/// A body that differs from every other by its number.
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

    /// The representation derived from this body.
    package var form: Version { Version(number + 1_000, 4_000) }

    /// The ETag of every entry that has this body.
    package var etag: String { "\"\(number)\"" }
}

extension Data {
    /// Returns `count` bytes, the same for the same `seed`: SplitMix64.
    ///
    /// A separate function from TestSupport's, because the programs of the fault laboratory do not link TestSupport.
    package static func noise(_ count: Int, seed: UInt64) -> Data {
        var state = seed
        let words = [UInt64](unsafeUninitializedCapacity: (count + 7) / 8) { words, wordCount in
            while wordCount < words.count {
                state &+= 0x9e37_79b9_7f4a_7c15
                var mixed = state
                mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
                mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
                words.initializeElement(at: wordCount, to: mixed ^ (mixed >> 31))
                wordCount += 1
            }
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}
