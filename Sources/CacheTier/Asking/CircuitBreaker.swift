/// Stops asking a failing engine, then probes it with one request at a time. A result says something about the time of
/// its request. Pure: the time is an argument.
package struct CircuitBreaker: Sendable {
    private enum State {
        /// `since`: the end of the last counted failure, or the beginning of the probe that closed the breaker.
        case closed(failures: Int, since: Duration?)
        case open(until: Duration, pause: Duration)
        /// `since`: the beginning of the first probe.
        case halfOpen(since: Duration, lastProbe: Duration, pause: Duration)
    }

    /// The number of consecutive failures that opens the breaker.
    package let threshold: Int
    /// The first pause. Each later failure doubles it.
    package let firstPause: Duration
    package let longestPause: Duration
    private var state = State.closed(failures: 0, since: nil)

    package init(threshold: Int = 5, firstPause: Duration = .seconds(1), longestPause: Duration = .seconds(30)) {
        self.threshold = threshold
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// Whether only probes may ask the engine.
    package var isOpen: Bool {
        if case .closed = state { return false }
        return true
    }

    /// Whether a request may ask the engine. After the pause, one request becomes a probe.
    package mutating func admits(at now: Duration) -> Bool {
        switch state {
        case .closed:
            return true
        case .open(let until, let pause):
            guard now >= until else { return false }
            state = .halfOpen(since: now, lastProbe: now, pause: pause)
            return true
        case .halfOpen(let since, let lastProbe, let pause):
            // A probe without a result, for example a cancelled one, does not block later probes.
            guard now - lastProbe >= pause else { return false }
            state = .halfOpen(since: since, lastProbe: now, pause: pause)
            return true
        }
    }

    /// Records that a request that began at `start` succeeded.
    package mutating func succeeded(from start: Duration) {
        switch state {
        case .closed(_, let since):
            // Even if it began before the last failure: the engine has answered since.
            state = .closed(failures: 0, since: since)
        case .open:
            break
        case .halfOpen(let since, _, _):
            if start >= since { state = .closed(failures: 0, since: start) }
        }
    }

    /// Stops asking until a time that the engine has stated.
    package mutating func open(until time: Duration) {
        if case .open(let end, _) = state, end >= time { return }
        state = .open(until: time, pause: firstPause)
    }

    /// Records that a request failed. `end` is the present time.
    package mutating func failed(from start: Duration, to end: Duration) {
        switch state {
        case .closed(let failures, let since):
            // Requests that fail at the same time count as one failure.
            if let since, start < since { return }
            state =
                failures + 1 < threshold
                ? .closed(failures: failures + 1, since: end)
                : .open(until: end + firstPause, pause: firstPause)
        case .halfOpen(let since, _, let pause):
            // A request from before the first probe says nothing about the engine now. The same holds for its success.
            guard start >= since else { return }
            let next = min(pause * 2, longestPause)
            state = .open(until: end + next, pause: next)
        case .open:
            break
        }
    }
}
