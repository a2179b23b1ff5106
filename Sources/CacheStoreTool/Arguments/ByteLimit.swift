/// A number of bytes, in the tool's own units or in those of other tools. `kB`, `MB`, `GB` and so on are powers of
/// 1000. `KiB`, `MiB`, `GiB` and single letters are powers of 1024, as in the GNU tools. The package Integrations reads
/// sizes with a link to this file, which therefore imports nothing.
package struct ByteLimit {
    package let byteCount: Int64

    /// The accepted forms, for the help of an option.
    static let help = "100, 10kB, 1.5MB or 2GB by thousands; 10KiB, 10MiB or 1GiB, or 10K, 10M or 1G, by 1024"

    package init?(argument: String) {
        let unit = argument.drop { $0.isASCII && ($0.isNumber || $0 == ".") }
        let digits = argument[..<unit.startIndex]
        guard let factor = Self.factor(unit.drop { $0 == " " }.lowercased()) else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), let whole = Int64(parts[0]) else { return nil }
        let (bytes, isTooLarge) = whole.multipliedReportingOverflow(by: factor)
        // Bytes have no fraction.
        var fraction = 0.0
        if parts.count == 2 {
            guard factor > 1, let part = Double("0." + parts[1]) else { return nil }
            fraction = (part * Double(factor)).rounded()
        }
        let (sum, isSumTooLarge) = bytes.addingReportingOverflow(Int64(fraction))
        guard !isTooLarge, !isSumTooLarge else { return nil }
        byteCount = sum
    }

    /// - Parameter unit: A unit in lower case.
    private static func factor(_ unit: String) -> Int64? {
        if unit.isEmpty || unit == "b" { return 1 }
        guard let letter = unit.first, let place = Array("kmgtpe").firstIndex(of: letter) else { return nil }
        let base: Int64
        switch unit.dropFirst() {
        case "b": base = 1000
        case "", "ib": base = 1024
        default: return nil
        }
        return (0...place).reduce(1) { factor, _ in factor * base }
    }
}
