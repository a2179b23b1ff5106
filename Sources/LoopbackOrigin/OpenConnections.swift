internal import NIOCore
internal import Synchronization

/// The connections that an origin must close when it stops.
final class OpenConnections: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var accepted = 0
        var isRefusing = false
    }

    /// Guards the table; a channel guards itself.
    private let state = Mutex(State())

    /// How many connections were ever admitted.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Takes a new connection in. `false` when the origin has stopped meanwhile: the connection is the caller's to close.
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

    /// Admits no more, and hands over those that are open.
    func refuseFurther() -> [any Channel] {
        state.withLock { state in
            state.isRefusing = true
            defer { state.channels = [:] }
            return Array(state.channels.values)
        }
    }
}
