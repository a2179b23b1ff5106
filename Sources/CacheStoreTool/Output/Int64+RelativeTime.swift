extension Int64 {
    /// The number as seconds from now, in the largest unit: `in 3h`, `12d ago`.
    package var asRelativeTime: String {
        if self == 0 { return "now" }
        return self > 0 ? "in \(asTimeSpan)" : "\(asTimeSpan) ago"
    }

    /// The number as seconds without a sign, in the largest unit: `3h`, `12d`.
    package var asTimeSpan: String {
        let units: [(String, UInt64)] = [("y", 31_536_000), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]
        let (name, length) = units.first { magnitude >= $0.1 } ?? ("s", 1)
        return "\(magnitude / length)\(name)"
    }
}
