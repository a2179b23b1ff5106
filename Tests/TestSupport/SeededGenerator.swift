/// Random numbers that a failed test can repeat: SplitMix64.
///
/// The environment variable `CACHESTORE_SEED` sets the seed. Without it, each generator has a random seed. Print the
/// seed when a test fails: `#expect(…, "\(generator)")`.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    /// The start of the sequence.
    public let seed: UInt64

    private var state: UInt64

    /// Creates a generator with the seed in the environment, or with a random seed.
    public init() {
        let given = ProcessInfo.processInfo.environment["CACHESTORE_SEED"].flatMap { UInt64($0) }
        self.init(seed: given ?? .random(in: .min ... .max))
    }

    /// Creates a generator that starts at `seed`.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    /// The next number of the sequence.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension SeededGenerator: CustomStringConvertible {
    /// The setting that repeats this sequence.
    public var description: String { "CACHESTORE_SEED=\(seed)" }
}
