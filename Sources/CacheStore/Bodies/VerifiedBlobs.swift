internal import Synchronization

/// Remembers which bodies this process has read whole and found to match their digest.
///
/// Bounded: a table of 64-bit fingerprints, 128 KiB, in which a newer fingerprint takes the place of an older one. What
/// is forgotten is verified once more. That of a file includes inode and modification time, so that one that was altered or
/// exchanged does not pass for the one that was verified; that of a body in the index the number of its row.
final class VerifiedBlobs: Sendable {
    private static let capacity = 16_384

    /// Guards the table. Zero is an empty place.
    private let table = Mutex([UInt64](repeating: 0, count: capacity))

    /// Where a body was found.
    enum Place {
        case file(FileStatus)
        case row(Int64)
    }

    func contains(_ digest: ContentDigest, _ place: Place) -> Bool {
        let fingerprint = Self.fingerprint(digest, place)
        return table.withLock { $0[Self.index(of: fingerprint)] == fingerprint }
    }

    func insert(_ digest: ContentDigest, _ place: Place) {
        let fingerprint = Self.fingerprint(digest, place)
        table.withLock { $0[Self.index(of: fingerprint)] = fingerprint }
    }

    private static func index(of fingerprint: UInt64) -> Int { Int(fingerprint % UInt64(capacity)) }

    /// The digest is random already; the rest is spread by multiplication (Knuth, TAOCP 3, 6.4).
    private static func fingerprint(_ digest: ContentDigest, _ place: Place) -> UInt64 {
        let (number, device) =
            switch place {
            case .file(let status): (status.inode ^ UInt64(bitPattern: status.modified), status.device)
            case .row(let id): (UInt64(bitPattern: id), 0)
            }
        return max(1, digest.prefix ^ number &* 0x9E37_79B9_7F4A_7C15 ^ device)
    }
}
