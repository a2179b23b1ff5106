internal import CoreMetrics

/// The metrics of a tier, created once. The article *A shared tier* lists them.
struct TierMeters: Sendable {
    private typealias Count = any KeyPath<TierStatistics, Int> & Sendable

    private static let label = "cachetier."

    private static let counts: [(count: Count, label: String, dimensions: [(String, String)])] = [
        (\.hits, "requests", [("result", "hit")]),
        (\.misses, "requests", [("result", "miss")]),
        (\.timeouts, "requests", [("result", "timeout")]),
        (\.errors, "requests", [("result", "error")]),
        (\.skipped, "requests", [("result", "skipped")]),
        (\.writes, "writes", [("result", "written")]),
        (\.failedWrites, "writes", [("result", "failed")]),
        (\.droppedWrites, "writes", [("result", "dropped")]),
        (\.refused.malformed, "refused", [("reason", "malformed")]),
        (\.refused.unknownKey, "refused", [("reason", "unknownKey")]),
        (\.refused.forged, "refused", [("reason", "forged")]),
        (\.refused.replayed, "refused", [("reason", "replayed")]),
        (\.refused.damagedBodies, "refused", [("reason", "damagedBody")]),
        (\.refused.fromFuture, "refused", [("reason", "fromFuture")]),
        (\.resumedBodies, "bodies.resumed", []),
        (\.unusableEpochs, "epochs.unusable", []),
        (\.newEpochs, "epochs.new", []),
        (\.leases, "leases", []),
        (\.waits, "waits", []),
        (\.waitedHits, "waits.hits", []),
    ]

    private let counters: [(count: Count, counter: Counter)]
    private let openBreakers: Meter

    /// Returns `nil` without a handler.
    init?(_ factory: any MetricsFactory, name: String) {
        guard !(factory is NOOPMetricsHandler) else { return nil }
        counters = Self.counts.map { count, label, dimensions in
            let dimensions = [("tier", name)] + dimensions
            return (count, Counter(label: Self.label + label, dimensions: dimensions, factory: factory))
        }
        openBreakers = Meter(label: Self.label + "breakers.open", dimensions: [("tier", name)], factory: factory)
    }

    /// Adds the difference of two states of the counts.
    func add(_ statistics: TierStatistics, since before: TierStatistics) {
        guard statistics != before else { return }
        for (count, counter) in counters {
            let difference = statistics[keyPath: count] - before[keyPath: count]
            if difference > 0 { counter.increment(by: difference) }
        }
    }

    /// Changes the number of open breakers. The order of two changes does not matter.
    func breakerChanged(isOpen: Bool) {
        if isOpen { openBreakers.increment() } else { openBreakers.decrement() }
    }
}
