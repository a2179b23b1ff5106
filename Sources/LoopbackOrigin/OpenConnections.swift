internal import NIOCore
internal import Synchronization

/// The connections that an origin closes when it stops.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var accepted = 0
        var isRefusing = false
    }

    /// Guards the table; a channel guards itself.
    private let state = Mutex(State())

    /// The number of connections admitted so far.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Admits a new connection. Returns `false` if the origin has stopped meanwhile; then the caller closes the
    /// connection.
    func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.isRefusing else { return false }
            state.channels[ObjectIdentifier(channel)] = channel
            state.accepted += 1
            return true
        }
    }

    func remove(_ channel: any Channel) {
        state.withLock { $0.channels[ObjectIdentifier(channel)] = nil }
    }

    /// Refuses further connections, and returns the open ones.
    func refuseFurther() -> [any Channel] {
        state.withLock { state in
            state.isRefusing = true
            defer { state.channels = [:] }
            return Array(state.channels.values)
        }
    }
}
