#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import CPlatform

/// Bodies opened for reading, and those dropped that are not what they should be.
extension ResponseStore {
    /// Opens the body of an entry; `nil` if it is gone, in which case look the key up again.
    ///
    /// A body that is missing, has another length or, as far as ``Configuration/verification`` looks, other bytes is gone for
    /// good: its entries are removed, so that they are loaded anew.
    ///
    /// - Throws: ``StoreError/file(_:)`` when the file may be sound but cannot be read now, as with too many open files.
    public func openBody(of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        return try openBody(entry.digest, byteCount: entry.byteCount)
    }

    /// Stages a file for a body.
    func stage() throws(StoreError) -> StagedFile {
        do throws(SystemError) {
            return try blobs.stage()
        } catch let error where error.meansMissing || error.errno == EPERM {
            // A deleted directory takes no file; ext4 answers EPERM.
            try reopenReplacedDirectory()
        }
        return try wrappingErrors { () throws(SystemError) in try blobs.stage() }
    }

    /// Opens a body; `nil` if it is gone, and so are, then, the entries and derived forms that have it.
    func openBody(_ digest: ContentDigest?, byteCount: Int64) throws(StoreError) -> StoredBody? {
        guard let digest else { return StoredBody() }
        if let body = try openIntact(digest, byteCount: byteCount) { return body }
        guard !configuration.isReadOnly else { return nil }
        do throws(StoreError) {
            let removed = try removeDamaged(digest, byteCount: byteCount)
            guard removed.entries + removed.derived > 0 else { return nil }
            observation.damagedBodies.add()
            observation.log.warning(
                "removed entries whose body was missing or damaged",
                ["sha256": "\(digest)", "entries": "\(removed.entries)", "derived": "\(removed.derived)"])
        } catch {
            // Found again by the next reader. For this one it is a miss all the same.
            observation.log.warning(
                "cannot remove entries whose body is missing or damaged",
                ["sha256": "\(digest)", "error": "\(error)"])
        }
        return nil
    }

    /// Whether ``openBody(of:)`` would open the body of an entry. One that is damaged is left as it is.
    package func hasBody(of entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        guard let digest = entry.digest else { return true }
        return try openIntact(digest, byteCount: entry.byteCount) != nil
    }

    /// Opens a file that has the right length and, as far as the store verifies, the right bytes.
    private func openIntact(_ digest: ContentDigest, byteCount: Int64) throws(StoreError) -> StoredBody? {
        try wrappingErrors { () throws(SystemError) in
            guard let (descriptor, status) = try blobs.open(digest, byteCount: byteCount),
                try isVerified(digest, descriptor, status)
            else { return nil }
            return StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        }
    }

    private func isVerified(
        _ digest: ContentDigest, _ descriptor: FileDescriptor, _ status: FileStatus
    ) throws(SystemError) -> Bool {
        switch configuration.verification {
        case .never: return true
        case .firstRead where verified.contains(digest, status): return true
        case .firstRead, .everyRead:
            guard try BlobDigester.digest(of: descriptor, byteCount: status.size) == digest else { return false }
            verified.insert(digest, status)
            return true
        }
    }

    /// Removes the rows of a damaged body, unless it has been stored again in the meantime.
    private func removeDamaged(
        _ digest: ContentDigest, byteCount: Int64
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        // Without the write lock first: after an eviction no row is left, and nothing is damaged.
        let isNeeded = try read { (connection) throws(SQLiteError) in try connection.containsBlob(digest) }
        guard isNeeded else { return (0, 0) }
        return try writer.write { [self] (transaction) throws(StoreError) in
            // Under the write lock no process deletes or stores this body.
            guard try openIntact(digest, byteCount: byteCount) == nil else { return (0, 0) }
            return try removeRows(withDamagedBody: digest, transaction)
        }
    }

    /// Removes the entries and derived forms of a damaged body, and its file; returns their numbers, without the forms that went with
    /// their entry.
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
