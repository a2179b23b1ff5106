internal import CacheFoundation
internal import CacheStore

/// Verifies an arriving body: the content of one message, and the file that it completes (RFC 9530).
struct BodyVerification: Sendable {
    private let url: String
    /// Compares the content of the message. `nil` without a digest of it, or when `file` covers the same bytes.
    private var content: DigestCheck?
    /// All bytes of the file.
    private var file: DigestCheck?

    /// Verifies a message whose content is the whole file, or is not stored. Returns `nil` without digests to compare.
    init?(url: String, content: [IntegrityDigests], isStored: Bool = true) {
        guard let check = DigestCheck(content, isStored: isStored) else { return nil }
        self.url = url
        file = check
    }

    /// Verifies a message whose content follows a stored part. Returns `nil` without digests to compare. Blocks while
    /// it reads the part, if a digest needs its bytes.
    init?(
        url: String, content: [IntegrityDigests], after part: StoredBody, whole: [IntegrityDigests]
    ) throws(StoreError) {
        self.url = url
        self.content = DigestCheck(content, isStored: false)
        file = DigestCheck(whole, isStored: true)
        guard self.content != nil || file != nil else { return nil }
        try file?.update(part)
    }

    /// Adds the next chunk. `isInFile` tells whether `writer` took the chunk.
    mutating func update(_ chunk: Data, isInFile: Bool, _ writer: BodyWriter?) {
        if !isInFile, let writer { file?.leaveStore(continuing: writer.hasher) }
        content?.update(chunk)
        file?.update(chunk)
    }

    /// Throws ``LoadError/digestMismatch(url:field:)`` if the bytes differ from a digest.
    func finish(_ writer: BodyWriter?) throws(LoadError) {
        var digest: ContentDigest?
        if file?.needsDigestOfStore == true {
            digest = try LoadError.wrapping { () throws(StoreError) in try writer?.written().digest }
        }
        guard let field = content?.mismatch() ?? file?.mismatch(digest) else { return }
        throw .digestMismatch(url: url, field: field.rawValue)
    }
}
