/// What came of one piece of work: what this package took, and what others took for the same.
struct Comparison: Sendable {
    /// One that did the work.
    struct Side: Sendable {
        let name: String
        /// Nanoseconds per operation, a value for each round.
        let rounds: [Double]
        let latencies: Latencies?
        /// What the first side should reach against this one.
        let aim: Aim?
    }

    /// What is asked for.
    enum Aim: Sendable {
        /// At most so many times as long as the other.
        case ratio(Double)
        /// At most so many nanoseconds.
        case nanoseconds(Double)
    }

    /// A point on a line over the number of entries.
    struct Growth: Sendable {
        let line: String
        let entries: Int
    }

    let work: String
    /// Where the number of entries is the question.
    let growth: Growth?
    /// The first is this package.
    let sides: [Side]

    /// How many times as long the first side took as another; a value for each round that both were in.
    func ratios(to side: Side) -> [Double] {
        zip(sides.first?.rounds ?? [], side.rounds).map { $0 / $1 }
    }
}

/// A figure that is no time: bytes, for one.
struct Fact: Sendable {
    let name: String
    let value: String
}

/// Work that was left out, and why.
struct Omission: Sendable {
    let work: String
    let reason: String
}
