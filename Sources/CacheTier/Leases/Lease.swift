internal import Synchronization

/// The lease with which this machine asks the origin for a response, while the other machines wait.
///
/// Ends exactly once: its object is deleted or replaced by a note. Releasing the lease also ends it, for example after
/// an abandoned load.
final class Lease: Sendable {
    private let tier: SharedTier
    private let name: String
    private let token: LeaseToken
    /// Whether the engine has confirmed the lease. A `PUT` without an answer may have arrived.
    private let isConfirmed: Bool
    /// The uptime before the lease was taken.
    private let start: Duration
    private let hasEnded = Mutex(false)

    init(_ name: String, _ token: LeaseToken, of tier: SharedTier, from start: Duration, isConfirmed: Bool) {
        self.name = name
        self.token = token
        self.tier = tier
        self.start = start
        self.isConfirmed = isConfirmed
    }

    deinit {
        giveUp()
    }

    /// Deletes the lease after the delivery.
    func giveUp() {
        guard endsNow() else { return }
        endBehind { [tier, name, token, isConfirmed] in
            await tier.deleteLease(name, token, isConfirmed: isConfirmed)
        }
    }

    /// Deletes the lease, because the tier has the response or the next machine may try.
    func end() async {
        guard endsNow(), !Self.isOver(since: start, tier) else { return }
        await tier.deleteLease(name, token, isConfirmed: isConfirmed)
    }

    /// Replaces the lease by a note after the delivery: the tier does not store responses of this URL.
    func leaveNote() {
        guard endsNow() else { return }
        tier.insertNote(name)
        endBehind { [tier, name] in await tier.writeNote(name) }
    }

    /// Ends the lease after the delivery, unless its lifetime is over by then.
    private func endBehind(_ end: @escaping @Sendable () async -> Void) {
        tier.writes.addEnd { [tier, start] in
            guard !Self.isOver(since: start, tier) else { return }
            await end()
        }
    }

    /// Whether another machine may have taken over a lease that was taken at the uptime `start`.
    private static func isOver(since start: Duration, _ tier: SharedTier) -> Bool {
        // The engine counts whole seconds.
        tier.configuration.uptime() - start > tier.configuration.leaseLifetime - .seconds(1)
    }

    /// Whether the caller has to end the lease. `true` only once.
    private func endsNow() -> Bool {
        hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
    }
}
