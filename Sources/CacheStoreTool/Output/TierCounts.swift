import CacheTier

/// The counts of a command with a tier, as text and as JSON.
struct TierCounts: Encodable {
    private let hits: Int
    private let misses: Int
    private let timeouts: Int
    private let errors: Int
    private let skipped: Int
    private let written: Int
    private let failedWrites: Int
    private let droppedWrites: Int
    private let refused: Int

    init(_ statistics: TierStatistics) {
        hits = statistics.hits
        misses = statistics.misses
        timeouts = statistics.timeouts
        errors = statistics.errors
        skipped = statistics.skipped
        written = statistics.writes
        failedWrites = statistics.failedWrites
        droppedWrites = statistics.droppedWrites
        let reasons = statistics.refused
        refused =
            reasons.malformed + reasons.unknownKey + reasons.forged + reasons.replayed + reasons.damagedBodies
            + reasons.fromFuture
    }

    /// One line of `name=value` pairs.
    var text: String {
        """
        tier: hits=\(hits) misses=\(misses) timeouts=\(timeouts) errors=\(errors) skipped=\(skipped) \
        written=\(written) failed-writes=\(failedWrites) dropped-writes=\(droppedWrites) refused=\(refused)
        """
    }
}
