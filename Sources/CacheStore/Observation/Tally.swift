package import CoreMetrics
internal import Synchronization

/// A count that only grows: kept here for whoever asks, and told to swift-metrics.
///
/// Where swift-metrics is not bootstrapped, to count costs an atomic addition and an empty call, some nanoseconds.
package struct Tally: ~Copyable, Sendable {
    private let total = Atomic<Int64>(0)
    private let counter: Counter

    /// Makes the counter of swift-metrics, once: to look it up takes longer than to count.
    package init(_ label: String, _ dimensions: [(String, String)] = [], from factory: any MetricsFactory) {
        counter = Counter(label: label, dimensions: dimensions, factory: factory)
    }

    /// How much it is.
    package var value: Int64 { total.load(ordering: .relaxed) }

    package func add(_ amount: Int64 = 1) {
        guard amount > 0 else { return }
        total.wrappingAdd(amount, ordering: .relaxed)
        counter.increment(by: amount)
    }
}
