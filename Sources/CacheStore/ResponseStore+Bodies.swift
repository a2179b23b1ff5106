internal import CPlatform
internal import CacheFoundation

/// Opens bodies for reading, and removes damaged ones.
extension ResponseStore {
    /// Opens the body of an entry. Returns `nil` if the body is gone; look up the key again then.
    ///
    /// A body is gone for good if its file is missing, has another length, or has other bytes as far as
    /// ``Configuration/verification`` checks. The file of a part may be longer than the part. The store then removes the
    /// entry and the file, so that the response is loaded again. Other entries with the same body go once they are
    /// opened. A store that is open for reading only removes nothing.
    ///
    /// - Throws: ``StoreError/file(_:)`` when the file may be intact but cannot be read now, for example with too many
    ///   open files.
    public func openBody(of entry: StoredEntry) throws(StoreError) -> StoredBody? {
        try checkOpen()
        if case .open(let body) = try openBody(of: BodyReference(entry), limit: .max) { return body }
        return nil
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
        return try openBody(of: BodyReference(entry), limit: limit)
    }

    /// Compares the body of an entry with its digest, with any configuration and also after an earlier verification.
    /// Removes the entry of a damaged body, as ``openBody(of:)`` does. May take long.
    ///
    /// - Returns: Whether the body is damaged.
    package func removeIfDamaged(_ entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        if case .open = try openBody(of: BodyReference(entry), limit: .max, .everyRead) { return false }
        return true
    }

    /// Stages a file for a body.
    func stage() throws(StoreError) -> StagedFile {
        do throws(StoreError) {
            return try blobs.stage()
        } catch {
            // A deleted directory takes no file; ext4 answers EPERM.
            guard error.meansMissing || error.errno == EPERM else { throw error }
        }
        try reopenReplacedDirectory()
        return try blobs.stage()
    }

    /// Opens a body. If the body is gone, removes the row that names it, in a store that is open for writing.
    func openBody(
        of body: BodyReference, limit: Int64, _ verification: Configuration.Verification? = nil
    ) throws(StoreError) -> BodyOpening {
        guard let digest = body.digest else { return .open(StoredBody()) }
        switch try find(
            digest, byteCount: body.byteCount, isPart: body.isPart, limit: limit,
            verification ?? configuration.verification)
        {
        case .intact(let opened): return .open(opened)
        case .unverified: return .unverified
        case .damaged(let file):
            if !configuration.isReadOnly { removeDamaged(digest, body, file) }
            return .gone
        }
    }

    /// Returns whether ``openBody(of:)`` would open the body of an entry. Does not remove the entry of a damaged body.
    package func hasBody(of entry: StoredEntry) throws(StoreError) -> Bool {
        try checkOpen()
        guard let digest = entry.digest else { return true }
        let state = try find(
            digest, byteCount: entry.byteCount, isPart: entry.metadata.part != nil, limit: .max,
            configuration.verification)
        if case .intact = state { return true }
        return false
    }

    /// The state of the file of a body.
    enum BodyState {
        case intact(StoredBody)
        /// The body is longer than the limit, and has not been compared with its digest yet.
        case unverified
        /// The file is missing or has another length, or, with its status, has other bytes.
        case damaged(FileStatus?)
    }

    /// Opens the file of a body, which is damaged unless it has the right length and, as far as `verification` asks, the
    /// right bytes.
    func find(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool, limit: Int64,
        _ verification: Configuration.Verification
    ) throws(StoreError) -> BodyState {
        let mayStayOpen = !isPart && verification != .everyRead
        if mayStayOpen, let open = openBodies.find(digest, byteCount: byteCount) { return .intact(open) }
        guard let (descriptor, status) = try openFile(digest, byteCount: byteCount, isPart: isPart) else {
            return .damaged(nil)
        }
        if !isVerified(digest, status, isPart: isPart, verification) {
            guard byteCount <= limit else { return .unverified }
            guard try BlobDigester.digest(of: descriptor, byteCount: byteCount) == digest else {
                return .damaged(status)
            }
            verified.insert(digest, status, isPart: isPart)
        }
        let body = StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        if mayStayOpen { openBodies.insert(body, status) }
        return .intact(body)
    }

    /// Opens the file of a body. If the process has no descriptor left, closes the bodies that are kept open first.
    private func openFile(
        _ digest: ContentDigest, byteCount: Int64, isPart: Bool
    ) throws(StoreError) -> (FileDescriptor, FileStatus)? {
        do throws(StoreError) {
            return try blobs.open(digest, byteCount: byteCount, isPart: isPart)
        } catch {
            guard error.errno == EMFILE || error.errno == ENFILE else { throw error }
            openBodies.closeAll()
            return try blobs.open(digest, byteCount: byteCount, isPart: isPart)
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

    /// Removes the row of a damaged body, and the damaged file. After an error the next reader finds the damage again.
    private func removeDamaged(_ digest: ContentDigest, _ body: BodyReference, _ file: FileStatus?) {
        do throws(StoreError) {
            // Ask without the write lock first: the body of an evicted entry has no row left, and its missing file is no
            // damage.
            guard try read({ (connection) throws(StoreError) in try connection.containsBlob(digest) }) else { return }
            let isRemoved = try writer.write { [self] (transaction) throws(StoreError) in
                try remove(
                    [body.row], withDamaged: digest, file, byteCount: body.byteCount, isPart: body.isPart, transaction)
            }
            guard isRemoved else { return }
            observation.damagedBodies.add()
            observation.log.warning("removed an entry whose body was missing or damaged", ["sha256": "\(digest)"])
        } catch {
            observation.log.warning(
                "cannot remove an entry whose body is missing or damaged",
                ["sha256": "\(digest)", "error": "\(error)"])
        }
    }

    /// Removes rows with a damaged body, and its file, unless the body has been stored again since. Holds the write lock,
    /// under which no other writer deletes or stores the body.
    ///
    /// - Parameter file: The file that was found damaged; `nil` if it was missing or had another length.
    /// - Returns: Whether there was something to remove.
    func remove(
        _ rows: [BodyReference.Row], withDamaged digest: ContentDigest, _ file: FileStatus?, byteCount: Int64,
        isPart: Bool, _ transaction: WriteTransaction
    ) throws(StoreError) -> Bool {
        let present = try blobs.open(digest, byteCount: byteCount, isPart: isPart)?.1
        guard present?.isSameFile(as: file) ?? true else { return false }
        var isRemoved = false
        for row in rows where try transaction.remove(row, withBody: digest) { isRemoved = true }
        guard isRemoved else { return false }
        try transaction.connection.countDamagedBody()
        try deletion.deleteDamaged(digest)
        return true
    }
}
