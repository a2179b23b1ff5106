internal import Synchronization

/// Remembers the bodies that this process wrote, or read whole and found intact. The memory is bounded: a table of
/// 64-bit fingerprints, 128 KiB. A new fingerprint may overwrite an older one, and that body is verified again. The
/// fingerprint includes the device, inode and modification time of the file, so a changed or replaced file is verified
/// again. The fingerprint of a part leaves out the time, which changes while the file grows.
final class VerifiedBlobs: Sendable {
    private static let capacity = 16_384

    /// Guards the table. Zero marks an empty slot.
    private let table = Mutex([UInt64](repeating: 0, count: capacity))

    func contains(_ digest: ContentDigest, _ status: FileStatus, isPart: Bool) -> Bool {
        let fingerprint = Self.fingerprint(digest, status, isPart: isPart)
        return table.withLock { $0[Self.index(of: fingerprint)] == fingerprint }
    }

    func insert(_ digest: ContentDigest, _ status: FileStatus, isPart: Bool) {
        let fingerprint = Self.fingerprint(digest, status, isPart: isPart)
        table.withLock { $0[Self.index(of: fingerprint)] = fingerprint }
    }

    private static func index(of fingerprint: UInt64) -> Int { Int(fingerprint % UInt64(capacity)) }

    /// The digest is random already. Multiplication spreads the other bits (Knuth, TAOCP 3, 6.4).
    private static func fingerprint(_ digest: ContentDigest, _ status: FileStatus, isPart: Bool) -> UInt64 {
        let number = status.inode ^ (isPart ? 0 : UInt64(bitPattern: status.modified))
        return max(1, digest.prefix ^ number &* 0x9E37_79B9_7F4A_7C15 ^ status.device)
    }
}
