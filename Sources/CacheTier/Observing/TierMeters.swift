internal import CoreMetrics

/// The metrics of a tier, created once. The article *A shared tier* lists them.
struct TierMeters: Sendable {
    private static let label = "cachetier."

    private let counters: [(path: TierCount.Path, counter: Counter)]
    private let openBreakers: Meter

    /// Returns `nil` without a metrics handler.
    init?(_ factory: any MetricsFactory, name: String) {
        guard !(factory is NOOPMetricsHandler) else { return nil }
        counters = TierCount.all.map { count in
            let dimensions = [("tier", name)] + count.dimensions
            return (count.path, Counter(label: Self.label + count.label, dimensions: dimensions, factory: factory))
        }
        openBreakers = Meter(label: Self.label + "breakers.open", dimensions: [("tier", name)], factory: factory)
    }

    /// Adds the difference between two states of the counts.
    func add(_ statistics: TierStatistics, since before: TierStatistics) {
        guard statistics != before else { return }
        for (path, counter) in counters {
            let difference = statistics[keyPath: path] - before[keyPath: path]
            if difference > 0 { counter.increment(by: difference) }
        }
    }

    /// Changes the number of open breakers. Works for changes in any order.
    func breakerChanged(isOpen: Bool) {
        if isOpen { openBreakers.increment() } else { openBreakers.decrement() }
    }
}
