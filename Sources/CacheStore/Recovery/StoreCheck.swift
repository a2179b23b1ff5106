/// What `ResponseStore.check(digests:)` found.
public struct CheckReport: Hashable, Sendable {
    /// Something that is not as it should be.
    @nonexhaustive
    public enum Problem: Hashable, Sendable {
        /// SQLite says that the file of the index is damaged.
        case damagedIndex(String)
        /// The body of some entries or derived forms is not there, or is no regular file of the right length.
        case missingFile(ContentDigest)
        /// A file has other bytes than its name says.
        case alteredFile(ContentDigest)
        /// A file that no entry needs, and that no write is going to delete.
        case orphanFile(path: String)
        /// An entry whose body the index does not list, or lists with another length.
        case unlistedBody(CacheKey)
        /// As ``unlistedBody(_:)``, of a form derived from an entry of the key.
        case unlistedDerivedBody(CacheKey, name: String)
        /// A body is counted as needed by more or fewer entries and derived forms than there are.
        case wrongReferenceCount(ContentDigest, recorded: Int64, actual: Int64)
        /// A sum that the statistics show is not the sum of the rows.
        case wrongTotal(String, recorded: Int64, actual: Int64)
        /// An entry would not be found by its tags, or is not evicted in its turn.
        case wrongTags(CacheKey)
    }

    /// What is wrong; empty for a sound store.
    public internal(set) var problems: [Problem] = []
    /// Files that were compared.
    public internal(set) var files = 0
    /// Things below `blobs/` that are not the store's, which it leaves alone.
    public internal(set) var foreignFiles: [String] = []

    /// Whether nothing is wrong.
    public var isSound: Bool { problems.isEmpty }

    var hasDamagedIndex: Bool {
        problems.contains { problem in
            if case .damagedIndex = problem { true } else { false }
        }
    }
}

extension CheckReport.Problem: CustomStringConvertible {
    /// One line.
    public var description: String {
        switch self {
        case .damagedIndex(let message): "damaged index: \(message)"
        case .missingFile(let digest): "missing or wrong length: \(BlobPath(digest).relativePath)"
        case .alteredFile(let digest): "altered: \(BlobPath(digest).relativePath)"
        case .orphanFile(let path): "no entry needs: \(path)"
        case .unlistedBody(let key): "body not listed: \(key)"
        case .unlistedDerivedBody(let key, let name): "derived body not listed: \(name.debugDescription) of \(key)"
        case .wrongReferenceCount(let digest, let recorded, let actual):
            "\(digest): counted as needed by \(recorded), needed by \(actual)"
        case .wrongTags(let key): "tags or the order of eviction contradict the entry: \(key)"
        case .wrongTotal(let name, let recorded, let actual): "\(name): recorded \(recorded), counted \(actual)"
        }
    }
}

/// Compares rows, files and, if asked, digests.
extension ResponseStore {
    /// Looks for everything that could be wrong with the store, and changes nothing.
    ///
    /// Reads the whole index and the status of every file; with `digests`, the bytes of every body too. Others may read and
    /// write meanwhile: what looks wrong is looked at once more under the write lock before it is reported.
    public func check(digests: Bool = false) throws(StoreError) -> CheckReport {
        var report = CheckReport()
        report.problems = try readAsIs { (connection) throws(SQLiteError) in
            try connection.integrityProblems().map { .damagedIndex($0) }
        }
        do throws(StoreError) {
            try compareRows(&report)
            try compareBodies(&report, reads: digests)
            try lookForOrphans(&report)
        } catch .index(let error) where error.isDamage {
            // What cannot be read cannot be compared.
            if report.isSound { report.problems.append(.damagedIndex(error.message)) }
        }
        return report
    }

    /// As the synchronous form, without blocking the caller's thread.
    public func check(digests: Bool = false) async throws(StoreError) -> CheckReport {
        try await onMaintenanceLane { () throws(StoreError) in try self.check(digests: digests) }
    }

    private func compareRows(_ report: inout CheckReport) throws(StoreError) {
        report.problems += try readAsIs { (connection) throws(SQLiteError) in
            try connection.entriesWithoutBlob().map { .unlistedBody($0) }
                + connection.derivedWithoutBlob().map { .unlistedDerivedBody($0, name: $1) }
                + connection.wrongReferenceCounts().map { .wrongReferenceCount($0, recorded: $1, actual: $2) }
                + connection.entriesWithWrongTags().map { .wrongTags($0) }
                + connection.wrongTotals().map { .wrongTotal($0, recorded: $1, actual: $2) }
        }
    }

    private func compareBodies(_ report: inout CheckReport, reads: Bool) throws(StoreError) {
        let listed = try readAsIs { (connection) throws(SQLiteError) in
            var listed: [(ContentDigest, Int64)] = []
            try connection.forEachBlob { listed.append(($0, $1)) }
            return listed
        }
        report.files = listed.count
        var suspects: [ContentDigest] = []
        for (digest, byteCount) in listed where try examine(digest, byteCount, reads: reads) != nil {
            suspects.append(digest)
        }
        report.problems += try confirm(suspects, reads: reads)
    }

    /// The problem of the file of a body; `nil` for none, as far as `reads` asks.
    func examine(
        _ digest: ContentDigest, _ byteCount: Int64, reads: Bool
    ) throws(StoreError) -> CheckReport.Problem? {
        try wrappingErrors { () throws(SystemError) in
            guard let (descriptor, _) = try blobs.open(digest, byteCount: byteCount) else {
                return .missingFile(digest)
            }
            guard reads else { return nil }
            return try BlobDigester.digest(of: descriptor, byteCount: byteCount) == digest ? nil : .alteredFile(digest)
        }
    }

    /// Which of the suspects are guilty while nobody can write.
    private func confirm(_ suspects: [ContentDigest], reads: Bool) throws(StoreError) -> [CheckReport.Problem] {
        guard !suspects.isEmpty else { return [] }
        return try whileNobodyWrites { [self] (connection) throws(StoreError) in
            var problems: [CheckReport.Problem] = []
            for digest in suspects {
                let byteCount = try wrappingErrors(indexPath) { () throws(SQLiteError) in
                    try connection.byteCount(ofBlob: digest)
                }
                guard let byteCount, let problem = try examine(digest, byteCount, reads: reads) else {
                    continue
                }
                problems.append(problem)
            }
            return problems
        }
    }

    /// Looks once more under the write lock. A store that is only read has to do without: others may be writing.
    private func whileNobodyWrites<Value: Sendable>(
        _ look: @escaping @Sendable (Connection) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        guard !configuration.isReadOnly else { return try readers.read(look) }
        return try writer.write { (transaction) throws(StoreError) in try look(transaction.connection) }
    }

    private func lookForOrphans(_ report: inout CheckReport) throws(StoreError) {
        try wrappingErrors { () throws(SystemError) in
            try blobs.forEachFile { digest, path in if digest == nil { report.foreignFiles.append(path) } }
        }
        let unlisted = try unlistedFiles()
        guard !unlisted.isEmpty else { return }
        report.problems += try whileNobodyWrites { [self] (connection) throws(StoreError) in
            var problems: [CheckReport.Problem] = []
            for digest in unlisted {
                let isListed = try wrappingErrors(indexPath) { () throws(SQLiteError) in try connection.containsBlob(digest) }
                let exists = try wrappingErrors { () throws(SystemError) in try blobs.status(of: digest) != nil }
                if !isListed, exists { problems.append(.orphanFile(path: BlobPath(digest).relativePath)) }
            }
            return problems
        }
    }
}
