/// Tells whether hosts can be reached, so that loads wait for the network instead of failing.
///
/// Without one, a load fails at once if its host refuses the connection or has no address.
public protocol Reachability: Sendable {
    /// Whether there is a way to a host now. Asked on any thread; answers at once.
    func isReachable(_ host: String) -> Bool

    /// Tells of each host that can be reached again; `nil` for all hosts. Each call gives a stream of its own.
    func changes() -> AsyncStream<String?>
}

#if canImport(Network)
internal import Network
internal import Synchronization

/// What the system says about the network as a whole.
public final class SystemReachability: Reachability {
    private struct State {
        var isSatisfied = true
        var streams: [UInt64: AsyncStream<String?>.Continuation] = [:]
        var lastID: UInt64 = 0
    }

    /// Guards what was said last, and who wants to know.
    private let state = Mutex(State())
    private let monitor = NWPathMonitor()

    /// Starts to watch the network.
    public init() {
        monitor.pathUpdateHandler = { [weak self] path in self?.update(path.status == .satisfied) }
        monitor.start(queue: .global(qos: .utility))
    }

    deinit {
        monitor.cancel()
    }

    /// Whether there is any network.
    public func isReachable(_ host: String) -> Bool { state.withLock { $0.isSatisfied } }

    /// Tells when there is a network again.
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
