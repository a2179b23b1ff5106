internal import Synchronization

/// The keys that were looked up last, with their entries: another lookup of one of them needs no statement.
///
/// A key that had no entry is remembered, too, until the next commit: the callers that join a load have each looked for it.
///
/// A cache of the index, and never the truth. It answers while the index has the version of the read, which SQLite keeps in
/// memory that all connections share. A commit of this process drops the keys that it has changed. Any other commit drops
/// all keys.
package final class HotKeys: Sendable {
    private struct State {
        /// The memory with the version. Unknown before a connection has read something.
        var header: WALIndexHeader?
        /// The version for which the keys are right.
        var version: IndexVersion?
        /// The generation in this version.
        var generation = StoreGeneration(number: 0)
        /// By the checksum of the key.
        var keys: BoundedDictionary<Int64, HotKey>
        /// The keys without entries, failures and related keys, which a commit of any key may give them.
        var absentKeys: BoundedDictionary<Int64, KeySnapshot>
        /// Whether ``HotKeys/asksForCommit()`` has asked since the memory is known.
        var hasAsked = false
        /// Whether a transaction of this process is being committed, which ``HotKeys/end(_:)`` takes into account.
        var isCommitting = false

        mutating func removeAll() {
            keys.removeAll()
            absentKeys.removeAll()
            version = nil
        }
    }

    /// The most entries of a hot key, and the most bytes of their heads and variants. They bound the memory.
    private static let maxEntries = 8
    private static let maxByteCount = 16_384

    private let isOff: Bool
    /// Guards the keys, and the memory with the version: it stays valid while the lock is held.
    private let state: Mutex<State>

    /// - Parameter capacity: The greatest number of keys; 0 for none.
    init(capacity: Int) {
        isOff = capacity <= 0
        let capacity = max(2, capacity)
        state = Mutex(
            State(keys: BoundedDictionary(capacity: capacity), absentKeys: BoundedDictionary(capacity: capacity)))
    }

    /// The present version of the index, if it is known.
    var version: IndexVersion? { state.withLock { $0.header?.version } }

    /// Whether a commit is needed before the index has a version, as its WAL has had none. Once for each index that was opened:
    /// the commit may fail.
    func asksForCommit() -> Bool {
        state.withLock { state in
            guard !state.hasAsked, let header = state.header, header.version == nil else { return false }
            state.hasAsked = true
            return true
        }
    }

    /// Returns the generation in a version of the index, if it is known.
    func generation(in version: IndexVersion) -> StoreGeneration? {
        state.withLock { $0.version == version ? $0.generation : nil }
    }

    /// Returns the state of a key if a lookup would find the same now. With entries it tells nothing of failures.
    package func find(_ key: CacheKey) -> KeySnapshot? {
        let checksum = KeyChecksum(key).key
        return state.withLock { state in
            guard let version = state.version else { return nil }
            guard state.header?.version == version else {
                // Another process has committed. ``end(_:)`` drops the keys that a commit of this one changes.
                if !state.isCommitting { state.removeAll() }
                return nil
            }
            if let found = state.keys[checksum], found.key == key {
                return KeySnapshot(found, generation: state.generation, version: version)
            }
            guard let absent = state.absentKeys[checksum], absent.key == key else { return nil }
            return absent
        }
    }

    /// Keeps the result of a read.
    ///
    /// - Parameters:
    ///   - snapshot: The result of a read that began in its version.
    ///   - isWhole: Whether the read looked for failures and for related keys, too.
    func insert(_ snapshot: KeySnapshot, from header: WALIndexHeader?, isWhole: Bool) {
        state.withLock { state in
            if state.header != header {
                // The index has been replaced.
                state.removeAll()
                state.header = header
                state.hasAsked = false
            }
            guard let version = snapshot.version, header?.version == version else { return }
            if state.version != version {
                // The keys stay that the transaction does not change.
                guard !state.isCommitting, let generation = snapshot.generation else { return }
                state.removeAll()
                state.version = version
                state.generation = generation
            }
            guard !isOff else { return }
            if Self.fits(snapshot) {
                state.keys[snapshot.hot.checksum] = snapshot.hot
            } else if isWhole, snapshot.isAbsent {
                state.absentKeys[snapshot.hot.checksum] = snapshot
            }
        }
    }

    private static func fits(_ snapshot: KeySnapshot) -> Bool {
        !snapshot.entries.isEmpty && snapshot.entries.count <= maxEntries
            && snapshot.entries.reduce(0, { $0 + $1.metadata.head.count + $1.metadata.variant.utf8.count })
                <= maxByteCount
    }

    // MARK: Changes of this process

    /// The changes of a transaction.
    struct Changes {
        /// The version before the transaction.
        var version: IndexVersion?
        /// Whether the transaction has written a page: without one, SQLite commits nothing.
        var hasCommitted = true
        /// The checksums of the keys whose entries have changed.
        var keys: [Int64] = []
        /// The generation after the last removal.
        var generation: StoreGeneration?
        /// Whether entries of any key may have changed.
        var isUnknown = false
    }

    /// Called before the commit of a transaction.
    func begin() {
        state.withLock { $0.isCommitting = true }
    }

    /// Called after the commit, or after it has failed, while no other process can begin a transaction.
    ///
    /// - Parameter changes: `nil` if the transaction has changed nothing.
    func end(_ changes: Changes?) {
        state.withLock { state in
            state.isCommitting = false
            guard let changes, let former = state.version else { return }
            // Another program does not wait for the write lock of the store, and may have committed, too.
            guard !changes.isUnknown, changes.version == former, let present = state.header?.version,
                changes.hasCommitted ? present.follows(former) : present == former
            else { return state.removeAll() }
            for key in changes.keys { state.keys[key] = nil }
            if changes.hasCommitted { state.absentKeys.removeAll() }
            state.version = present
            if let generation = changes.generation { state.generation = generation }
        }
    }

    /// Drops all keys and the memory with the version. Called before a connection is closed.
    func detach() {
        state.withLock { state in
            state.removeAll()
            state.header = nil
        }
    }
}
