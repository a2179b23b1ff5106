internal import Synchronization

/// Remembers which files this process has read whole and found to match their digest.
///
/// Bounded: a table of 64-bit fingerprints, 128 KiB, in which a newer fingerprint takes the place of an older one. What
/// is forgotten is verified once more. A fingerprint includes inode and modification time, so that a file that was
/// altered or exchanged does not pass for the one that was verified.
final class VerifiedBlobs: Sendable {
    private static let capacity = 16_384

    /// Guards the table. Zero is an empty place.
    private let table = Mutex([UInt64](repeating: 0, count: capacity))

    func contains(_ digest: ContentDigest, _ status: FileStatus) -> Bool {
        let fingerprint = Self.fingerprint(digest, status)
        return table.withLock { $0[Self.place(of: fingerprint)] == fingerprint }
    }

    func insert(_ digest: ContentDigest, _ status: FileStatus) {
        let fingerprint = Self.fingerprint(digest, status)
        table.withLock { $0[Self.place(of: fingerprint)] = fingerprint }
    }

    private static func place(of fingerprint: UInt64) -> Int { Int(fingerprint % UInt64(capacity)) }

    /// The digest is random already; the rest is spread by multiplication (Knuth, TAOCP 3, 6.4).
    private static func fingerprint(_ digest: ContentDigest, _ status: FileStatus) -> UInt64 {
        let file = (status.inode ^ UInt64(bitPattern: status.modified)) &* 0x9E37_79B9_7F4A_7C15
        return max(1, digest.prefix ^ file ^ status.device)
    }
}
