internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// Reads records and the names in `Vary`.
extension SharedTier {
    /// The longest record: an inline body, a head, and the digests of the longest body.
    private var recordLimit: Int { 1 << 20 }

    /// A record, with its times on the tier's clock.
    struct Candidate: Sendable {
        let name: String
        let record: TierRecord
        let stamp: Stamp
    }

    /// A record without its body, which would take memory while the origin is asked.
    struct StaleRecord: Sendable {
        let name: String
        let head: TierRecord.Head

        init(_ candidate: Candidate) {
            name = candidate.name
            head = candidate.record.head
        }
    }

    /// Reads a record that may answer. Counts the reason of a refusal.
    func record(_ name: String) async -> Answer<Candidate> {
        switch await get(name, limit: recordLimit) {
        case .failed(let reason): return .failed(reason)
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

    /// Reads the names in `Vary`, joined by line feeds.
    func varyNames(_ key: String) async -> Answer<String> {
        let name = layout.vary(key)
        switch await get(name, limit: 8192) {
        case .failed(let reason): return .failed(reason)
        case .absent: return .absent
        case .found(let object):
            guard let payload = opened(object, name) else { return .absent }
            return .found(String(decoding: payload, as: UTF8.self))
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
