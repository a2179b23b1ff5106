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
}

extension BinaryInteger {
    /// Returns the number with its noun.
    func of(_ singular: String, _ plural: String) -> String { "\(self) \(self == 1 ? singular : plural)" }
}
