internal import Synchronization

/// Keeps recently looked-up keys with their entries in memory, so that another lookup runs no statement. Also remembers
/// a key without entries until the next commit: each caller that joins a load has looked for its key. This cache of the
/// index answers only while the index has the version of the read. SQLite keeps that version in memory that all
/// connections share. A commit of this process drops the keys that it has changed. Any other commit drops all keys.
package final class HotKeys: Sendable {
    private struct State {
        /// The memory with the version, or `nil` before the first read of a connection.
        var header: WALIndexHeader?
        /// The version for which the keys are valid.
        var version: IndexVersion?
        /// The generation in this version.
        var generation = StoreGeneration(number: 0)
        /// The keys by their checksum.
        var keys: BoundedDictionary<Int64, HotKey>
        /// The keys without entries, failures and related keys. A commit of any key may change that.
        var absentKeys: BoundedDictionary<Int64, KeySnapshot>
        /// Whether ``HotKeys/asksForCommit()`` has returned `true` since the header became known.
        var hasAsked = false
        /// Whether a transaction of this process is being committed. ``HotKeys/end(_:)`` handles its changes.
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
    /// Guards the keys and the header, whose memory stays mapped while the lock is held.
    private let state: Mutex<State>

    /// - Parameter capacity: The greatest number of keys, or 0 for none.
    init(capacity: Int) {
        isOff = capacity <= 0
        let capacity = max(2, capacity)
        state = Mutex(
            State(keys: BoundedDictionary(capacity: capacity), absentKeys: BoundedDictionary(capacity: capacity)))
    }

    /// The present version of the index, if it is known.
    var version: IndexVersion? { state.withLock { $0.header?.version } }

    /// Whether the index needs a commit before it has a version, because its WAL is still empty. Returns `true` only
    /// once for each opened index, because the commit may fail.
    func asksForCommit() -> Bool {
        state.withLock { state in
            guard !state.hasAsked, let header = state.header, header.version == nil else { return false }
            state.hasAsked = true
            return true
        }
    }

    /// Returns the generation in a version of the index, or `nil` for a version without cached keys.
    func generation(in version: IndexVersion) -> StoreGeneration? {
        state.withLock { $0.version == version ? $0.generation : nil }
    }

    /// The state of a hot key if it is still current. Without entries, it has no failures and no related keys.
    package func find(_ key: CacheKey) -> KeySnapshot? {
        let checksum = KeyChecksum(key).key
        return state.withLock { state in
            guard let version = state.version else { return nil }
            guard state.header?.version == version else {
                // Another process has committed. After a commit of this process, ``end(_:)`` drops only the changed
                // keys.
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

    /// Keeps the result of a read that began in the snapshot's version. With `isWhole`, the read also looked for
    /// failures and related keys.
    func insert(_ snapshot: KeySnapshot, from header: WALIndexHeader?, isWhole: Bool) {
        state.withLock { state in
            if state.header != header {
                // Another index has replaced the old one.
                state.removeAll()
                state.header = header
                state.hasAsked = false
            }
            // After a later commit, the snapshot may be older than the present version, and must not answer in it.
            guard let version = snapshot.version, header?.version == version else { return }
            if state.version != version {
                // During a commit of this process, keep the keys that it does not change.
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
        /// Whether the transaction has written a page. Without one, SQLite commits nothing.
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

    /// Called after a commit or its failure, before another process can begin a transaction. `nil` means no changes.
    func end(_ changes: Changes?) {
        state.withLock { state in
            state.isCommitting = false
            guard let changes, let former = state.version else { return }
            // Programs that do not take the store's write lock may have committed, too.
            guard !changes.isUnknown, changes.version == former, let present = state.header?.version,
                changes.hasCommitted ? present.follows(former) : present == former
            else { return state.removeAll() }
            for key in changes.keys { state.keys[key] = nil }
            // An absent key also depends on failures and related keys, which `changes.keys` does not name.
            if changes.hasCommitted { state.absentKeys.removeAll() }
            state.version = present
            if let generation = changes.generation { state.generation = generation }
        }
    }

    /// Drops all keys and the header. Called before a connection is closed.
    func detach() {
        state.withLock { state in
            state.removeAll()
            state.header = nil
        }
    }
}
