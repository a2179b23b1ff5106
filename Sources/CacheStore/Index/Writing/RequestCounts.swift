/// Requests of programs by their answer, and the hit ratio. The tool and the inspector use this definition.
/// ``queryByHost`` repeats it in SQL. Each request counts once. A redirect that a load follows, and a further attempt,
/// are requests. A validation in the background is not: no program has asked for it.
package struct RequestCounts: Hashable, Sendable {
    /// Answered by a fresh stored response.
    package var hits: Int64 = 0
    /// Answered by a stale stored response, also in place of a failed origin.
    package var stale: Int64 = 0
    /// Answered by a stored response that the origin validated.
    package var revalidated: Int64 = 0
    /// Answered by a shared tier in place of the origin.
    package var tier: Int64 = 0
    /// Answered by the origin, also with a 4xx status. Includes requests that share such an answer.
    package var misses: Int64 = 0
    /// Not answered, or with a 5xx status.
    package var errors: Int64 = 0

    package init(tier: Int64 = 0, misses: Int64 = 0, errors: Int64 = 0) {
        self.tier = tier
        self.misses = misses
        self.errors = errors
    }

    /// The requests that an entry answered.
    var answers: Int64 { hits &+ stale &+ revalidated }

    /// All requests. A `Double`, because the sum may exceed 64 bits.
    package var requests: Double {
        [hits, stale, revalidated, tier, misses, errors].reduce(0) { $0 + Double($1) }
    }

    /// The share answered without an origin response: ``hits``, ``stale`` and ``tier``. `nil` without requests.
    package var hitRatio: Double? {
        requests > 0 ? (Double(hits) + Double(stale) + Double(tier)) / requests : nil
    }

    mutating func count(_ use: EntryUse) {
        switch use {
        case .hit: hits &+= 1
        case .stale: stale &+= 1
        case .revalidated: revalidated &+= 1
        }
    }

    /// Counts a recorded request.
    package mutating func count(_ outcome: RequestOutcome) {
        switch outcome {
        case .hit: hits &+= 1
        case .stale: stale &+= 1
        case .revalidated: revalidated &+= 1
        case .tier: tier &+= 1
        case .miss, .coalesced: misses &+= 1
        case .error: errors &+= 1
        }
    }

    static func += (left: inout RequestCounts, right: RequestCounts) {
        left.hits &+= right.hits
        left.stale &+= right.stale
        left.revalidated &+= right.revalidated
        left.tier &+= right.tier
        left.misses &+= right.misses
        left.errors &+= right.errors
    }
}
