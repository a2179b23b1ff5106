/// A time relative to now, in its largest unit: `in 3h`, `12d ago`.
package struct RelativeTime {
    let seconds: Int64

    package init(seconds: Int64) {
        self.seconds = seconds
    }

    package var text: String {
        let distance = seconds.magnitude
        if distance == 0 { return "now" }
        let units: [(String, UInt64)] = [("y", 31_536_000), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)]
        let (name, length) = units.first { distance >= $0.1 } ?? ("s", 1)
        return seconds > 0 ? "in \(distance / length)\(name)" : "\(distance / length)\(name) ago"
    }
}
