internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Who loads which key, among all processes that have the store open.
///
/// A claim of a key is a lock of one byte of the file `claims`, which stays empty, at the place that the checksum of the key
/// gives. Locks of open file descriptions, fcntl(2): the kernel releases them with the process, however it ends, and no row
/// of the index has to be written or cleaned up. Two keys with the same place wait for each other, and no more.
///
/// A description does not exclude itself, so what this store has claimed is in a table, too. A claim is never needed for
/// what it keeps others from: where the file cannot be opened or locked, everybody has what they ask for, in this process
/// one at a time.
package final class Claims: Sendable {
    /// What became of an attempt.
    package enum Outcome: Sendable {
        case claimed(LoadClaim)
        /// Somebody has it who uses this object.
        case heldHere
        /// Somebody has it who does not.
        case heldElsewhere
    }

    private struct Held {
        let number: UInt64
        /// The description that has the lock; `nil` for a claim without one.
        let file: FileDescriptor?
    }

    private struct Waiter {
        let number: UInt64
        let place: Int64
        let caller: CheckedContinuation<Void, Never>
    }

    private struct OpenFile {
        let descriptor: FileDescriptor
        let inode: UInt64
    }

    private struct State {
        var file: OpenFile?
        var held: [Int64: Held] = [:]
        var waiters: [Waiter] = []
        var count: UInt64 = 0
        /// What attempts throw.
        var refusal: StoreError?

        mutating func makeNumber() -> UInt64 {
            count += 1
            return count
        }

        mutating func takeWaiters(where isMeant: (Waiter) -> Bool) -> [CheckedContinuation<Void, Never>] {
            let taken = waiters.filter(isMeant)
            waiters.removeAll(where: isMeant)
            return taken.map(\.caller)
        }
    }

    private let root: FileDescriptor
    /// Whether nothing may be made or locked: then others are asked, and not kept waiting.
    private let onlyAsks: Bool
    /// The largest place.
    private let places: Int64

    /// Guards the table and the file, whose calls do not wait. Waiters are resumed after it is unlocked.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - root: The directory of the store.
    ///   - onlyAsks: Whether nothing may be made or locked.
    ///   - placeBits: How many places there are, as a power of two; few only where keys are meant to meet. Locks are placed by a
    ///     signed number and must end before the largest: up to 62.
    package init(root: FileDescriptor, onlyAsks: Bool, placeBits: Int64 = 62) {
        self.root = root
        self.onlyAsks = onlyAsks
        places = 1 << placeBits - 1
    }

    // MARK: Claiming

    /// Claims `key` if nobody has it.
    ///
    /// - Throws: Only what ``end(with:)`` was told.
    package func claim(_ key: CacheKey) throws(StoreError) -> Outcome {
        let place = place(of: key)
        return try state.withLock { (state) throws(StoreError) in
            if let refusal = state.refusal { throw refusal }
            guard state.held[place] == nil else { return .heldHere }
            guard let file = openFile(&state), let isLocked = lock(place, of: file) else {
                return .claimed(hold(place, nil, &state))
            }
            return isLocked ? .claimed(hold(place, onlyAsks ? nil : file, &state)) : .heldElsewhere
        }
    }

    private func hold(_ place: Int64, _ file: FileDescriptor?, _ state: inout State) -> LoadClaim {
        let number = state.makeNumber()
        state.held[place] = Held(number: number, file: file)
        return LoadClaim(self, place, number)
    }

    /// Whether nobody else has the byte; then it is locked, or, by who only asks, free. `nil` where there are no locks.
    private func lock(_ place: Int64, of file: FileDescriptor) -> Bool? {
        try? onlyAsks ? !file.isByteLocked(at: place) : file.tryLockByte(at: place)
    }

    /// The file under its name, made if need be. One that has lost the name is let go of with the last claim in it: others
    /// would not meet it.
    private func openFile(_ state: inout State) -> FileDescriptor? {
        if let file = state.file, (try? root.status(of: "claims"))?.inode == file.inode { return file.descriptor }
        state.file = nil
        // Nothing else than a file, and without waiting for the other end of a FIFO.
        let flags = (onlyAsks ? O_RDONLY : O_RDWR | O_CREAT) | O_NONBLOCK
        guard let descriptor = try? root.open("claims", flags), let status = try? descriptor.status(), status.isRegular
        else { return nil }
        state.file = OpenFile(descriptor: descriptor, inode: status.inode)
        return descriptor
    }

    private func place(of key: CacheKey) -> Int64 { KeyChecksum(key).key & places }

    // MARK: Releasing

    fileprivate func release(_ place: Int64, _ number: UInt64) {
        let callers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            // Not the claim that somebody else has got since a suspension.
            guard let held = state.held[place], held.number == number else { return [] }
            held.file?.unlockByte(at: place)
            state.held[place] = nil
            return state.takeWaiters { $0.place == place }
        }
        for caller in callers { caller.resume() }
    }

    /// Releases everything, and throws `error` from now on, until ``begin()``.
    func end(with error: StoreError) {
        let callers = state.withLock { state in
            // Not by closing the file alone: a program that is being started has it open, too, for a moment.
            for (place, held) in state.held { held.file?.unlockByte(at: place) }
            state.file = nil
            state.held = [:]
            state.refusal = error
            return state.takeWaiters { _ in true }
        }
        for caller in callers { caller.resume() }
    }

    /// Allows claims again after a suspension.
    func begin() {
        // What was closed meanwhile stays closed.
        state.withLock { if $0.refusal == .suspended { $0.refusal = nil } }
    }

    // MARK: Waiting

    /// Returns when `key` is not held by who uses this object, which others may be faster to notice, or when the task is
    /// cancelled.
    func waitForRelease(of key: CacheKey) async {
        let place = place(of: key)
        let number = state.withLock { $0.makeNumber() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let waits = state.withLock { state in
                    guard state.held[place] != nil, !Task.isCancelled else { return false }
                    state.waiters.append(Waiter(number: number, place: place, caller: caller))
                    return true
                }
                if !waits { caller.resume() }
            }
        } onCancel: {
            let callers = state.withLock { $0.takeWaiters { $0.number == number } }
            for caller in callers { caller.resume() }
        }
    }
}

/// The right to load a key, until it is released or the last reference goes.
///
/// It says who fetches, not who may store: a commit needs none.
package final class LoadClaim: Sendable {
    private let claims: Claims
    private let place: Int64
    private let number: UInt64

    fileprivate init(_ claims: Claims, _ place: Int64, _ number: UInt64) {
        self.claims = claims
        self.place = place
        self.number = number
    }

    deinit {
        release()
    }

    /// Lets others load the key. Does nothing the second time. A system call, about a microsecond.
    package func release() {
        claims.release(place, number)
    }
}
