import TestSupport

/// A reachability source that a test controls.
final class ManualReachability: Reachability {
    private struct State {
        var unreachable: Set<String>
        /// Hosts that are unreachable at the next query, and reachable afterwards.
        var undecided: Set<String> = []
        var askCount = 0
        var streams: [AsyncStream<String?>.Continuation] = []
        var conditions: NetworkConditions
        var conditionStreams: [AsyncStream<Void>.Continuation] = []
    }

    /// Guards the state of the hosts, and the listeners.
    private let state: Mutex<State>

    init(unreachable: Set<String> = [], conditions: NetworkConditions = []) {
        state = Mutex(State(unreachable: unreachable, conditions: conditions))
    }

    var conditions: NetworkConditions { state.withLock { $0.conditions } }

    func conditionChanges() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        state.withLock { $0.conditionStreams.append(continuation) }
        return stream
    }

    /// Changes the conditions of the network, and reports the change.
    func setConditions(_ conditions: NetworkConditions) {
        let streams = state.withLock { state in
            state.conditions = conditions
            return state.conditionStreams
        }
        for stream in streams { stream.yield(()) }
    }

    func isReachable(_ host: String) -> Bool {
        state.withLock { state in
            state.askCount += 1
            let isReachable = !state.unreachable.contains(host)
            if state.undecided.remove(host) != nil { state.unreachable.remove(host) }
            return isReachable
        }
    }

    func changes() -> AsyncStream<String?> {
        let (stream, continuation) = AsyncStream<String?>.makeStream()
        state.withLock { $0.streams.append(continuation) }
        return stream
    }

    /// Returns once the source was queried this many times.
    func asked(_ count: Int) async { await eventually { state.withLock { $0.askCount } >= count } }

    /// Reports a host as reachable, or any, without changing the answer to queries.
    func tell(_ host: String?) {
        for stream in state.withLock({ $0.streams }) { stream.yield(host) }
    }

    /// Makes a host reachable, or any, and reports it.
    func becameReachable(_ host: String?) {
        state.withLock { state in state.unreachable = host.map { state.unreachable.subtracting([$0]) } ?? [] }
        tell(host)
    }

    /// Makes all hosts reachable under these conditions, and reports only the hosts.
    func becameReachable(in conditions: NetworkConditions) {
        state.withLock { state in
            state.unreachable = []
            state.conditions = conditions
        }
        tell(nil)
    }

    /// Makes a host reachable after the next query, without a report.
    func changesItsMind(about host: String) { state.withLock { _ = $0.undecided.insert(host) } }
}
