package import CacheFoundation

/// How far a memory cache shrinks under memory pressure, and for how long.
///
/// Each share refers to the cost limit. In a cache without a limit, each share refers to the cost when the pressure
/// began.
public struct StressLimits: Hashable, Sendable {
    /// The share to keep after ``MemoryPressure/warning``, from 0 to 1; 0.5 by default.
    public let warning: Double
    /// The share to keep after ``MemoryPressure/critical``, from 0 to 1; 0.1 by default.
    public let critical: Double
    /// How long the limit stays low after a signal; 10 seconds by default. A system repeats its signals while the
    /// pressure lasts, Linux every 2 seconds.
    public let duration: Duration

    /// Creates limits.
    ///
    /// - Precondition: The shares are from 0 to 1, and the duration is not negative.
    public init(warning: Double = 0.5, critical: Double = 0.1, duration: Duration = .seconds(10)) {
        precondition((0...1).contains(warning) && (0...1).contains(critical), "a share is from 0 to 1")
        precondition(duration >= .zero, "a duration is not negative")
        self.warning = warning
        self.critical = critical
        self.duration = duration
    }
}

/// The limit that memory pressure imposes for a while. Uses no timer and reads no clock: each query compares the time
/// of the last signal with its argument. The configured limit is an argument, too, so that no other limit can apply
/// afterwards. A level lasts for a fixed duration after its latest signal. While both levels last, the lower limit
/// applies:
///
///     warning   ├──────────────┤
///     critical       ├──────────────┤
///     kept      0.5  0.1            1
package struct StressClamp {
    private let limits: StressLimits
    private var warnedAt: Date?
    private var becameCriticalAt: Date?
    /// The total cost when the pressure began. Takes the place of the limit in a cache without one.
    private var costBefore = 0

    package init(_ limits: StressLimits) {
        self.limits = limits
    }

    /// Records a signal, and the total cost at that time.
    package mutating func note(_ pressure: MemoryPressure, totalCost: Int, at now: Date) {
        // Under pressure the cost is already reduced: a share of it would be a share of a share.
        if !lasts(warnedAt, now), !lasts(becameCriticalAt, now) { costBefore = totalCost }
        switch pressure {
        case .warning: warnedAt = now
        case .critical: becameCriticalAt = now
        }
    }

    /// Returns the limit in force for a configured `costLimit`, or `nil` for no limit.
    package func limit(for costLimit: Int?, at now: Date) -> Int? {
        var share: Double?
        if lasts(warnedAt, now) { share = limits.warning }
        if lasts(becameCriticalAt, now) { share = min(share ?? 1, limits.critical) }
        return share.map { Self.part($0, of: costLimit ?? costBefore) } ?? costLimit
    }

    /// Returns whether a signal is still in force. A signal far in the future is not: after the clock was set back, it
    /// could last for a day.
    private func lasts(_ signal: Date?, _ now: Date) -> Bool {
        guard let signal else { return false }
        let elapsed = now.timeIntervalSince(signal)
        let duration = limits.duration / .seconds(1)
        return -duration <= elapsed && elapsed < duration
    }

    /// Does not compute a share of 1: `Double` rounds the largest integers up to a value too large for `Int`.
    private static func part(_ share: Double, of cost: Int) -> Int {
        share < 1 ? Int(Double(cost) * share) : cost
    }
}
