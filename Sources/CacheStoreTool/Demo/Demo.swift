import ArgumentParser
import CacheStore
import Foundation
import LoopbackOrigin

/// Demonstrates the whole package with an origin on loopback.
struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fetch files from an origin on this machine through the cache, and show what that saves.",
        discussion: """
            Without --files it serves files that it makes itself. It listens on the loopback interface only, for as long \
            as it runs.
            """)

    @Option(help: ArgumentHelp("Serve the files below this directory.", valueName: "dir"), completion: .directory)
    var files: String?

    @Option(
        help: ArgumentHelp("Keep the store in this directory; without it, it is removed at the end.", valueName: "dir"),
        completion: .directory)
    var store: String?

    @OptionGroup var report: ReportOptions

    func validate() throws {
        if store?.isEmpty == true { throw ValidationError("--store needs the name of a directory") }
        if files?.isEmpty == true { throw ValidationError("--files needs the name of a directory") }
    }

    func run() async throws {
        let served = try files.map { path in try DemoFiles(in: path).served() } ?? DemoSite.served()
        // So that a signal leaves no temporary store.
        let (result, signal) = try await Interruption.cancelling { [self] in
            try await withDirectory { directory in try await demonstrate(served, in: directory) }
        }
        if let signal { throw signal.exitCode }
        try report.write(result.json, text: result.text)
    }

    /// Calls `body` with the directory of the store. Then removes a temporary directory.
    private func withDirectory<Result>(_ body: (URL) async throws -> Result) async throws -> Result {
        if let store { return try await body(URL(filePath: store, directoryHint: .isDirectory)) }
        return try await TemporaryPlace.with(body)
    }

    private func demonstrate(_ served: FileOrigin, in directory: URL) async throws -> DemoReport {
        let clock = DemoClock(secondsToPass: DemoScenario.duration)
        var configuration = ResponseStore.Configuration()
        configuration.clock = clock.now
        return try await StoreOptions.withStore(at: directory, configuration: configuration) { store in
            try refuseForeign(store)
            let progress = ProgressLine()
            let scenario = try await DemoScenario(served, store: store, clock: clock, progress: progress)
            let rounds = try await progress.show { try await scenario.run() }
            await scenario.origin.stop()

            // The eviction ranks by accesses, and hits are pending accesses until this flush.
            try await store.flush()
            let before = try store.query(DemoReport.query)
            let maxBytes = try store.statistics().physicalBytes / 2
            let freed = try await store.evict(.maxBytes(maxBytes))
            let after = try store.query(DemoReport.query)
            let check = try await store.check(digests: true)
            guard check.isSound else {
                throw Failure(.broken, "\(store.directory.path(percentEncoded: false)): \(check.problems[0])")
            }
            return DemoReport(
                origin: scenario.origin.baseURL, files: served.paths.count, directory: files,
                store: store.directory.path(percentEncoded: false), isStoreKept: self.store != nil, rounds: rounds,
                before: before, maxBytes: maxBytes, freed: freed, after: after, checkedFiles: check.files)
        }
    }

    /// Rejects a store with entries of other hosts, because the demo evicts half of the store.
    private func refuseForeign(_ store: ResponseStore) throws {
        let foreign = try store.query("SELECT host FROM cache_entries WHERE host <> '127.0.0.1' LIMIT 1")
        guard foreign.rows.isEmpty else {
            let path = store.directory.path(percentEncoded: false)
            throw Failure(.broken, "\(path): this is a cache in use; the demo would evict half of it")
        }
    }
}
