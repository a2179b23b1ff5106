import Synchronization

/// What many loads have come to so far, for the line on the terminal and for the summary.
final class LoadBatch: Sendable {
    private struct State {
        var tally = LoadTally()
        var byteCount: Int64 = 0
        var total: Int?
        var loadRate = RecentRate()
        var byteRate = RecentRate()
        var isStopped = false
    }

    private let start = ContinuousClock.now
    /// Guards the counts.
    private let state: Mutex<State>

    /// - Parameter total: How many loads there are going to be, if that is known.
    init(total: Int?) {
        state = Mutex(State(total: total))
    }

    func note(_ outcome: LoadTally.Outcome) {
        state.withLock { $0.tally.note(outcome) }
    }

    /// Bytes of bodies have arrived from the network.
    func received(_ byteCount: Int) {
        state.withLock { $0.byteCount += Int64(byteCount) }
    }

    /// From now on no request goes out. Loads that wait for their turn are cancelled one after the other, and each of them
    /// lets the next begin.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    var tally: LoadTally { state.withLock { $0.tally } }

    /// Bytes of bodies from the network.
    var byteCount: Int64 { state.withLock { $0.byteCount } }

    /// Since the beginning.
    var elapsed: Duration { ContinuousClock.now - start }

    /// How far they are; to be asked some times a second, which is what the rates go by.
    func progressText() -> String {
        let now = elapsed
        let bar = state.withLock { state in
            state.loadRate.note(Int64(state.tally.completed), at: now)
            state.byteRate.note(state.byteCount, at: now)
            return ProgressBar(
                completed: state.tally.completed, total: state.total, perSecond: state.loadRate.perSecond,
                byteCount: state.byteCount, bytesPerSecond: state.byteRate.perSecond)
        }
        return bar.text(width: ProgressLine.width)
    }
}
