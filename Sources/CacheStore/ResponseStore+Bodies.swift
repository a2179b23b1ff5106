#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CPlatform

/// Opens bodies for reading, and removes damaged ones.
extension ResponseStore {
    /// Opens the body of an entry. Returns `nil` if the body is gone; look up the key again then.
    ///
    /// A body is gone for good if its file is missing, has another length, or has other bytes as far as
    /// ``Configuration/verification`` checks. The file of a part may be longer than the part. The store then removes the entries with this body, so that they are
    /// loaded again. A store that is open for reading only removes nothing.
    ///
    /// - Throws: ``StoreError/file(_:)`` when the file may be intact but cannot be read now, for example with too many
    ///   open files.
    public func openBody(of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        return try openBody(entry.digest, byteCount: entry.byteCount, isPart: entry.metadata.part != nil)
    }

    /// The result of opening a body with a limit.
    package enum BodyOpening: Sendable {
        case open(StoredBody)
        /// The body is gone; see ``ResponseStore/openBody(of:)``.
        case gone
        /// The body is longer than the limit, and has not been compared with its digest yet.
        case unverified
    }

    /// Opens the body of an entry like ``openBody(of:)``, unless that takes a comparison of more than `limit` bytes with
    /// their digest.
    package func openBody(of entry: StoredEntry, verifyingUpTo limit: Int64) throws(StoreError) -> BodyOpening {
        try checkOpen()
        return try openBody(entry.digest, byteCount: entry.byteCount, isPart: entry.metadata.part != nil, limit: limit)
    }

    /// Compares the body of an entry with its digest, with any configuration and also after an earlier verification.
    /// Removes the entries of a damaged body, as ``openBody(of:)`` does. May take long.
    ///
    /// - Returns: Whether the body is damaged.
    package func removeIfDamaged(_ entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        let opening = try openBody(
            entry.digest, byteCount: entry.byteCount, isPart: entry.metadata.part != nil, limit: .max, .everyRead)
        if case .open = opening { return false } else { return true }
    }

    /// Stages a file for a body.
    func stage() throws(StoreError) -> StagedFile {
        do throws(SystemError) {
            return try blobs.stage()
        } catch {
            // A deleted directory takes no file; ext4 answers EPERM.
            guard error.meansMissing || error.errno == EPERM else { throw .file(error) }
        }
        try reopenReplacedDirectory()
        return try wrappingErrors { () throws(SystemError) in try blobs.stage() }
    }

    /// Opens a body. If the body is gone, returns `nil` and, in a store that is open for writing, removes the entries
    /// and derived representations that have it.
    func openBody(
        _ digest: ContentDigest?, byteCount: Int64, isPart: Bool = false
    ) throws(StoreError) -> StoredBody? {
        switch try openBody(digest, byteCount: byteCount, isPart: isPart, limit: .max) {
        case .open(let body): body
        case .gone, .unverified: nil
        }
    }

    private func openBody(
        _ digest: ContentDigest?, byteCount: Int64, isPart: Bool, limit: Int64,
        _ verification: Configuration.Verification? = nil
    ) throws(StoreError) -> BodyOpening {
        guard let digest else { return .open(StoredBody()) }
        let verification = verification ?? configuration.verification
        let opening = try openIntact(digest, byteCount: byteCount, isPart: isPart, limit: limit, verification)
        guard case .gone = opening, !configuration.isReadOnly else { return opening }
        do throws(StoreError) {
            let removed = try removeDamaged(digest, byteCount: byteCount, isPart: isPart, verification)
            guard removed.entries + removed.derived > 0 else { return .gone }
            observation.damagedBodies.add()
            observation.log.warning(
                "removed entries whose body was missing or damaged",
                ["sha256": "\(digest)", "entries": "\(removed.entries)", "derived": "\(removed.derived)"])
        } catch {
            // The next reader detects the damage again. For this reader the body is a miss all the same.
            observation.log.warning(
                "cannot remove entries whose body is missing or damaged",
                ["sha256": "\(digest)", "error": "\(error)"])
        }
        return .gone
    }

    /// Returns whether ``openBody(of:)`` would open the body of an entry. Does not remove the entries of a damaged
    /// body.
    package func hasBody(of entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        guard let digest = entry.digest else { return true }
        let opening = try openIntact(
            digest, byteCount: entry.byteCount, isPart: entry.metadata.part != nil, limit: .max,
            configuration.verification)
        if case .open = opening { return true } else { return false }
    }

    /// Opens the file of a body. The body is gone unless the file has the right length and, as far as `verification`
    /// asks, the right bytes.
    private func openIntact(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool, limit: Int64,
        _ verification: Configuration.Verification
    ) throws(StoreError) -> BodyOpening {
        try wrappingErrors { () throws(SystemError) in
            guard let (descriptor, status) = try blobs.open(digest, byteCount: byteCount, isPart: isPart) else {
                return .gone
            }
            if !isVerified(digest, status, isPart: isPart, verification) {
                guard byteCount <= limit else { return .unverified }
                guard try BlobDigester.digest(of: descriptor, byteCount: byteCount) == digest else { return .gone }
                verified.insert(digest, status, isPart: isPart)
            }
            return .open(StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount))
        }
    }

    /// Whether a body need not be compared with its digest.
    private func isVerified(
        _ digest: ContentDigest, _ status: FileStatus, isPart: Bool, _ verification: Configuration.Verification
    ) -> Bool {
        switch verification {
        case .never: true
        case .firstRead: verified.contains(digest, status, isPart: isPart)
        case .everyRead: false
        }
    }

    /// Removes the rows of a damaged body, unless the body has been stored again in the meantime.
    private func removeDamaged(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool, _ verification: Configuration.Verification
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        // Check without the write lock first: the body of an evicted entry has no row left, and its missing file is no
        // damage.
        let isNeeded = try read { (connection) throws(SQLiteError) in try connection.containsBlob(digest) }
        guard isNeeded else { return (0, 0) }
        return try writer.write { [self] (transaction) throws(StoreError) in
            // Under the write lock no other writer deletes or stores this body.
            let opening = try openIntact(digest, byteCount: byteCount, isPart: isPart, limit: .max, verification)
            guard case .gone = opening else { return (0, 0) }
            return try removeRows(withDamagedBody: digest, transaction)
        }
    }

    /// Removes the entries and derived representations of a damaged body, and its file. Returns their numbers, without
    /// the representations that were removed with their entry.
    func removeRows(
        withDamagedBody digest: ContentDigest, _ transaction: WriteTransaction
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        let removed = try wrappingErrors(indexPath) { () throws(SQLiteError) in
            let removed = (
                entries: try transaction.removeEntries(withBody: digest),
                derived: try transaction.removeDerived(withBody: digest)
            )
            if removed.entries + removed.derived > 0 { try transaction.connection.countDamagedBody() }
            return removed
        }
        try wrappingErrors { () throws(SystemError) in try deletion.deleteDamaged(digest) }
        return removed
    }
}
