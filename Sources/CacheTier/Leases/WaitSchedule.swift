/// The pauses between reads of another machine's lease, up to a bound.
///
/// The pauses grow, so a wait sends few requests. It notices the end of a lease late by at most half of the elapsed
/// time. Pure: the time is an argument.
package struct WaitSchedule: Sendable {
    private static let growth = 1.5
    private let bound: Duration
    private var nextPause: Duration
    private var paused = Duration.zero

    /// Creates a schedule.
    ///
    /// - Parameters:
    ///   - bound: The longest time of all pauses together.
    ///   - firstPause: The first pause.
    package init(bound: Duration, firstPause: Duration = .milliseconds(10)) {
        self.bound = bound
        nextPause = firstPause
    }

    /// Returns the next pause, or `nil` when the bound is reached.
    ///
    /// - Parameter elapsed: The time since the beginning, including requests.
    package mutating func pause(after elapsed: Duration) -> Duration? {
        let rest = bound - max(elapsed, paused)
        guard rest > .zero else { return nil }
        let pause = min(nextPause, rest)
        nextPause = nextPause * Self.growth
        paused += pause
        return pause
    }
}
