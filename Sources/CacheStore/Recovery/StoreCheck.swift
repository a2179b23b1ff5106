// The folder `Recovery/` has the check, the repair and the sweep of a store, and makes room on a full disk. The folder
// may read and repair every row, and read every file of a body. A check changes nothing. The folder deletes bodies only
// with `BlobDeletion`, and quarantines no index itself: the repair calls `IndexWriter.recover()`.

/// The result of `ResponseStore.check(digests:)`.
public struct CheckReport: Hashable, Sendable {
    /// A problem of the store.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        /// SQLite reports that the file of the index is damaged.
        case damagedIndex(String)
        /// The body of some entries or derived representations is missing, or is not a regular file of the right
        /// length.
        case missingFile(ContentDigest)
        /// The bytes of a file do not match its name.
        case alteredFile(ContentDigest)
        /// A file that no entry needs, and that was not deleted with its last entry.
        case orphanFile(path: String)
        /// A folder that belongs to another user than the store. The owner of the store may be unable to write it.
        case foreignFolder(path: String, owner: UInt32)
        /// An entry whose body the index does not list, or lists with another length.
        case unlistedBody(CacheKey)
        /// The same as ``unlistedBody(_:)``, for a derived representation of an entry of the key.
        case unlistedDerivedBody(CacheKey, name: String)
        /// The recorded number of entries and derived representations that need a body is wrong.
        case wrongReferenceCount(ContentDigest, recorded: Int64, actual: Int64)
        /// A sum in the statistics differs from the sum of the rows.
        case wrongTotal(String, recorded: Int64, actual: Int64)
        /// The tags of an entry do not find it, or its position in the order of eviction is wrong.
        case wrongTags(CacheKey)
    }

    /// The problems. Empty for a sound store.
    public internal(set) var problems: [Problem] = []
    /// The number of files that were compared.
    public internal(set) var files = 0
    /// Files and directories below `blobs/` that do not belong to the store, which ignores them.
    public internal(set) var foreignFiles: [String] = []

    /// Whether the check found no problem.
    public var isSound: Bool { problems.isEmpty }

    var hasDamagedIndex: Bool {
        problems.contains { problem in
            if case .damagedIndex = problem { true } else { false }
        }
    }
}

extension CheckReport.Problem: CustomStringConvertible {
    /// A description in one line.
    public var description: String {
        switch self {
        case .damagedIndex(let message): "damaged index: \(message)"
        case .missingFile(let digest): "missing or wrong length: \(BlobPath(digest).relativePath)"
        case .alteredFile(let digest): "altered: \(BlobPath(digest).relativePath)"
        case .orphanFile(let path): "no entry needs: \(path)"
        case .foreignFolder(let path, let owner): "belongs to the user \(owner): \(path)"
        case .unlistedBody(let key): "body not listed: \(key)"
        case .unlistedDerivedBody(let key, let name): "derived body not listed: \(name.debugDescription) of \(key)"
        case .wrongReferenceCount(let digest, let recorded, let actual):
            "\(digest): counted as needed by \(recorded), needed by \(actual)"
        case .wrongTags(let key): "tags or the order of eviction contradict the entry: \(key)"
        case .wrongTotal(let name, let recorded, let actual): "\(name): recorded \(recorded), counted \(actual)"
        }
    }
}

/// Compares rows, files and, on request, digests.
extension ResponseStore {
    /// Checks the store for every known kind of problem. Changes nothing.
    ///
    /// Reads the whole index and the status of every file, and with `digests` also the bytes of every body. Other
    /// threads and processes may keep reading and writing. So the check examines a suspicious file again under the
    /// write lock before it reports the file.
    public func check(digests: Bool = false) throws(StoreError) -> CheckReport {
        try check(digests: digests, noting: { _ in })
    }

    /// Does the same as the synchronous method, without blocking the caller's thread.
    public func check(digests: Bool = false) async throws(StoreError) -> CheckReport {
        try await check(digests: digests) { _ in }
    }

    /// Checks the store like the public method, and calls `note` after each file, on the thread of the check.
    package func check(
        digests: Bool, _ note: @escaping @Sendable (CheckProgress) -> Void
    ) async throws(StoreError) -> CheckReport {
        try await maintenanceLane.run { () throws(StoreError) in try self.check(digests: digests, noting: note) }
    }

    private func check(digests: Bool, noting note: (CheckProgress) -> Void) throws(StoreError) -> CheckReport {
        var report = CheckReport()
        report.problems = try readLongAsIs { (connection) throws(StoreError) in
            try connection.integrityProblems().map { .damagedIndex($0) }
        }
        do throws(StoreError) {
            try compareRows(&report)
            try compareBodies(&report, reads: digests, note)
            try lookForOrphans(&report)
        } catch .index(let error) where error.isDamage {
            // Rows that cannot be read cannot be compared.
            if report.isSound { report.problems.append(.damagedIndex(error.message)) }
        }
        return report
    }

