internal import Logging

/// Bodies opened for reading, and those dropped that are not what they should be.
extension ResponseStore {
    /// Opens the body of an entry; `nil` if it is gone, in which case look the key up again.
    ///
    /// A body whose file is missing, has another length or, as far as ``Configuration/verification`` looks, other bytes is
    /// gone for good: its entries are removed, so that they are loaded anew.
    ///
    /// - Throws: ``StoreError/file(_:)`` when the file may be sound but cannot be read now, as with too many open files.
    public func openBody(of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        return try openBody(entry.digest, byteCount: entry.byteCount)
    }

    /// Opens a body; `nil` if it is gone, and so are, then, the entries and derived forms that have it.
    func openBody(_ digest: ContentDigest?, byteCount: Int64) throws(StoreError) -> StoredBody? {
        guard let digest else { return StoredBody() }
        if let body = try openIntact(digest, byteCount: byteCount) { return body }
        guard !configuration.isReadOnly else { return nil }
        do throws(StoreError) {
            // None where an eviction was faster than the reader: nothing was damaged then.
            let removed = try removeDamaged(digest, byteCount: byteCount)
            guard removed.entries + removed.derived > 0 else { return nil }
            observation.damagedBodies.add()
            configuration.logger.warning(
                "removed entries whose body was missing or damaged",
                metadata: [
                    "sha256": "\(digest)", "entries": "\(removed.entries)", "derived": "\(removed.derived)",
                ])
        } catch {
            // Found again by the next reader. For this one it is a miss all the same.
            configuration.logger.warning(
                "cannot remove entries whose body is missing or damaged",
                metadata: ["sha256": "\(digest)", "error": "\(error)"])
        }
        return nil
    }

    /// Whether ``openBody(of:)`` would open the body of an entry. One that is damaged is left as it is.
    package func hasBody(of entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        guard let digest = entry.digest else { return true }
        return try openIntact(digest, byteCount: entry.byteCount) != nil
    }

    private func openIntact(_ digest: ContentDigest, byteCount: Int64) throws(StoreError) -> StoredBody? {
        try mapping { () throws(SystemError) in
            guard let (descriptor, status) = try blobs.open(digest, byteCount: byteCount) else { return nil }
            switch configuration.verification {
            case .never: break
            case .firstRead where verified.contains(digest, status): break
            case .firstRead, .everyRead:
                guard try BlobDigester.digest(of: descriptor, byteCount: byteCount) == digest else { return nil }
                verified.insert(digest, status)
            }
            return StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        }
    }

    /// Removes what has a body that is not what it should be, unless it has been stored anew in the meantime.
    private func removeDamaged(
        _ digest: ContentDigest, byteCount: Int64
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        try writer.write { [self] (connection) throws(StoreError) in
            // Under the write lock nobody deletes or stores this file.
            guard try openIntact(digest, byteCount: byteCount) == nil else { return (0, 0) }
            return try removeRows(withDamagedBody: digest, connection)
        }
    }

    /// Removes the entries and derived forms of a body that is damaged, and its file; how many there were, without the forms
    /// that went with their entry.
    func removeRows(
        withDamagedBody digest: ContentDigest, _ connection: Connection
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        let removed = try mapping(indexPath) { () throws(SQLiteError) in
            let removed = (
                entries: try connection.removeEntries(withBody: digest),
                derived: try connection.removeDerived(withBody: digest)
            )
            if removed.entries + removed.derived > 0 { try connection.countDamagedBody() }
            return removed
        }
        // At once, and not with the unneeded files: if their count were wrong, it would stay for ever.
        try mapping { () throws(SystemError) in _ = try blobs.unlink(digest) }
        return removed
    }
}
