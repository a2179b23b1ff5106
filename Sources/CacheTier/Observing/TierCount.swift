/// A count of a tier, with its names. Metrics, tools and tests all use this list.
package struct TierCount: Sendable {
    package typealias Path = any KeyPath<TierStatistics, Int> & Sendable

    /// The name in the output of the tool.
    package let name: String
    package let path: Path
    /// The label of its metric, without the common prefix.
    let label: String
    /// The dimensions of its metric, without the tier's.
    let dimensions: [(String, String)]

    package var isRefusal: Bool { label == Self.refusalLabel }

    private static let refusalLabel = "refused"

    private init(_ name: String, _ path: Path, _ label: String, _ dimensions: (String, String)...) {
        self.name = name
        self.path = path
        self.label = label
        self.dimensions = dimensions
    }

    /// All counts, in the order of their output.
    package static let all = [
        TierCount("hits", \.hits, "requests", ("result", "hit")),
        TierCount("misses", \.misses, "requests", ("result", "miss")),
        TierCount("validations", \.validations, "validations"),
        TierCount("staleAnswers", \.staleAnswers, "answers.stale"),
        TierCount("timeouts", \.timeouts, "requests", ("result", "timeout")),
        TierCount("errors", \.errors, "requests", ("result", "error")),
        TierCount("skipped", \.skipped, "requests", ("result", "skipped")),
        TierCount("writes", \.writes, "writes", ("result", "written")),
        TierCount("failedWrites", \.failedWrites, "writes", ("result", "failed")),
        TierCount("droppedWrites", \.droppedWrites, "writes", ("result", "dropped")),
        TierCount("removals", \.removals, "removals"),
        TierCount("resumedBodies", \.resumedBodies, "bodies.resumed"),
        TierCount("malformed", \.refused.malformed, refusalLabel, ("reason", "malformed")),
        TierCount("unknownKey", \.refused.unknownKey, refusalLabel, ("reason", "unknownKey")),
        TierCount("forged", \.refused.forged, refusalLabel, ("reason", "forged")),
        TierCount("replayed", \.refused.replayed, refusalLabel, ("reason", "replayed")),
        TierCount("damagedBodies", \.refused.damagedBodies, refusalLabel, ("reason", "damagedBody")),
        TierCount("fromFuture", \.refused.fromFuture, refusalLabel, ("reason", "fromFuture")),
    ]
}
