/// The measurements of one piece of work: of this package, and of its peers.
struct Comparison: Sendable {
    /// One implementation of the work.
    struct Side: Sendable {
        let name: String
        /// Nanoseconds per operation, one value for each round.
        let rounds: [Double]
        let latencies: Latencies?
        /// The goal of the first side in comparison with this one.
        let aim: Aim?
    }

    /// A performance goal.
    enum Aim: Sendable {
        /// At most this multiple of the other side's time.
        case ratio(Double)
        /// At most this many nanoseconds.
        case nanoseconds(Double)
    }

    /// A point on a line over the number of entries.
    struct Growth: Sendable {
        let line: String
        let entries: Int
    }

    let work: String
    /// Set if the work is measured over the number of entries.
    let growth: Growth?
    /// The first side is this package.
    let sides: [Side]

    /// Returns the time of the first side divided by the time of another; one value for each round of both sides.
    func ratios(to side: Side) -> [Double] {
        zip(sides.first?.rounds ?? [], side.rounds).map { $0 / $1 }
    }
}

/// A figure that is not a time, such as a number of bytes.
struct Fact: Sendable {
    let name: String
    let value: String
}

/// Omitted work, and the reason.
struct Omission: Sendable {
    let work: String
    let reason: String
}
