internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import Synchronization

/// Reads records and the objects of URLs.
extension SharedTier {
    /// The longest record: an inline body, a head, and the digests of the longest body.
    private var recordLimit: Int { 1 << 20 }

    /// A record, with its times on the tier's clock.
    struct Candidate: Sendable {
        let name: String
        let record: TierRecord
        let stamp: Stamp

        /// The present time on the clock of the origin.
        var now: HTTPDate { record.now(at: stamp.now, lastModified: stamp.lastModified) }
    }

    /// Reads a record that may answer. Counts the reason of a refusal.
    func record(_ name: String) async -> Answer<Candidate> {
        switch await get(name, limit: recordLimit) {
        case .failed(let error): return .failed(error)
        case .absent: return .absent
        case .found(let object):
            guard let payload = opened(object, name) else { return .absent }
            guard let record = TierRecord(decoding: payload) else {
                count { $0.refused.malformed += 1 }
                return .absent
            }
            guard !record.isReplayed(lastModified: object.stamp.lastModified) else {
                count { $0.refused.replayed += 1 }
                return .absent
            }
            guard !record.isFromFuture(now: object.stamp.now, lastModified: object.stamp.lastModified) else {
                count { $0.refused.fromFuture += 1 }
                return .absent
            }
            // A later record under the same name may be complete.
            if let refused = state.withLock({ $0.refused[name] }), record.head.writtenAt <= refused { return .absent }
            return .found(Candidate(name: name, record: record, stamp: object.stamp))
        }
    }

    /// Returns the object of a URL, from memory for ``Configuration/removalDelay``.
    func keyObject(_ key: String) async -> Answer<KeyObject> {
        let now = configuration.uptime()
        let remembered = state.withLock { state in
            state.keys[key].flatMap { now - $0.uptime < configuration.removalDelay ? $0.object : nil }
        }
        if let remembered { return .found(remembered) }
        return await readKeyObject(key)
    }

    func readKeyObject(_ key: String) async -> Answer<KeyObject> {
        let (name, start) = (layout.keyObject(key), configuration.uptime())
        switch await get(name, limit: 16_384) {
        case .failed(let error): return .failed(error)
        case .absent:
            // Not remembered: another machine may write the object at any moment.
            return .absent
        case .found(let object):
            guard let payload = opened(object, name) else {
                // A forgery in its place may hide a removal, so nothing of the URL answers before that time.
                return .found(KeyObject(removedAt: object.stamp.lastModified.secondsSince1970))
            }
            guard let decoded = KeyObject(decoding: payload, lastModified: object.stamp.lastModified) else {
                count { $0.refused.malformed += 1 }
                return .found(KeyObject(removedAt: object.stamp.lastModified.secondsSince1970))
            }
            remember(decoded, of: key, readAt: start)
            return .found(decoded)
        }
    }

    /// Keeps the object of a URL in memory, unless a later one is there.
    func remember(_ object: KeyObject, of key: String, readAt uptime: Duration) {
        state.withLock { state in
            if let known = state.keys[key], known.uptime > uptime { return }
            state.keys[key] = (object, uptime)
        }
    }

    /// Returns the payload of an object, or counts its refusal.
    func opened(_ object: Object, _ name: String) -> Data? {
        do throws(SealedObject.Refusal) {
            guard object.bytes.count <= recordLimit else { throw .malformed }
            return try SealedObject.opening(object.bytes, as: name, with: keys)
        } catch {
            count { statistics in
                switch error {
                case .malformed: statistics.refused.malformed += 1
                case .unknownKey: statistics.refused.unknownKey += 1
                case .forged: statistics.refused.forged += 1
                }
            }
            return nil
        }
    }
}
