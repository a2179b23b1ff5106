/// The growth rate of a count over the last ten seconds. Ignores earlier growth: the store answers quickly at first,
/// which would overestimate the network's rate.
package struct RecentRate: Sendable {
    static let span = Duration.seconds(10)
    /// The shortest time between two kept samples.
    private static let resolution = Duration.milliseconds(100)
    /// The shortest time that gives a rate.
    static let shortestSpan = Duration.milliseconds(500)

    /// The samples, oldest first. The first may be older than ``span``, so that the samples cover the span.
    private var samples: [(time: Duration, count: Int64)] = [(.zero, 0)]

    package init() {}

    /// - Parameter time: The time since the count was zero, never less than in the previous call.
    package mutating func note(_ count: Int64, at time: Duration) {
        // A check notes each file. Replace the latest sample until it is old enough.
        if samples.count > 1, time - samples[samples.count - 2].time < Self.resolution { samples.removeLast() }
        samples.append((time, count))
        while samples.count > 2, time - samples[1].time >= Self.span { samples.removeFirst() }
    }

    /// The number of samples.
    package var sampleCount: Int { samples.count }

    /// The growth per second, or `nil` before the end of ``shortestSpan``.
    package var perSecond: Double? {
        let (first, last) = (samples[0], samples[samples.count - 1])
        let span = last.time - first.time
        guard span >= Self.shortestSpan else { return nil }
        return Double(last.count - first.count) / (span / .seconds(1))
    }
}
