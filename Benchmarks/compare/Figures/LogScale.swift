import Foundation

/// Where a value lies on a logarithmic axis.
struct LogScale {
    /// Powers of ten around all values.
    let decades: ClosedRange<Int>
    /// Where the axis begins and ends.
    let start: Double
    let end: Double

    /// - Parameter values: Greater than zero; `nil` is returned if there are none.
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
