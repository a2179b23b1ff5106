/// Decides whether a request asks the tier first, or tier and origin in parallel.
///
/// In series, a request costs `t_tier` and, on a miss, additionally `t_origin`. In parallel, it costs at most
/// `t_origin`. So the series is faster only if `p(hit) × t_origin > t_tier`. Pure: the measurements are arguments.
package struct HedgingPlan: Sendable {
    /// The weight of a new measurement in an average.
    private static let weight = 0.1
    /// The number of measurements of each kind that a decision needs. Until then, requests ask in series.
    package static let leastMeasurements = 8

    private struct Average {
        var value = 0.0
        var count = 0

        mutating func note(_ measurement: Double) {
            count += 1
            // The first measurements have a plain average.
            value += (measurement - value) * max(weight, 1 / Double(count))
        }
    }

    package init() {}

    private var hitRatio = Average()
    private var tierTime = Average()
    private var originTime = Average()

    /// Whether a request asks the tier first.
    package var asksInSeries: Bool {
        guard min(hitRatio.count, tierTime.count, originTime.count) >= Self.leastMeasurements else { return true }
        return hitRatio.value * originTime.value > tierTime.value
    }

    /// Returns the longest wait for a response that another machine requests.
    ///
    /// Twice the origin's time, because that request may be slower than the average. Adds four requests to the tier:
    /// body, record and lease of the other machine, and the next lookup.
    ///
    /// - Parameter limit: The upper bound, also used without measurements.
    package func longestWait(atMost limit: Duration) -> Duration {
        guard originTime.count > 0 else { return limit }
        return min(limit, .seconds(2 * originTime.value + 4 * tierTime.value))
    }

    package mutating func noteTier(_ time: Duration, isHit: Bool) {
        tierTime.note(time / .seconds(1))
        hitRatio.note(isHit ? 1 : 0)
    }

    package mutating func noteOrigin(_ time: Duration) {
        originTime.note(time / .seconds(1))
    }
}
