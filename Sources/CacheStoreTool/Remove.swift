import ArgumentParser
import CacheReports
import CacheStore

/// Removes stored responses by URL or by a common property.
struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Remove what is stored for URLs, or everything that fits a selection.",
        discussion: """
            Bodies, validators, variants and counted failures go, pinned entries too. Of a selection, all that is said \
            must hold. The exit code is 1 when nothing was stored for one of the URLs.
            """)

    @Argument(help: ArgumentHelp("What to remove.", valueName: "url"))
    var urls: [String] = []

    @OptionGroup(title: "Selection") var options: SelectionOptions

    @Flag(help: "Only say what would go.")
    var dryRun = false

    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func validate() throws {
        for url in urls { try URLArgument.validate(url) }
        switch (urls.isEmpty, options.isGiven) {
        case (true, false): throw ValidationError("remove needs URLs, or options that say what is to go")
        case (false, true): throw ValidationError("remove takes URLs or a selection, not both")
        default: break
        }
    }

    func run() async throws {
        if urls.isEmpty { try await removeSelection() } else { try await removeURLs() }
    }

    // MARK: URLs

    private func removeURLs() async throws {
        let targets = try urls.map(URLArgument.init)
        var (removed, notStored): ([String], [String]) = ([], [])
        try await store.withExistingStore(isReadOnly: dryRun) { store in
            for target in targets {
                if try await remove(target.key, from: store) {
                    removed.append(target.key.text)
                    let verb = dryRun ? "would remove" : "removed"
                    if report.format == nil { try StandardOutput.write(line: "\(verb) \(target.key)") }
                } else {
                    notStored.append(target.key.text)
                    if report.format == nil { Failure(.no, "\(target.key): not stored").report() }
                }
            }
        }
        if let format = report.format {
            try format.write(
                ["removed": .array(removed.map(JSON.text)), "not_stored": .array(notStored.map(JSON.text))])
        }
        if !notStored.isEmpty { throw ExitCode(Failure.Kind.no.rawValue) }
    }

    private func remove(_ key: CacheKey, from store: ResponseStore) async throws -> Bool {
        guard dryRun else { return try await store.remove(key) }
        return try !store.responses(for: key).isEmpty || store.failure(for: key) != nil
    }

    // MARK: A selection

    private func removeSelection() async throws {
        let removed = try await store.withExistingStore(isReadOnly: dryRun) { store in
            try await ProgressLine().show {
                (try? store.statistics()).map { "\($0.entries.of("entry", "entries")) left" }
            } during: {
                try await remove(from: store)
            }
        }
        let (verb, freed) = dryRun ? ("would remove", "free") : ("removed", "freed")
        try report.write(
            [
                "entries": .integer(removed.entries), "failures": .integer(removed.failures),
                "bytes": .integer(removed.bytes),
            ],
            text: """
                \(verb) \(removed.entries.of("entry", "entries")) and the failures of \
                \(removed.failures.of("key", "keys")), \(freed) \(removed.bytes.asByteCount)
                """)
    }

    private func remove(from store: ResponseStore) async throws -> RemovalReport {
        if options.all, !dryRun { return try await store.clear() }
        do throws(StoreError) {
            return try await store.removeAll(options.selection, dryRun: dryRun)
        } catch {
            guard options.predicate != nil, let problem = SQLProblem(error, in: store.directory) else { throw error }
            throw Failure(.broken, problem.message)
        }
    }
}
