import Synchronization

/// The progress of long work on one line: percentage, amount, rate, and the remaining time.
package final class WorkMeter: Sendable {
    package enum Unit: Sendable {
        case bytes
        case count(String, String)

        fileprivate func text(_ amount: Int64) -> String {
            switch self {
            case .bytes: amount.asByteCount
            case .count: "\(amount)"
            }
        }

        fileprivate func whole(_ amount: Int64) -> String {
            switch self {
            case .bytes: amount.asByteCount
            case .count(let singular, let plural): amount.of(singular, plural)
            }
        }

        fileprivate func rate(_ perSecond: Double) -> String {
            switch self {
            // The sizes in a damaged index may exceed those of any disk.
            case .bytes: "\(Int64(min(perSecond, 1e18)).asByteCount)/s"
            case .count: "\(perSecond.oneDecimal)/s"
            }
        }
    }

    private let title: String
    private let unit: Unit
    private let start = ContinuousClock.now
    /// Guards the samples of the rate.
    private let rate = Mutex(RecentRate())

    /// - Parameter title: The work, such as `checking`. Empty for a text that continues another line.
    package init(_ title: String, _ unit: Unit) {
        self.title = title
        self.unit = unit
    }

    /// Returns the line and samples the rate. `elapsed` is the time since the start, by default from the clock.
    package func text(done: Int64, total: Int64?, after elapsed: Duration? = nil) -> String {
        let perSecond = rate.withLock { rate in
            rate.note(done, at: elapsed ?? ContinuousClock.now - start)
            return rate.perSecond
        }
        var parts: [String] = []
        if let total, total > 0 {
            // Rounds down, so that 100% appears only at the end.
            let done = min(max(0, done), total)
            parts = ["\(Int(100 * Double(done) / Double(total)))%", "\(unit.text(done)) of \(unit.whole(total))"]
        } else {
            parts = [unit.whole(done)]
        }
        if let perSecond, perSecond > 0 {
            parts.append(unit.rate(perSecond))
            if let total, done < total {
                let left = min(1e9, (Double(total - done) / perSecond).rounded(.up))
                parts.append("ETA \(Self.clockText(Int64(left)))")
            }
        }
        return "\(title)  \(parts.joined(separator: "  "))"
    }

    /// Returns `0:42`, `12:34`, `1:02:03`.
    private static func clockText(_ seconds: Int64) -> String {
        let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
        let rest = "\(minutes < 10 && hours > 0 ? "0" : "")\(minutes):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
        return hours > 0 ? "\(hours):\(rest)" : rest
    }
}
