package import CacheFoundation
internal import CacheStore
internal import Logging
internal import Synchronization

/// Periodically stores the received part of a growing body. After a kill of the process, the next load completes the
/// part. At most one commit runs at a time, and the transfer does not wait for it. A failed commit leaves the earlier
/// part in the store.
final class PartCommits: Sendable {
    /// Stores the written bytes in place of the last stored part, unless the store has a later response.
    typealias Commit = @Sendable (BodyWriter, _ last: StoredEntry?) async throws(StoreError) -> StoredEntry?
    typealias Remove = @Sendable (StoredEntry) async throws(StoreError) -> Void

    private struct State {
        var schedule: PartCommitSchedule
        var part: StoredEntry?
        var running: Task<Void, Never>?
        /// Whether the last write is over.
        var isFinished = false
    }

    private let url: String
    private let writer: BodyWriter
    private let clock: @Sendable () -> Date
    private let log: CacheLog
    private let commit: Commit
    private let remove: Remove

    /// Guards the stored part and the running commit.
    private let state: Mutex<State>

    /// `part` is the stored part at the start of `writer`'s file, if any. `commit` runs in a separate task.
    init(
        url: String, of writer: BodyWriter, after part: StoredEntry?, clock: @escaping @Sendable () -> Date,
        log: CacheLog, commit: @escaping Commit, remove: @escaping Remove
    ) {
        self.url = url
        self.writer = writer
        self.clock = clock
        self.log = log
        self.commit = commit
        self.remove = remove
        let schedule = PartCommitSchedule(byteCount: writer.byteCount, at: clock())
        state = Mutex(State(schedule: schedule, part: part))
    }

    /// Starts a commit if one is due and none is running. Called after each write.
    func bodyGrew() {
        let (byteCount, now) = (writer.byteCount, clock())
        state.withLock { state in
            guard state.running == nil, !state.isFinished, state.schedule.isDue(byteCount, at: now) else { return }
            state.running = Task { [last = state.part] in await commitPart(after: last) }
        }
    }

    private func commitPart(after last: StoredEntry?) async {
        var stored: StoredEntry?
        do throws(StoreError) {
            stored = try await commit(writer, last)
        } catch {
            log(
                .errors, .debug, "did not store the received part of a response",
                ["url": "\(LoggedURL(url))", "error": "\(error.logged)"])
        }
        state.withLock { [stored] state in
            state.running = nil
            if let stored { state.part = stored }
        }
        // The next commit may be due already.
        bodyGrew()
    }

    /// Waits for the running commit, starts no other, and returns the last stored part. Called after the last write.
    func finish() async -> StoredEntry? {
        let running = state.withLock { state in
            state.isFinished = true
            return state.running
        }
        await running?.value
        return state.withLock { $0.part }
    }

    /// Removes the stored part, because no later load can complete it.
    func discard() async {
        guard let part = await finish() else { return }
        do throws(StoreError) {
            try await remove(part)
        } catch {
            log(
                .errors, .debug, "could not remove the received part of a response",
                ["url": "\(LoggedURL(url))", "error": "\(error.logged)"])
        }
    }
}

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
