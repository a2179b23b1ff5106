package import CoreMetrics
internal import Synchronization

/// A counter that only grows, readable here and reported to swift-metrics. Without a metrics handler, counting costs
/// one atomic addition, some nanoseconds.
package struct Tally: ~Copyable, Sendable {
    private let total = Atomic<Int64>(0)
    private let counter: Counter?
    private let lane: BlockingLane?

    /// Creates the counter once: a lookup takes longer than counting. The handler runs on `lane` or the calling thread.
    package init(
        _ label: String, _ dimensions: [(String, String)] = [], from factory: any MetricsFactory,
        on lane: BlockingLane? = nil
    ) {
        counter =
            factory is NOOPMetricsHandler
            ? nil : Counter(label: label, dimensions: dimensions, factory: factory)
        self.lane = lane
    }

    /// The sum of the added amounts.
    package var value: Int64 { total.load(ordering: .relaxed) }

    package func add(_ amount: Int64 = 1) {
        guard amount > 0 else { return }
        total.wrappingAdd(amount, ordering: .relaxed)
        guard let counter else { return }
        if let lane { lane.submit { counter.increment(by: amount) } } else { counter.increment(by: amount) }
    }
}
