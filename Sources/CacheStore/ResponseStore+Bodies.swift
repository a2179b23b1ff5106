internal import CPlatform
internal import CacheFoundation

/// Opens bodies for reading, and removes damaged ones.
extension ResponseStore {
    /// Opens the body of an entry. Returns `nil` for a missing or damaged body; then look up the key again.
    ///
    /// The file of a damaged body has another length, or has other bytes as far as ``Configuration/verification``
    /// checks. The file of a part may be longer than the part. The store removes the entry and the file of a missing or
    /// damaged body, so that the response is loaded again. Other entries with the same body are removed when they are
    /// opened. A read-only store removes nothing.
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
        /// The body is missing or damaged; see ``ResponseStore/openBody(of:)``.
        case gone
        /// The body is longer than the limit, and was not verified yet.
        case unverified
    }

    /// Opens the body of an entry like ``openBody(of:)``, unless this would compare more than `limit` bytes.
    package func openBody(of entry: StoredEntry, verifyingUpTo limit: Int64) throws(StoreError) -> BodyOpening {
        try checkOpen()
        return try openBody(of: BodyReference(entry), limit: limit)
    }

    /// Compares the body of an entry with its digest, under any configuration, even after an earlier verification. May
    /// take long. Removes the entry of a damaged body as ``openBody(of:)`` does. Returns whether the body is damaged.
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
            // A deleted directory accepts no files. ext4 then returns EPERM.
            guard error.meansMissing || error.errno == EPERM else { throw error }
        }
        try reopenReplacedDirectory()
        return try blobs.stage()
    }

    /// Opens a body. If it is missing or damaged and the store is open for writing, removes the row that names it.
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

    /// Returns whether ``openBody(of:)`` would open the body of an entry. Never removes an entry.
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
        /// The body is longer than the limit, and was not verified yet.
        case unverified
        /// The file is missing or has another length (`nil`), or the file with this status has other bytes.
        case damaged(FileStatus?)
    }

    /// Opens the file of a body. The body is damaged unless it has the right length and, as far as `verification`
    /// requires, the right bytes.
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
            guard try descriptor.digest(byteCount: byteCount) == digest else {
                return .damaged(status)
            }
            verified.insert(digest, status, isPart: isPart)
        }
        let body = StoredBody(descriptor: descriptor, digest: digest, byteCount: byteCount)
        if mayStayOpen { openBodies.insert(body, status) }
        return .intact(body)
    }

    /// Opens the file of a body. If the process has run out of descriptors, first closes the bodies kept open.
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

    /// Whether a body can skip the comparison with its digest.
    private func isVerified(
        _ digest: ContentDigest, _ status: FileStatus, isPart: Bool, _ verification: Configuration.Verification
    ) -> Bool {
        switch verification {
        case .never: true
        case .firstRead: verified.contains(digest, status, isPart: isPart)
        case .everyRead: false
        }
    }

    /// Removes the row of a damaged body, and its file. After an error, the next reader finds the damage again.
    private func removeDamaged(_ digest: ContentDigest, _ body: BodyReference, _ file: FileStatus?) {
        do throws(StoreError) {
            // Check without the write lock first: the body of an evicted entry has no row, so its missing file is no
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

    /// Removes rows with a damaged body, and its file, unless the body has been stored again since. Requires the write
    /// lock, so that no other writer deletes or stores the body. `file` is `nil` for a missing file or another length.
    /// Returns whether a row was removed.
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
