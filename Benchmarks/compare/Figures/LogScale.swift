import Foundation

/// Maps values to positions on a logarithmic axis.
struct LogScale {
    /// The powers of ten around all values.
    let decades: ClosedRange<Int>
    /// The positions of both ends of the axis.
    let start: Double
    let end: Double

    /// - Parameter values: Positive numbers. Without values, the result is `nil`.
    init?(_ values: [Double], from start: Double, to end: Double) {
        guard let least = values.min(), let greatest = values.max(), least > 0 else { return nil }
        let first = Int(log10(least).rounded(.down))
        decades = first...max(first + 1, Int(log10(greatest).rounded(.up)))
        self.start = start
        self.end = end
    }

    func position(_ value: Double) -> Double {
        let fraction = (log10(value) - Double(decades.lowerBound)) / Double(decades.count - 1)
        return start + fraction * (end - start)
    }
}
