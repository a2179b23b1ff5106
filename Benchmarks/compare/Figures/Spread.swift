/// The distribution of repeated measurements.
struct Spread: Sendable {
    /// The measurements in ascending order, at least one.
    private let values: [Double]

    /// Creates a distribution, or returns `nil` without values.
    init?(_ values: [Double]) {
        guard !values.isEmpty else { return nil }
        self.values = values.sorted()
    }

    var median: Double { quantile(0.5) }
    var lowerQuartile: Double { quantile(0.25) }
    var upperQuartile: Double { quantile(0.75) }
    var least: Double { quantile(0) }
    var greatest: Double { quantile(1) }

    /// Interpolates linearly between two values (Hyndman and Fan, "Sample quantiles in statistical packages",
    /// definition 7).
    func quantile(_ fraction: Double) -> Double {
        let position = fraction * Double(values.count - 1)
        let below = Int(position)
        guard below + 1 < values.count else { return values[values.count - 1] }
        return values[below] + (position - Double(below)) * (values[below + 1] - values[below])
    }
}

/// Percentiles of the times of single operations.
struct Latencies: Sendable {
    let p50: Double
    let p99: Double
    let p999: Double

    /// - Parameter nanoseconds: One value for each operation. Without values, the result is `nil`.
    init?(_ nanoseconds: [Double]) {
        guard let spread = Spread(nanoseconds) else { return nil }
        p50 = spread.median
        p99 = spread.quantile(0.99)
        p999 = spread.quantile(0.999)
    }
}
