/// Reports whether hosts are reachable, so that loads wait for the network instead of failing.
///
/// Without a `Reachability`, a load fails at once if its host refuses the connection or has no address.
public protocol Reachability: Sendable {
    /// Returns whether a host is reachable now. Called on any thread; must return at once.
    func isReachable(_ host: String) -> Bool

    /// Returns a new stream of the hosts that become reachable again; `nil` stands for all hosts.
    func changes() -> AsyncStream<String?>
}

#if canImport(Network)
internal import Dispatch
internal import Network
internal import Synchronization

/// Reports the state of the network as a whole, as the system sees it.
public final class SystemReachability: Reachability {
    private struct State {
        var isSatisfied = true
        var streams: [UInt64: AsyncStream<String?>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    /// Guards the last reported state and the streams.
    private let state = Mutex(State())
    private let monitor = NWPathMonitor()

    /// Starts to monitor the network.
    public init() {
        monitor.pathUpdateHandler = { [weak self] path in self?.update(path.status == .satisfied) }
        monitor.start(queue: .global(qos: .utility))
    }

    deinit {
        monitor.cancel()
    }

    /// Returns whether any network is available.
    public func isReachable(_ host: String) -> Bool { state.withLock { $0.isSatisfied } }

    /// Returns a stream with an element each time that a network becomes available.
    public func changes() -> AsyncStream<String?> {
        let (stream, continuation) = AsyncStream<String?>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastID += 1
            state.streams[state.lastID] = continuation
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in _ = state.streams.removeValue(forKey: id) }
        }
        return stream
    }

    private func update(_ isSatisfied: Bool) {
        let streams = state.withLock { state in
            let isNew = isSatisfied && !state.isSatisfied
            state.isSatisfied = isSatisfied
            return isNew ? Array(state.streams.values) : []
        }
        for stream in streams { stream.yield(nil) }
    }
}
#endif
