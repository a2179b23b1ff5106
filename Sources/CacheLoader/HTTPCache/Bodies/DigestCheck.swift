package import CacheFoundation
package import CacheStore
internal import Crypto

/// Compares bytes with the digests of integrity fields while they arrive (RFC 9530). Hashes only for the algorithms of
/// the fields. Does not hash again with SHA-256 while the store hashes the same bytes.
package struct DigestCheck: Sendable {
    private let expected: [IntegrityDigests]
    /// Set only if a digest needs SHA-256 and the store does not compute it.
    private var sha256: SHA256?
    /// Set only if a digest needs SHA-512.
    private var sha512: SHA512?
    /// Whether a digest is compared with the one that the store computes.
    private(set) var needsDigestOfStore: Bool

    /// Returns `nil` without digests to compare. `isStored` tells whether a ``BodyWriter`` hashes the same bytes.
    package init?(_ expected: [IntegrityDigests], isStored: Bool) {
        guard !expected.isEmpty else { return nil }
        self.expected = expected
        let needsSHA256 = expected.contains { $0.sha256 != nil }
        needsDigestOfStore = needsSHA256 && isStored
        sha256 = needsSHA256 && !isStored ? SHA256() : nil
        sha512 = expected.contains { $0.sha512 != nil } ? SHA512() : nil
    }

    package mutating func update(_ bytes: Data) {
        bytes.withUnsafeBytes { bytes in
            sha256?.update(bufferPointer: bytes)
            sha512?.update(bufferPointer: bytes)
        }
    }

    /// Adds the bytes of a stored body. Blocks while it reads them, unless no digest needs them.
    mutating func update(_ body: StoredBody) throws(StoreError) {
        guard sha256 != nil || sha512 != nil else { return }
        var offset: Int64 = 0
        while offset < body.byteCount {
            let bytes = try body.bytes(at: offset, count: 262_144)
            guard !bytes.isEmpty else { return }
            update(bytes)
            offset += Int64(bytes.count)
        }
    }

    /// Computes SHA-256 itself from now on, because the store takes no more bytes. `hasher` has all bytes so far.
    mutating func leaveStore(continuing hasher: @autoclosure () -> SHA256) {
        guard needsDigestOfStore else { return }
        (needsDigestOfStore, sha256) = (false, hasher())
    }

    /// Returns the first field whose digest differs from the bytes. `digest` is the store's, or `nil` for no bytes.
    package func mismatch(_ digest: ContentDigest? = nil) -> IntegrityDigests.Field? {
        let sha256 =
            needsDigestOfStore ? Array(digest ?? ContentDigest(of: Data())) : sha256.map { Array($0.finalize()) }
        let sha512 = sha512.map { Array($0.finalize()) }
        for digests in expected {
            if let wanted = digests.sha256, wanted != sha256 { return digests.field }
            if let wanted = digests.sha512, wanted != sha512 { return digests.field }
        }
        return nil
    }
}

extension Array where Element == UInt8 {
    fileprivate init(_ digest: ContentDigest) {
        self = digest.withUnsafeBytes { Array($0) }
    }
}
