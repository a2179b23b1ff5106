/// Stops asking an engine that fails, and asks again with one request at a time.
///
/// Pure: the time is an argument.
package struct CircuitBreaker: Sendable {
    private enum State {
        case closed(failures: Int)
        case open(until: Duration, pause: Duration)
        case halfOpen(since: Duration, pause: Duration)
    }

    /// The consecutive failures that open the breaker.
    package let threshold: Int
    /// The first pause. Each further failure doubles the pause.
    package let firstPause: Duration
    package let longestPause: Duration
    private var state = State.closed(failures: 0)

    package init(threshold: Int = 5, firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(30)) {
        self.threshold = threshold
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Whether the engine is not asked, except by a probe.
    package var isOpen: Bool {
        if case .closed = state { return false }
        return true
    }

    /// Whether a request may ask the engine. After the pause, one request is a probe.
    package mutating func admits(at now: Duration) -> Bool {
        switch state {
        case .closed:
            return true
        case .open(let until, let pause):
            guard now >= until else { return false }
            state = .halfOpen(since: now, pause: pause)
            return true
        case .halfOpen(let since, let pause):
            // A probe without a result, such as a cancelled one, does not block later probes.
            guard now - since >= pause else { return false }
            state = .halfOpen(since: now, pause: pause)
            return true
        }
    }

    package mutating func succeeded() {
        state = .closed(failures: 0)
    }

    /// Records a failure, and returns whether the breaker opens by it.
    package mutating func failed(at now: Duration) -> Bool {
        switch state {
        case .closed(let failures) where failures + 1 < threshold:
            state = .closed(failures: failures + 1)
            return false
        case .closed:
            state = .open(until: now + firstPause, pause: firstPause)
            return true
        case .halfOpen(_, let pause):
            let next = min(pause * 2, longestPause)
            state = .open(until: now + next, pause: next)
            return true
        case .open:
            return false
        }
    }
}