    private func compareRows(_ report: inout CheckReport) throws(StoreError) {
        report.problems += try readLongAsIs { (connection) throws(StoreError) in
            try connection.entriesWithoutBlob().map { .unlistedBody($0) }
                + connection.derivedWithoutBlob().map { .unlistedDerivedBody($0, name: $1) }
                + connection.wrongReferenceCounts().map { .wrongReferenceCount($0, recorded: $1, actual: $2) }
                + connection.entriesWithWrongTags().map { .wrongTags($0) }
                + connection.wrongTotals().map { .wrongTotal($0, recorded: $1, actual: $2) }
        }
    }

    private func compareBodies(
        _ report: inout CheckReport, reads: Bool, _ note: (CheckProgress) -> Void
    ) throws(StoreError) {
        let (listed, parts) = try readLongAsIs { (connection) throws(StoreError) in
            var listed: [(ContentDigest, Int64)] = []
            try connection.forEachBlob { listed.append(($0, $1)) }
            return (listed, try connection.partBodies())
        }
        report.files = listed.count
        var progress = CheckProgress(of: listed.map(\.1))
        var suspects: [ContentDigest] = []
        for (digest, byteCount) in listed {
            try checkOpen()
            let problem = try examine(digest, byteCount, isPart: parts.contains(digest), reads: reads)
            if problem != nil { suspects.append(digest) }
            progress.add(byteCount: byteCount)
            note(progress)
        }
        report.problems += try confirm(suspects, reads: reads)
    }

    /// Returns the problem of the file of a body, or `nil`. Compares the bytes only if `reads` is `true`.
    func examine(
        _ digest: ContentDigest, _ byteCount: Int64, isPart: Bool, reads: Bool
    ) throws(StoreError) -> CheckReport.Problem? {
        guard let (descriptor, _) = try blobs.open(digest, byteCount: byteCount, isPart: isPart) else {
            return .missingFile(digest)
        }
        guard reads else { return nil }
        return try descriptor.digest(byteCount: byteCount) == digest ? nil : .alteredFile(digest)
    }

    /// Examines the suspects again and returns the remaining problems.
    private func confirm(_ suspects: [ContentDigest], reads: Bool) throws(StoreError) -> [CheckReport.Problem] {
        guard !suspects.isEmpty else { return [] }
        let parts = try readLongAsIs { (connection) throws(StoreError) in try connection.partBodies() }
        var problems: [CheckReport.Problem] = []
        for digest in suspects {
            try checkOpen()
            while true {
                // Take the status before reading: the second look then notices a file that was replaced in between.
                let file = try blobs.status(of: digest)
                let byteCount = try readers.read { (connection) throws(StoreError) in
                    try connection.byteCount(ofBlob: digest)
                }
                guard let byteCount,
                    let problem = try examine(digest, byteCount, isPart: parts.contains(digest), reads: reads)
                else { break }
                // Reading the file may take long, so it happens without the write lock. Check under the lock that the
                // index still names the same file.
                let isConfirmed = try whileNobodyWrites { [self] (connection) throws(StoreError) in
                    let present = try connection.byteCount(ofBlob: digest)
                    let presentFile = try blobs.status(of: digest)
                    return present == byteCount && (presentFile.map { $0.isSameFile(as: file) } ?? (file == nil))
                }
                guard isConfirmed else { continue }
                problems.append(problem)
                break
            }
        }
        return problems
    }

    /// Calls `look` under the write lock. A read-only store cannot take it, so other processes may write.
    private func whileNobodyWrites<Value: Sendable>(
        _ look: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        guard !configuration.isReadOnly else { return try readLongAsIs(look) }
        return try writer.write { (transaction) throws(StoreError) in try look(transaction.connection) }
    }

    private func lookForOrphans(_ report: inout CheckReport) throws(StoreError) {
        try blobs.forEachFile { digest, path in if digest == nil { report.foreignFiles.append(path) } }
        try blobs.forEachForeignFolder { report.problems.append(.foreignFolder(path: $0, owner: $1)) }
        var unlisted = try unlistedFiles()[...]
        while !unlisted.isEmpty {
            let batch = unlisted.prefix(Self.orphanBatch)
            unlisted = unlisted.dropFirst(batch.count)
            report.problems += try whileNobodyWrites { [self] (connection) throws(StoreError) in
                var problems: [CheckReport.Problem] = []
                for digest in batch {
                    // Look again under the write lock: a body may have got its row since the list was made.
                    let isListed = try connection.containsBlob(digest)
                    let exists = try blobs.status(of: digest) != nil
                    if !isListed, exists { problems.append(.orphanFile(path: BlobPath(digest).relativePath)) }
                }
                return problems
            }
        }
    }

    /// The number of files that one transaction checks.
    private static let orphanBatch = 128
}
