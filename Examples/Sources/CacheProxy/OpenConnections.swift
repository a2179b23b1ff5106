internal import NIOCore
internal import Synchronization

/// The connections of clients. The proxy waits for them before it exits.
final class OpenConnections: Sendable {
    /// Asks a connection to end after its current request.
    struct Draining: Sendable {}

    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isDraining = false
    }

    /// Guards the table, which all event loops modify.
    private let state = Mutex(State())

    /// Adds a connection. Returns `false` if the proxy is shutting down.
    func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.isDraining else { return false }
            state.channels[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    /// Removes a connection. Called once it is closed and its last request has ended.
    func remove(_ channel: any Channel) {
        state.withLock { _ = $0.channels.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Waits for all requests in progress. Cancels those that take longer than `patience`.
    func drain(patience: Duration) async {
        let channels = state.withLock { state in
            state.isDraining = true
            return Array(state.channels.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(Draining()) }
        await waitUntilEmpty(for: patience)
        for channel in state.withLock({ Array($0.channels.values) }) { channel.close(promise: nil) }
        // A cancelled request ends soon, unless the disk is slow.
        await waitUntilEmpty(for: .seconds(2))
    }

    private func waitUntilEmpty(for patience: Duration) async {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline, !state.withLock({ $0.channels.isEmpty }) {
            try? await Task.sleep(for: .milliseconds(5))
        }
    }
}
