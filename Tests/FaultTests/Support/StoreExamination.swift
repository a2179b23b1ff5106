import FaultModel
import TestSupport

/// Opens a store after a fault, and compares its content with the expectation.
struct StoreExamination {
    private let directory: URL
    private let expectation: PossibleAnswers
    /// Whether the power was cut: unsynced changes may be missing, and the store may need a repair.
    private let isAfterCut: Bool
    /// Whether entries may be missing, or older than expected.
    private let mayForget: Bool

    init(_ directory: URL, _ expectation: PossibleAnswers, isAfterCut: Bool = false, mayForget: Bool = false) {
        self.directory = directory
        self.expectation = expectation
        self.isAfterCut = isAfterCut
        self.mayForget = mayForget
    }

    /// The problems that remain after the store's own recovery and a sweep; empty for a sound store.
    func problems() -> [String] {
        do {
            return try examine()
        } catch {
            return ["\(error)"]
        }
    }

    private func examine() throws -> [String] {
        let store = try ResponseStore(directory: directory)
        defer { store.close() }
        var problems = try wrongAnswers(store)
        if isAfterCut { try store.repair(digests: true) } else { try store.sweep() }
        let report = try store.check(digests: true)
        problems += report.problems.map(\.description) + report.foreignFiles.map { "foreign: \($0)" }
        problems += try useProblems(store)
        // An open store may stage its ballast under a name.
        store.close()
        problems += try unaccounted()
        return problems
    }

    private func wrongAnswers(_ store: ResponseStore) throws -> [String] {
        var problems: [String] = []
        for (key, history) in expectation.history {
            let entry = try store.peek(CacheKey(name: key))
            let body = try entry.flatMap { try store.openBody(of: $0)?.data() }
            let allowed = mayForget ? history : expectation.possible(key)
            let isAllowed = allowed.contains { version in
                guard let version else { return body == nil }
                return entry?.metadata.etag == version.etag && body == version.bytes
            }
            problems += try formProblems(key, entry, store)
            if !isAllowed {
                let found = body.map { "\($0.count) bytes, \(entry?.metadata.etag ?? "no ETag")" } ?? "nothing"
                let allowed = allowed.map { $0?.etag ?? "nothing" }.sorted()
                problems.append("\(key) has \(found) where \(allowed.joined(separator: " or ")) should be")
            }
        }
        for (key, counts) in expectation.failures where !mayForget {
            let count = try store.failure(for: CacheKey(name: key))?.count ?? 0
            if !counts.contains(count) { problems.append("\(key) has \(count) failures, not \(counts)") }
        }
        return problems
    }

    /// Expects the derived representation of the stored body, or none where the model has none.
    private func formProblems(_ key: String, _ entry: StoredEntry?, _ store: ResponseStore) throws -> [String] {
        guard let entry else { return [] }
        let history = (expectation.history[key] ?? []).compactMap(\.self)
        guard let version = history.first(where: { $0.etag == entry.metadata.etag }) else { return [] }
        let allowed = expectation.possibleForms(key)
        guard let form = try store.openDerived(name: "form", of: entry)?.data() else {
            return mayForget || allowed.contains(nil) ? [] : ["\(key) has lost its form"]
        }
        if form != version.form.bytes { return ["\(key) has a form of another body"] }
        return mayForget || allowed.contains(version.number) ? [] : ["\(key) has a form that nobody stored"]
    }

    /// Files that do not belong to the store.
    private func unaccounted() throws -> [String] {
        let manager = FileManager.default
        let known: Set = [
            "index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "blobs", "staging", "ballast", "locks",
        ]
        var names = try manager.contentsOfDirectory(atPath: directory.path(percentEncoded: false))
            .filter { !known.contains($0) }
            // Only a power cut may damage an index.
            .filter { !isAfterCut || !$0.hasPrefix("index.sqlite.quarantined-") }
        let staging = directory.appending(path: "staging").path(percentEncoded: false)
        if manager.fileExists(atPath: staging) {
            names += try manager.contentsOfDirectory(atPath: staging).map { "staging/" + $0 }
        }
        return names.map { "left behind: \($0)" }
    }

    /// Stores and finds a new entry: the store works, too.
    private func useProblems(_ store: ResponseStore) throws -> [String] {
        let (key, body) = (try CacheKey(name: "afterwards"), Data(repeating: 99, count: 5_000))
        try store.insert(body, metadata: EntryMetadata(requestedAt: Date(), receivedAt: Date()), for: key)
        let found = try store.peek(key).flatMap { try store.openBody(of: $0)?.data() }
        return found == body ? [] : ["what was stored afterwards is not there"]
    }
}
