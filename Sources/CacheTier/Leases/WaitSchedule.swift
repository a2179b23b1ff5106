/// The pauses between the looks at a lease of another machine, until a bound.
///
/// The pauses grow, so a wait notices the end of a lease at most by half of its own time too late, and sends few
/// requests. Pure: the time is an argument.
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

    /// Returns the next pause; `nil` once the bound is reached.
    ///
    /// - Parameter elapsed: The time since the beginning, requests included.
    package mutating func pause(after elapsed: Duration) -> Duration? {
        let rest = bound - max(elapsed, paused)
        guard rest > .zero else { return nil }
        let pause = min(nextPause, rest)
        nextPause = nextPause * Self.growth
        paused += pause
        return pause
    }
}
