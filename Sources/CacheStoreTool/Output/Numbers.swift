import Foundation

extension Int64 {
    /// The number as a readable byte count: `999 B`, `12.3 kB`, `4.0 MB`.
    var asByteCount: String {
        guard self >= 1000 else { return "\(self) B" }
        var value = Double(self)
        var unit = ""
        // Switches the unit at 999.95, which would otherwise print as 1000.0.
        for next in ["kB", "MB", "GB", "TB", "PB", "EB"] where value >= (unit.isEmpty ? 1000 : 999.95) {
            value /= 1000
            unit = next
        }
        return String(format: "%.1f %@", value, unit)
    }

    /// The number as seconds from now, in the largest unit: `in 3h`, `12d ago`.
    package var asRelativeTime: String {
        if self == 0 { return "now" }
        return self > 0 ? "in \(asTimeSpan)" : "\(asTimeSpan) ago"
    }

    /// The number as seconds without a sign, in the largest unit: `3h`, `12d`.
    var asTimeSpan: String {
        let units: [(String, UInt64)] = [("y", 31_536_000), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]
        let (name, length) = units.first { magnitude >= $0.1 } ?? ("s", 1)
        return "\(magnitude / length)\(name)"
    }
}

extension BinaryInteger {
    /// Returns the number with its noun.
    func of(_ singular: String, _ plural: String) -> String { "\(self) \(self == 1 ? singular : plural)" }
}

extension Double {
    /// The number with one digit after the decimal point: `12.3`.
    var oneDecimal: String {
        let tenths = Int64(min(1e15, max(-1e15, (self * 10).rounded())))
        return "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
    }
}
