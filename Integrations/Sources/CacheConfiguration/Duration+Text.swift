extension Duration {
    /// Reads a number with a unit: `250ms`, `1.5s`, `15m`, `12h` or `30d`.
    init?(text: String) {
        let unit = text.drop { $0.isASCII && ($0.isNumber || $0 == ".") }
        let millisecondsPerUnit: Int64
        switch unit {
        case "ms": millisecondsPerUnit = 1
        case "s": millisecondsPerUnit = 1000
        case "m": millisecondsPerUnit = 60_000
        case "h": millisecondsPerUnit = 3_600_000
        case "d": millisecondsPerUnit = 86_400_000
        default: return nil
        }
        let parts = text[..<unit.startIndex].split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }), let whole = Int64(parts[0]) else { return nil }
        let (milliseconds, isTooLong) = whole.multipliedReportingOverflow(by: millisecondsPerUnit)
        guard !isTooLong else { return nil }
        var duration = Duration.milliseconds(milliseconds)
        if parts.count == 2 {
            guard let fraction = Double("0." + parts[1]) else { return nil }
            duration += .milliseconds(fraction * Double(millisecondsPerUnit))
        }
        self = duration
    }
}
