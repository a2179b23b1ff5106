#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif
internal import Logging

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

    /// - Parameter connection: Where to look for bodies in the index, inside a transaction; `nil` for a reader's.
    private func openIntact(
        _ digest: ContentDigest, byteCount: Int64, _ connection: Connection? = nil
    ) throws(StoreError) -> StoredBody? {
        // Where this store would put it is where it most likely is. What others do, who have another limit, is found, too.
        let isInlineFirst = byteCount <= configuration.effectiveInlineLimit
        if isInlineFirst, let body = try openInline(digest, byteCount, connection) { return body }
        if let body = try openFile(digest, byteCount) { return body }
        if isInlineFirst { return nil }
        if connection != nil { return try openInline(digest, byteCount, connection) }
        // To a reader a file that is missing is a miss, whether or not the index can be asked just now.
        return (try? openInline(digest, byteCount, nil)) ?? nil
    }

    private func openInline(
        _ digest: ContentDigest, _ byteCount: Int64, _ connection: Connection?
    ) throws(StoreError) -> StoredBody? {
        func find(_ connection: Connection) throws(SQLiteError) -> (bytes: Data, id: Int64)? {
            try connection.inlineBody(digest, byteCount: byteCount)
        }
        let found =
            if let connection {
                try mapping(indexPath) { () throws(SQLiteError) in try find(connection) }
            } else {
                try read(find)
            }
        guard let found, isVerified(digest, .row(found.id), { ContentDigest(of: found.bytes) }) else { return nil }
        return StoredBody(bytes: found.bytes, digest: digest)
    }

    private func openFile(_ digest: ContentDigest, _ byteCount: Int64) throws(StoreError) -> StoredBody? {
        try mapping { () throws(SystemError) in
            guard let (descriptor, status) = try blobs.open(digest, byteCount: byteCount),
                try isVerified(
                    digest, .file(status),
                    { () throws(SystemError) in try BlobDigester.digest(of: descriptor, byteCount: byteCount) })
            else { return nil }
            return StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        }
    }

    /// Whether a body has the digest that it should have, as far as this store looks.
    private func isVerified<Failure: Error>(
        _ digest: ContentDigest, _ place: VerifiedBlobs.Place, _ actual: () throws(Failure) -> ContentDigest?
    ) throws(Failure) -> Bool {
        switch configuration.verification {
        case .never: return true
        case .firstRead where verified.contains(digest, place): return true
        case .firstRead, .everyRead:
            guard try actual() == digest else { return false }
            verified.insert(digest, place)
            return true
        }
    }

    /// Removes what has a body that is not what it should be, unless it has been stored anew in the meantime.
    private func removeDamaged(
        _ digest: ContentDigest, byteCount: Int64
    ) throws(StoreError) -> (entries: Int, derived: Int) {
        try writer.write { [self] (connection) throws(StoreError) in
            // Under the write lock nobody deletes or stores this body.
            guard try openIntact(digest, byteCount: byteCount, connection) == nil else { return (0, 0) }
            return try removeRows(withDamagedBody: digest, connection)
        }
    }

    /// Removes the entries and derived forms of a body that is damaged, and its bytes; how many there were, without the forms
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
            // At once, and not with what nothing needs: if their count were wrong, it would stay for ever.
            try connection.removeInlineBody(digest)
            return removed
        }
        try mapping { () throws(SystemError) in _ = try blobs.unlink(digest) }
        return removed
    }
}
