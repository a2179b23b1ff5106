internal import CacheStore
internal import Synchronization

/// The keys of stored responses that can be dictionaries, by partition and origin (RFC 9842 §9.3.1, §10). Shared by all
/// caches and loaders on the store. Reads the entries of an origin once, then adds the responses that this process
/// stores. A key may be out of date, so the caller checks its entry.
final class DictionaryTable: Sendable {
    /// The maximum number of entries of an origin that are searched for dictionaries.
    private static let maxEntryCount = 1_000
    /// The maximum number of keys of an origin. The latest keys stay.
    private static let maxKeyCount = 64

    struct Scope: Hashable {
        let partition: String
        let origin: String

        init?(_ key: CacheKey) {
            guard let origin = key.origin else { return nil }
            (self.partition, self.origin) = (key.partition, origin)
        }
    }

    /// The body of an entry. A replacement gives the entry a new id; an index that replaces a quarantined one uses ids
    /// again.
    private struct Content: Hashable {
        let id: Int64
        let digest: ContentDigest?
    }

    /// Guards only the table.
    private let table = Mutex(BoundedDictionary<Scope, [CacheKey]>(capacity: 256))
    private enum Finding {
        /// The digest of the body without its content codings.
        case decodedDigest(ContentDigest)
        /// The bytes cannot be decoded, or differ from the digest of the body.
        case unusable
    }

    /// Guards only the findings.
    private let findings = Mutex(BoundedDictionary<Content, Finding>())

    static func of(_ store: ResponseStore) -> DictionaryTable {
        store.shared { DictionaryTable() }
    }

    /// Adds the key of a stored response that can be a dictionary.
    func note(_ key: CacheKey) {
        guard let scope = Scope(key) else { return }
        // If the origin has no list yet, its first request for a dictionary finds this entry in the store.
        table.withLock { table in
            guard var keys = table[scope] else { return }
            keys.removeAll { $0 == key }
            keys.append(key)
            table[scope] = Array(keys.suffix(Self.maxKeyCount))
        }
    }

    /// Returns the digest of a body without its content codings, if known.
    func decodedDigest(of entry: StoredEntry) -> ContentDigest? {
        guard case .decodedDigest(let digest) = finding(on: entry) else { return nil }
        return digest
    }

    func note(_ decodedDigest: ContentDigest, of entry: StoredEntry) {
        note(.decodedDigest(decodedDigest), on: entry)
    }

    /// Whether an earlier request found the bytes of an entry unusable.
    func isUnusable(_ entry: StoredEntry) -> Bool {
        guard case .unusable = finding(on: entry) else { return false }
        return true
    }

    /// Records that the bytes of an entry are unusable. The next response under its key is another entry.
    func noteUnusable(_ entry: StoredEntry) {
        note(.unusable, on: entry)
    }

    private func finding(on entry: StoredEntry) -> Finding? {
        findings.withLock { $0[Content(id: entry.id, digest: entry.digest)] }
    }

    private func note(_ finding: Finding, on entry: StoredEntry) {
        findings.withLock { $0[Content(id: entry.id, digest: entry.digest)] = finding }
    }

    /// Returns the keys of an origin. The first call reads its entries on a lane of the store, and so does each call
    /// after a failed one.
    func keys(for key: CacheKey, in store: ResponseStore) async -> [CacheKey] {
        guard let scope = Scope(key) else { return [] }
        if let keys = table.withLock({ $0[scope] }) { return keys }
        // From now on, `note(_:)` adds keys to this list. The keys that the search finds join them.
        table.withLock { $0[scope] = [] }
        let selection = EntrySelection(partition: scope.partition, prefix: scope.origin)
        let found = await store.onReadingLane { () -> [CacheKey]? in
            try? store.keys(in: selection, limit: Self.maxEntryCount).filter { key in
                try store.responses(for: key).contains { entry in
                    UseAsDictionary(EntryCodec.fields(ofHead: entry.metadata.head), of: key.text) != nil
                }
            }
        }
        return table.withLock { table in
            let noted = table[scope] ?? []
            guard let found else {
                table[scope] = nil
                return noted
            }
            let keys = Array((found.filter { !noted.contains($0) } + noted).suffix(Self.maxKeyCount))
            table[scope] = keys
            return keys
        }
    }
}
