internal import NIOCore
internal import Synchronization

/// The connections of a server. Each stays until it is closed and its answer has returned.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var accepted = 0
        var isRefusing = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    /// Guards the table. A channel guards its own state.
    private let state = Mutex(State())

    init(limit: Int) {
        self.limit = limit
    }

    /// The number of connections admitted so far.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Admits a new connection. Returns `false` for a stopped or full server. The caller then closes the connection.
    func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.isRefusing, state.channels.count < limit else { return false }
            state.channels[ObjectIdentifier(channel)] = channel
            state.accepted += 1
            return true
        }
    }

    func remove(_ channel: any Channel) {
        let waiters = state.withLock { state in
            state.channels[ObjectIdentifier(channel)] = nil
            guard state.channels.isEmpty else { return [] as [CheckedContinuation<Void, Never>] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func refuseFurther() -> [any Channel] {
        state.withLock { state in
            state.isRefusing = true
            return Array(state.channels.values)
        }
    }

    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                if !state.channels.isEmpty { state.waiters.append(continuation) }
                return state.channels.isEmpty
            }
            if isEmpty { continuation.resume() }
        }
    }
}
