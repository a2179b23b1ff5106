package import CacheFoundation
internal import Synchronization

/// The entries that a key had at a read, to ask later whether it has the same ones.
package final class KeyVersion: Sendable {
    fileprivate let key: CacheKey
    private let entries: [StoredEntry]
    /// The version of the index in which the key was last seen to have them.
    private let lastSeen: Mutex<IndexVersion?>

    package init(_ snapshot: KeySnapshot) {
        key = snapshot.key
        entries = snapshot.entries
        lastSeen = Mutex(snapshot.version)
    }

    fileprivate func wasSeen(in version: IndexVersion) -> Bool { lastSeen.withLock { $0 == version } }

    /// Notes that the key is the same in the version of a snapshot; returns `false` if it is another one.
    fileprivate func isSame(in snapshot: KeySnapshot) -> Bool {
        let isSame = snapshot.entries.elementsEqual(entries) {
            $0.id == $1.id && $0.digest == $1.digest && $0.metadata == $1.metadata
        }
        if isSame { lastSeen.withLock { $0 = snapshot.version } }
        return isSame
    }

    /// The bytes that it takes, about.
    package var byteCount: Int {
        entries.reduce(256) { $0 + $1.metadata.head.count + $1.metadata.variant.utf8.count + 512 }
    }
}

extension ResponseStore {
    /// Returns the version of the key of an entry that a request has just stored or validated.
    ///
    /// Returns `nil` if the key has another entry by now, a later one, or this one with another expiry.
    package func version(of entry: StoredEntry, expiringAt expiry: Date?) -> KeyVersion? {
        guard let snapshot = try? snapshot(of: entry.key, searchBase: nil) else { return nil }
        let latest = snapshot.entries.max { ($0.metadata.receivedAt, $0.id) < ($1.metadata.receivedAt, $1.id) }
        // The index has whole milliseconds.
        let storedExpiry = expiry.map { Date(milliseconds: $0.milliseconds) }
        guard let latest, latest.id == entry.id, latest.digest == entry.digest,
            latest.metadata.expiresAt == storedExpiry
        else { return nil }
        return KeyVersion(snapshot)
    }

    /// Whether a key still has the entries of a version. Costs a comparison while no process has committed anything, and a
    /// lookup otherwise. Runs on the calling thread.
    package func isCurrent(_ version: KeyVersion) throws(StoreError) -> Bool {
        if let present = hotKeys.version, version.wasSeen(in: present) { return true }
        return version.isSame(in: try snapshot(of: version.key, searchBase: nil))
    }
}
