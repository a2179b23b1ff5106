internal import CPlatform
internal import CSQLite
internal import Synchronization

/// The fair lock that a process takes before it begins a write transaction. SQLite's own lock is not fair: a waiting
/// connection sleeps for up to 100 ms, while a busy writer takes the lock again and again. This lock is a turnstile,
/// two bytes of the ``LockFile``:
///
///     take:     lock the turnstile, lock the write byte, unlock the turnstile
///     release:  unlock the write byte
///
/// A process that has just committed must pass the turnstile again, so the waiter at the turnstile is next. Taking a
/// free lock costs three calls of fcntl(2) and one of fstatat(2). Waiters poll, so the timeout is exact, and a stopped
/// process blocks no other process for longer.
///
/// The lock only orders transactions; SQLite protects the data. If the file cannot be opened or locked,
/// ``take(within:)`` succeeds without a lock. After a timeout, the transaction is tried without the lock, and SQLite
/// decides. Only one owner at a time takes and releases the lock. Any thread may call ``limitWaits(to:)``.
package final class WriteLock: Sendable {
    private struct State {
        var file: LockFile
        /// The file whose write byte this object has locked.
        var held: FileDescriptor?
        /// Whether the latest transaction succeeded without the lock, after a wait.
        var isStuck = false
    }

    /// The longest wait while the lock is stuck. A process may hold the lock without writing, such as a child after
    /// fork(2), and must not delay every transaction.
    private static let longestWaitForStuckLock = Duration.milliseconds(20)

    /// The longest pause between two attempts, about the duration of a transaction.
    private static let longestPause = Duration.microseconds(500)

    /// The number of consecutive attempts that find the write byte free before a waiter ignores the turnstile. A live
    /// waiter at the turnstile takes the byte at its next attempt; otherwise it is stopped, or has lost the processor.
    private static let maxFreeSightings = 20

    /// Guards the file and the lock. No call under it blocks.
    private let state: Mutex<State>

    /// The limit of every wait, in microseconds.
    private let waitLimit = Atomic(microseconds(.seconds(1_000_000)))

    /// - Parameter root: The directory of the store.
    package init(root: FileDescriptor) {
        state = Mutex(State(file: LockFile(root: root)))
    }

    // MARK: Taking

    /// Takes the lock. Returns `false` if other processes hold it for longer than `timeout`. Blocks the calling thread.
    package func take(within timeout: Duration) -> Bool {
        let (file, isStuck) = state.withLock { state in
            precondition(state.held == nil, "the write lock is held already")
            return (state.file.open(), state.isStuck)
        }
        guard let file else { return true }
        let isLocked: Bool
        do throws(StoreError) {
            isLocked = try lock(file, within: isStuck ? min(timeout, Self.longestWaitForStuckLock) : timeout)
        } catch {
            // ENOTSUP, EINVAL or ENOLCK: the file system supports no such locks, or has run out of them.
            return true
        }
        guard isLocked else { return false }
        state.withLock { state in
            state.held = file
            state.isStuck = false
        }
        return true
    }

    /// Releases the lock, if it is held.
    package func release() {
        state.withLock { state in
            state.held?.unlockByte(at: LockFile.write)
            state.held = nil
        }
    }

    /// Whether another process waits at the turnstile. `false` unless this object holds the lock.
    package var isAwaited: Bool {
        state.withLock { state in
            guard let file = state.held else { return false }
            return (try? file.isByteLocked(at: LockFile.turnstile)) ?? false
        }
    }

    /// Closes the file until the lock is taken again. The lock must not be held.
    package func close() {
        state.withLock { state in
            precondition(state.held == nil, "the write lock is held")
            state.file.close()
        }
    }

    /// Limits every wait from now on, also current ones. `nil` removes the limit. Suspending and closing a store call
    /// this before they wait for the writer, which may itself be waiting.
    package func limitWaits(to limit: Duration?) {
        waitLimit.store(Self.microseconds(limit ?? .seconds(1_000_000)), ordering: .relaxed)
    }

    // MARK: Waiting

    private func lock(_ file: FileDescriptor, within timeout: Duration) throws(StoreError) -> Bool {
        // The bytes are adjacent, so one call takes both. The kernel locks both or none, so a waiter keeps its turn.
        if try file.tryLockBytes(at: LockFile.turnstile, count: 2) {
            file.unlockByte(at: LockFile.turnstile)
            return true
        }
        var isAtTurnstile = false
        defer { if isAtTurnstile { file.unlockByte(at: LockFile.turnstile) } }
        var freeSightings = 0
        var pause = Duration.microseconds(100)
        let start = ContinuousClock.now
        while true {
            if !isAtTurnstile { isAtTurnstile = try file.tryLockByte(at: LockFile.turnstile) }
            if isAtTurnstile {
                if try file.tryLockByte(at: LockFile.write) { return true }
            } else if try file.isByteLocked(at: LockFile.write) {
                freeSightings = 0
            } else {
                freeSightings += 1
                if freeSightings >= Self.maxFreeSightings, try file.tryLockByte(at: LockFile.write) { return true }
            }
            let rest = remaining(of: timeout, since: start)
            guard rest > .zero else { return false }
            usleep(useconds_t(max(1, Self.microseconds(min(pause, rest)))))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// Returns the remaining time of a wait that began at `start`. Reads the limit at each call.
    private func remaining(of timeout: Duration, since start: ContinuousClock.Instant) -> Duration {
        let limit = Duration.microseconds(waitLimit.load(ordering: .relaxed))
        return max(.zero, min(timeout, limit) - start.duration(to: .now))
    }

    /// Returns the duration in whole microseconds, at most 12 days.
    private static func microseconds(_ duration: Duration) -> Int64 {
        Int64(min(max(duration, .zero), .seconds(1_000_000)) / .microseconds(1))
    }
}

// MARK: - Transactions

extension WriteLock {
    /// Takes the lock and begins a write transaction, both within `timeout`. The caller ends the transaction, then
    /// calls ``release()``. After an error, such as `SQLITE_BUSY`, the lock is not held.
    package func begin(_ connection: Connection, within timeout: Duration) throws(StoreError) {
        try withTimeout(timeout) { (rest) throws(StoreError) in
            do throws(StoreError) {
                try connection.beginWriting(within: rest)
            } catch {
                release()
                throw error
            }
        }
    }

    /// Holds the lock during `body`, whose writes need no explicit transaction. Throws `SQLITE_BUSY` after `timeout`.
    func withLock<Value>(
        within timeout: Duration, _ body: () throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        try withTimeout(timeout) { (_) throws(StoreError) in
            defer { release() }
            return try body()
        }
    }

    /// Takes the lock, then calls `body` with the remaining timeout. Without the lock, SQLite decides.
    private func withTimeout<Value>(
        _ timeout: Duration, _ body: (_ rest: Duration) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let start = ContinuousClock.now
        let isTaken = take(within: timeout)
        let value = try body(remaining(of: timeout, since: start))
        // SQLite's lock was free, so the holder of this lock probably does not write. The next waits are short.
        if !isTaken { state.withLock { $0.isStuck = true } }
        return value
    }
}
