package import CacheFoundation
internal import Synchronization

/// The entries of a key at one read, to check later whether the key still has the same entries.
package final class KeyVersion: Sendable {
    fileprivate let key: CacheKey
    private let entries: [StoredEntry]
    /// The latest version of the index in which the key had these entries.
    private let lastSeen: Mutex<IndexVersion?>

    package init(_ snapshot: KeySnapshot) {
        key = snapshot.key
        entries = snapshot.entries
        lastSeen = Mutex(snapshot.version)
    }

    fileprivate func wasSeen(in version: IndexVersion) -> Bool { lastSeen.withLock { $0 == version } }

    /// Records that a snapshot has the same entries. Returns `false` if the entries differ.
    fileprivate func isSame(in snapshot: KeySnapshot) -> Bool {
        let isSame = snapshot.entries.elementsEqual(entries) {
            $0.id == $1.id && $0.digest == $1.digest && $0.metadata == $1.metadata
        }
        if isSame { lastSeen.withLock { $0 = snapshot.version } }
        return isSame
    }

    /// The approximate memory of this object.
    package var byteCount: Int {
        entries.reduce(256) { $0 + $1.metadata.head.count + $1.metadata.variant.utf8.count + 512 }
    }
}

extension ResponseStore {
    /// Returns the version of the key of an entry that a request has just stored or validated. Returns `nil` if the key
    /// has a later entry by now, or this entry has another body or expiry.
    package func version(of entry: StoredEntry, expiringAt expiry: Date?) -> KeyVersion? {
        guard let snapshot = try? snapshot(of: entry.key, searchBase: nil) else { return nil }
        let latest = snapshot.entries.max { ($0.metadata.receivedAt, $0.id) < ($1.metadata.receivedAt, $1.id) }
        // The index stores whole milliseconds.
        let storedExpiry = expiry.map { Date(milliseconds: $0.milliseconds) }
        guard let latest, latest.id == entry.id, latest.digest == entry.digest,
            latest.metadata.expiresAt == storedExpiry
        else { return nil }
        return KeyVersion(snapshot)
    }

    /// Whether a key still has the entries of a version. Costs a comparison if no process has committed since, and
    /// otherwise a lookup. Runs on the calling thread.
    package func isCurrent(_ version: KeyVersion) throws(StoreError) -> Bool {
        if let present = hotKeys.version, version.wasSeen(in: present) { return true }
        return version.isSame(in: try snapshot(of: version.key, searchBase: nil))
    }
}
