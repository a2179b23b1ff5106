extension Data {
    /// Returns `count` bytes, the same for the same `seed`.
    public static func noise(_ count: Int, seed: UInt64) -> Data {
        // The empty array is one object of the process, and the initializer would write its count: the thread sanitizer
        // reports a race.
        guard count > 0 else { return Data() }
        var generator = SeededGenerator(seed: seed)
        // A loop: closures for each word dominate some tests in a debug build.
        let words = [UInt64](unsafeUninitializedCapacity: (count + 7) / 8) { words, wordCount in
            while wordCount < words.count {
                words.initializeElement(at: wordCount, to: generator.next())
                wordCount += 1
            }
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}
