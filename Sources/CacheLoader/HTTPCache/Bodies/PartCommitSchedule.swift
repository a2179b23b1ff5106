package import CacheFoundation

/// Decides when to store the received part of a growing body: every 4 MiB, or every 2 s. Pure.
package struct PartCommitSchedule: Sendable {
    /// A commit is due after this number of new bytes.
    package static let byteCount: Int64 = 4 << 20
    /// A commit is due after this number of seconds.
    package static let interval: TimeInterval = 2
    /// The minimum number of new bytes for a commit: its transaction writes about as many to the WAL.
    static let minByteCount: Int64 = 65_536

    private var lastByteCount: Int64
    private var lastTime: Date

    /// `byteCount` bytes are stored already. The body begins to grow at `now`.
    package init(byteCount: Int64, at now: Date) {
        lastByteCount = byteCount
        lastTime = now
    }

    /// Returns whether a commit is due at `byteCount` bytes. If so, counts bytes and seconds from here.
    package mutating func isDue(_ byteCount: Int64, at now: Date) -> Bool {
        let added = byteCount - lastByteCount
        guard added >= Self.byteCount || added >= Self.minByteCount && hasPassed(at: now) else { return false }
        lastByteCount = byteCount
        lastTime = now
        return true
    }

    /// A clock that was set back does not delay a commit.
    private func hasPassed(at now: Date) -> Bool {
        let elapsed = now.timeIntervalSince(lastTime)
        return elapsed < 0 || elapsed >= Self.interval
    }
}
