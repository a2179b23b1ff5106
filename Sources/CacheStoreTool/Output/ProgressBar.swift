/// The progress of many loads on one line: a bar, counts, rates, and the remaining time.
package struct ProgressBar: Sendable {
    private static let maxCellCount = 30
    private static let minCellCount = 5

    let completed: Int
    let total: Int?
    let perSecond: Double?
    let byteCount: Int64
    let bytesPerSecond: Double?

    /// Without `total`, there is no bar. `perSecond` is `nil` before the first rate. `byteCount` counts received bytes.
    package init(completed: Int, total: Int?, perSecond: Double?, byteCount: Int64, bytesPerSecond: Double?) {
        self.completed = completed
        // The list may have grown since it was counted.
        self.total = total.map { max($0, completed) }
        self.perSecond = perSecond
        self.byteCount = byteCount
        self.bytesPerSecond = bytesPerSecond
    }

    /// - Parameter width: The columns of the line. The bar fills the columns that the numbers leave free.
    package func text(width: Int) -> String {
        let numbers = fields.joined(separator: "  ")
        guard let total else { return numbers }
        // Two brackets and two spaces.
        let cellCount = min(Self.maxCellCount, width - numbers.count - 4)
        guard cellCount >= Self.minCellCount else { return numbers }
        let full = total == 0 ? cellCount : Int(Double(cellCount) * Double(completed) / Double(total))
        return "[\(String(repeating: "#", count: full))\(String(repeating: ".", count: cellCount - full))]  \(numbers)"
    }

    private var fields: [String] {
        var fields: [String] = []
        if let total {
            // Rounds down, so that 100% appears only at the end.
            let percent = total == 0 ? 100 : Int(100 * Double(completed) / Double(total))
            fields = ["\(percent)%", "\(completed)/\(total)"]
        } else {
            fields = ["\(completed) done"]
        }
        if let perSecond { fields.append("\(perSecond.oneDecimal)/s") }
        fields.append(byteCount.asByteCount)
        if let bytesPerSecond { fields.append("\(Int64(bytesPerSecond).asByteCount)/s") }
        if let secondsLeft { fields.append("ETA \(Self.clockText(secondsLeft))") }
        return fields
    }

    /// The estimated remaining seconds at the recent rate, or `nil` without a rate or remaining loads.
    package var secondsLeft: Int64? {
        guard let total, completed < total, let perSecond, perSecond > 0 else { return nil }
        return Int64(min(1e9, (Double(total - completed) / perSecond).rounded(.up)))
    }

    /// Returns `0:42`, `12:34`, `1:02:03`.
    package static func clockText(_ seconds: Int64) -> String {
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let rest = "\(minutes < 10 && hours > 0 ? "0" : "")\(minutes):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
        return hours > 0 ? "\(hours):\(rest)" : rest
    }
}

extension Double {
    /// The number with one digit after the decimal point: `12.3`.
    var oneDecimal: String {
        let tenths = Int64(min(1e15, max(-1e15, (self * 10).rounded())))
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }
}
