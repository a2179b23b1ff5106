internal import Synchronization

/// One lock for each key. It is exclusive among all stores that have the directory open, in any process. The lock of a
/// key is one byte of the ``LockFile``, at an offset from the checksum of the key. The kernel releases the lock when
/// its process ends, and the index needs no row. Two keys with the same offset exclude each other. An open file
/// description does not exclude itself, so a table contains the locks of this store. Key locks are advisory: if the
/// file cannot be opened or locked, the table alone decides.
package final class KeyLocks: Sendable {
    /// The result of an attempt.
    package enum Outcome: Sendable {
        case locked(KeyLock)
        /// This object holds the lock.
        case heldHere
        /// Another open file description holds the lock.
        case heldElsewhere

        package var lock: KeyLock? {
            if case .locked(let lock) = self { lock } else { nil }
        }
    }

    private struct Held {
        let ticket: UInt64
        /// The file whose byte is locked, or `nil` for a lock in the table only.
        let file: FileDescriptor?
    }

    private struct State {
        var file: LockFile
        var held: [Int64: Held] = [:]
        var lastTicket: UInt64 = 0
        /// The error that every attempt throws while the store is suspended or closed.
        var refusal: StoreError?

        mutating func makeTicket() -> UInt64 {
            lastTicket += 1
            return lastTicket
        }
    }

    /// Whether to create no file and lock nothing. Locks of other stores still count.
    private let isReadOnly: Bool
    private let lastOffset: Int64

    /// Guards the table and the file. No call on the file blocks.
    private let state: Mutex<State>

    /// With `isReadOnly`, creates no file and locks nothing. `offsetBits` is at most 62: the number of offsets as a
    /// power of two. Tests use few, so that keys share an offset.
    package init(root: FileDescriptor, isReadOnly: Bool, offsetBits: Int64 = 62) {
        self.isReadOnly = isReadOnly
        lastOffset = 1 << offsetBits - 1
        state = Mutex(State(file: LockFile(root: root, isReadOnly: isReadOnly)))
    }

    // MARK: Locking

    /// Locks `key` for a load. Never blocks: two system calls, some microseconds. The lock ends with
    /// ``KeyLock/release()``, with its last reference, with the process, and when the store is closed or suspended.
    /// Where the file system has no locks, or no descriptor is left, only loaders that use this object exclude each
    /// other. A read-only store respects the locks of other stores. Its own locks do not exclude other stores, because
    /// it stores nothing. Throws only the error of ``end(with:)``.
    package func tryLock(_ key: CacheKey) throws(StoreError) -> Outcome {
        let offset = offset(of: key)
        return try state.withLock { (state) throws(StoreError) in
            if let refusal = state.refusal { throw refusal }
            guard state.held[offset] == nil else { return .heldHere }
            guard let file = state.file.open(), let isLocked = lockByte(at: offset, of: file) else {
                // A second load of the key costs a request. Without this fallback, the caller would get no answer.
                return .locked(hold(offset, nil, &state))
            }
            return isLocked ? .locked(hold(offset, isReadOnly ? nil : file, &state)) : .heldElsewhere
        }
    }

    /// Whether another store holds the lock of `key`. Takes no lock.
    package func isHeldElsewhere(_ key: CacheKey) -> Bool {
        let offset = offset(of: key)
        return state.withLock { state in
            guard state.refusal == nil, state.held[offset] == nil, let file = state.file.open() else { return false }
            return (try? file.isByteLocked(at: offset)) ?? false
        }
    }

    /// The number of keys whose locks other stores hold, up to `limit`, or 0 where locks are not supported. Takes no
    /// lock.
    package func countHeldElsewhere(limit: Int) -> Int {
        // Count outside the mutex: each range costs a system call, and loads need the mutex to lock their keys.
        let file = state.withLock { $0.refusal == nil ? $0.file.open() : nil }
        guard let file else { return 0 }
        // Each call finds one range of locked bytes, in no order. Adjacent locks form one range.
        var (ranges, count) = ([Int64(0)..<LockFile.endOfKeys], 0)
        while count < limit, let range = ranges.popLast() {
            guard !range.isEmpty, let locked = (try? file.lockedBytes(in: range)) ?? nil else { continue }
            let found = locked.clamped(to: range)
            count += Int(min(found.upperBound - found.lowerBound, Int64(limit)))
            ranges += [range.lowerBound..<found.lowerBound, found.upperBound..<range.upperBound]
        }
        return min(count, limit)
    }

    private func hold(_ offset: Int64, _ file: FileDescriptor?, _ state: inout State) -> KeyLock {
        let ticket = state.makeTicket()
        state.held[offset] = Held(ticket: ticket, file: file)
        return KeyLock(self, offset, ticket)
    }

    /// Locks the byte, or tests it in a read-only store. `false` if another store holds it, `nil` if unsupported.
    private func lockByte(at offset: Int64, of file: FileDescriptor) -> Bool? {
        try? isReadOnly ? !file.isByteLocked(at: offset) : file.tryLockByte(at: offset)
    }

    private func offset(of key: CacheKey) -> Int64 { KeyChecksum(key).key & lastOffset }

    // MARK: Releasing

    fileprivate func release(_ offset: Int64, _ ticket: UInt64) {
        state.withLock { state in
            // After a suspension, a later lock may have this offset.
            guard let held = state.held[offset], held.ticket == ticket else { return }
            held.file?.unlockByte(at: offset)
            state.held[offset] = nil
        }
    }

    /// Releases all locks. Until ``begin()``, every attempt throws `error`.
    func end(with error: StoreError) {
        state.withLock { state in
            // Unlock explicitly: a child process may still have the file open, between fork and exec.
            for (offset, held) in state.held { held.file?.unlockByte(at: offset) }
            state.file.close()
            state.held = [:]
            state.refusal = error
        }
    }

    /// Allows locks again after a suspension.
    func begin() {
        // A closed store stays closed.
        state.withLock { if $0.refusal == .suspended { $0.refusal = nil } }
    }
}

/// The right to load a key, until ``release()`` is called or the last reference is released. The lock decides which
/// process fetches, not which may store: a commit needs no lock.
package final class KeyLock: Sendable {
    private let locks: KeyLocks
    private let offset: Int64
    private let ticket: UInt64

    fileprivate init(_ locks: KeyLocks, _ offset: Int64, _ ticket: UInt64) {
        self.locks = locks
        self.offset = offset
        self.ticket = ticket
    }

    deinit {
        release()
    }

    /// Releases the lock. A second call does nothing. Takes one system call, about a microsecond.
    package func release() {
        locks.release(offset, ticket)
    }
}
