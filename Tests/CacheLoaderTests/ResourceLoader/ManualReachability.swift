import CacheLoader
import Synchronization

/// Tells what a test says of hosts.
final class ManualReachability: Reachability {
    private struct State {
        var unreachable: Set<String>
        /// Hosts that can be reached the next time but one that somebody asks.
        var undecided: Set<String> = []
        var askCount = 0
        var streams: [AsyncStream<String?>.Continuation] = []
        var conditions: NetworkConditions
        var conditionStreams: [AsyncStream<Void>.Continuation] = []
    }

    /// Guards what is known of hosts, and who wants to know.
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

    /// Returns once somebody has asked so many times.
    func asked(_ count: Int) async { await eventually { state.withLock { $0.askCount } >= count } }

    /// Tells that a host can be reached, or any, without saying so to who asks.
    func tell(_ host: String?) {
        for stream in state.withLock({ $0.streams }) { stream.yield(host) }
    }

    /// Says that a host can be reached, or any, and tells of it.
    func becameReachable(_ host: String?) {
        state.withLock { state in
            state.unreachable = host.map { state.unreachable.subtracting([$0]) } ?? []
        }
        tell(host)
    }

    /// Says that any host can be reached, in these conditions, and tells of the hosts alone.
    func becameReachable(in conditions: NetworkConditions) {
        state.withLock { state in
            state.unreachable = []
            state.conditions = conditions
        }
        tell(nil)
    }

    /// Says that a host can be reached once somebody has heard that it cannot, and tells nobody.
    func changesItsMind(about host: String) {
        state.withLock { _ = $0.undecided.insert(host) }
    }
}
