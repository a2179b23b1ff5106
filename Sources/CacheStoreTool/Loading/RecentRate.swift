/// How fast a count grows: by how much it has grown within the last ten seconds.
///
/// Not since the beginning: what comes from the store at first would promise much for what comes from the network.
package struct RecentRate: Sendable {
    package static let span = Duration.seconds(10)
    /// Growth within less says nothing yet.
    package static let shortestSpan = Duration.milliseconds(500)

    /// In the order of their times; the first may be older than the span, so that the others cover all of it.
    private var samples: [(time: Duration, count: Int64)] = [(.zero, 0)]

    package init() {}

    /// - Parameter time: Since the count was zero; never less than before.
    package mutating func note(_ count: Int64, at time: Duration) {
        samples.append((time, count))
        while samples.count > 2, time - samples[1].time >= Self.span { samples.removeFirst() }
    }

    /// How many are kept.
    package var sampleCount: Int { samples.count }

    /// The growth per second; `nil` before it can be told.
    package var perSecond: Double? {
        let (first, last) = (samples[0], samples[samples.count - 1])
        let span = last.time - first.time
        guard span >= Self.shortestSpan else { return nil }
        return Double(last.count - first.count) / (span / .seconds(1))
    }
}
