#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The limit that memory pressure imposes for a while. Pure: it ends because time has passed, not because a timer fired,
/// and knows the configured limit only as an argument, so that it can end at no other.
///
/// Each level lasts from its latest signal on, and the lower limit counts:
///
///     warning   ├──────────────┤
///     critical       ├──────────────┤
///     kept      0.5  0.1            1
package struct StressClamp {
    private let limits: StressLimits
    private var warnedAt: Date?
    private var becameCriticalAt: Date?
    /// What was held when the pressure began: in the place of a limit where there is none.
    private var costBefore = 0

    package init(_ limits: StressLimits) {
        self.limits = limits
    }

    /// A signal has come, when so much was held.
    package mutating func note(_ pressure: MemoryPressure, totalCost: Int, at now: Date) {
        // Of what is held while the limit is low already, a share would be a share of a share.
        if !lasts(warnedAt, now), !lasts(becameCriticalAt, now) { costBefore = totalCost }
        switch pressure {
        case .warning: warnedAt = now
        case .critical: becameCriticalAt = now
        }
    }

    /// The limit in force where `costLimit` is configured; `nil` is no limit.
    package func limit(for costLimit: Int?, at now: Date) -> Int? {
        var share: Double?
        if lasts(warnedAt, now) { share = limits.warning }
        if lasts(becameCriticalAt, now) { share = min(share ?? 1, limits.critical) }
        return share.map { Self.part($0, of: costLimit ?? costBefore) } ?? costLimit
    }

    /// A clock that was set back must not make a moment last for a day.
    private func lasts(_ signal: Date?, _ now: Date) -> Bool {
        guard let signal else { return false }
        let elapsed = now.timeIntervalSince(signal)
        let duration = limits.duration / .seconds(1)
        return -duration <= elapsed && elapsed < duration
    }

    /// `Double` rounds the largest integers up to one that is too large for `Int`.
    private static func part(_ share: Double, of cost: Int) -> Int {
        share < 1 ? Int(Double(cost) * share) : cost
    }
}
