internal import Synchronization

/// The lease of this machine to ask the origin for a response, while the other machines wait.
///
/// Ends once: by the deletion of its object, also when the load is given up and the lease is released, or by a note.
final class Lease: Sendable {
    private let tier: SharedTier
    private let name: String
    private let hasEnded = Mutex(false)

    init(_ name: String, of tier: SharedTier) {
        self.name = name
        self.tier = tier
    }

    deinit {
        giveUp()
    }

    /// Deletes the lease, behind the delivery.
    func giveUp() {
        guard endsNow() else { return }
        tier.writes.addUrgent { [tier, name] in await tier.delete(name) }
    }

    /// Deletes the lease: the tier has the response, or the next machine may try.
    func end() async {
        guard endsNow() else { return }
        await tier.delete(name)
    }

    /// Replaces the lease by a note, behind the delivery: the tier does not store responses of this URL.
    func leaveNote() {
        guard endsNow() else { return }
        tier.writes.addUrgent { [tier, name] in await tier.writeNote(name) }
    }

    /// Whether the caller has to end the lease.
    private func endsNow() -> Bool {
        hasEnded.withLock { hasEnded in
            defer { hasEnded = true }
            return !hasEnded
        }
    }
}
