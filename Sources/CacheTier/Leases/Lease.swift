internal import Synchronization

/// The lease of this machine to ask the origin for a response, while the other machines wait.
///
/// Ends once: by the deletion of its object, also when the load is given up and the lease is released, or by a note.
final class Lease: Sendable {
    private let tier: SharedTier
    private let name: String
    private let token: LeaseToken
    /// Whether the engine has answered that it has the lease. A `PUT` without an answer may have arrived.
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

    /// Deletes the lease, behind the delivery.
    func giveUp() {
        guard endsNow() else { return }
        endBehind { [tier, name, token, isConfirmed] in
            await tier.deleteLease(name, token, isConfirmed: isConfirmed)
        }
    }

    /// Deletes the lease: the tier has the response, or the next machine may try.
    func end() async {
        guard endsNow(), !Self.isOver(since: start, tier) else { return }
        await tier.deleteLease(name, token, isConfirmed: isConfirmed)
    }

    /// Replaces the lease by a note, behind the delivery: the tier does not store responses of this URL.
    func leaveNote() {
        guard endsNow() else { return }
        tier.insertNote(name)
        endBehind { [tier, name] in await tier.writeNote(name) }
    }

    /// Runs the end behind the delivery, unless the lease is over when its turn comes.
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

    /// Whether the caller has to end the lease.
    private func endsNow() -> Bool {
        hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
    }
}
