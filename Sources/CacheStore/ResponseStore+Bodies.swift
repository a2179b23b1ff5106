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
        guard let digest else { return StoredBody() }
        if let body = try openIntact(digest, byteCount: byteCount, isPart: isPart) { return body }
        guard !configuration.isReadOnly else { return nil }
        do throws(StoreError) {
            let removed = try removeDamaged(digest, byteCount: byteCount, isPart: isPart)
            guard removed.entries + removed.derived > 0 else { return nil }
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
        return nil
    }

    /// Returns whether ``openBody(of:)`` would open the body of an entry. Does not remove the entries of a damaged
    /// body.
    package func hasBody(of entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        guard let digest = entry.digest else { return true }
        return try openIntact(digest, byteCount: entry.byteCount, isPart: entry.metadata.part != nil) != nil
    }

    /// Opens the file of a body; `nil` unless it has the right length and, as far as the store verifies, the right
    /// bytes.
    private func openIntact(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool
    ) throws(StoreError) -> StoredBody? {
        try wrappingErrors { () throws(SystemError) in
            guard let (descriptor, status) = try blobs.open(digest, byteCount: byteCount, isPart: isPart),
                try isVerified(digest, byteCount, descriptor, status, isPart: isPart)
            else { return nil }
            return StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        }
    }

    private func isVerified(
        _ digest: ContentDigest, _ byteCount: Int64, _ descriptor: FileDescriptor, _ status: FileStatus, isPart: Bool
    ) throws(SystemError) -> Bool {
        switch configuration.verification {
        case .never: return true
        case .firstRead where verified.contains(digest, status, isPart: isPart): return true
        case .firstRead, .everyRead:
            guard try BlobDigester.digest(of: descriptor, byteCount: byteCount) == digest else { return false }
            verified.insert(digest, status, isPart: isPart)
            return true
        }
    }

    /// Removes the rows of a damaged body, unless the body has been stored again in the meantime.
    private func removeDamaged(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        // Check without the write lock first: the body of an evicted entry has no row left, and its missing file is no
        // damage.
        let isNeeded = try read { (connection) throws(SQLiteError) in try connection.containsBlob(digest) }
        guard isNeeded else { return (0, 0) }
        return try writer.write { [self] (transaction) throws(StoreError) in
            // Under the write lock no other writer deletes or stores this body.
            guard try openIntact(digest, byteCount: byteCount, isPart: isPart) == nil else { return (0, 0) }
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
