import ArgumentParser
import CacheLoader
import CacheStore
import CacheTier
import Foundation
import HTTPTypes

/// Loads URLs through the cache.
struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load URLs through the cache and write their bodies.",
        discussion: """
            A body that is fresh in the store costs no request, a stale one a conditional request. Several URLs are \
            loaded at a time, and their bodies written in the order of the URLs; one that fails does not keep the others, \
            and the exit code is that of the worst. After Ctrl-C or a kill, a later load asks for the rest of a body whose \
            origin sends a strong validator. With --json or --jsonl, the standard output says how each response came, and \
            which file has its body. No binary body goes to a terminal, except with -o -. The \
            variables http_proxy, https_proxy, all_proxy and no_proxy choose proxies, as for curl; \
            an HTTP proxy has to allow CONNECT, to port 80 too.
            """)

    @Argument(help: ArgumentHelp("What to load: absolute http or https URLs.", valueName: "url"))
    var urls: [String]

    @OptionGroup var body: BodyOptions

    @Option(help: "The lane: six transfers at a time when urgent, one in the background.")
    var lane = Lane.urgent

    @Option(
        help: ArgumentHelp(
            "Try so many times more, 0 to 100, what failed for a reason that may pass: no connection, or a status such as 503.",
            valueName: "number"))
    var retry = RetryCount(0)

    @Flag(name: .shortAndLong, help: "Say on the standard error where each body came from.")
    var verbose = false

    @OptionGroup var loading: LoadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    /// A body and its load time.
    private typealias Arrival = (resource: Loaded<Data>, time: Duration)

    func validate() throws {
        for url in urls { try URLArgument.validate(url) }
        if body.output == "-", report.format != nil {
            throw ValidationError("the standard output takes the body or JSON; leave -o - or the JSON out")
        }
        if urls.count > 1, body.file != nil {
            throw ValidationError("-o takes the body of one URL; there are \(urls.count)")
        }
    }

    func run() async throws {
        let reports = report.format.map { ResponseReports($0) }
        let worst = try await store.withStoreOrNone { store in
            urls.count == 1 ? try await loadOne(urls[0], store, reports) : try await loadAll(store, reports)
        }
        try reports?.end()
        if let worst { throw ExitCode(worst.rawValue) }
    }

    /// - Returns: The kind of the failure, or `nil` after a success.
    private func loadOne(
        _ url: String, _ store: ResponseStore, _ reports: ResponseReports?
    ) async throws -> Failure.Kind? {
        let line = ProgressLine()
        // Covers only the load. A signal during `finish` ends the process, because a slow reader may block the write.
        let (result, signal) = try await Interruption.cancelling { [self] in
            try await withLoader(store, reports, watched: { WatchedTransport($0, showingOn: line) }) { loader in
                try await line.show { await load(url, through: loader) }
            }
        }
        if let signal { throw signal.exitCode }
        return try finish(url, result, reports)
    }

    /// Calls `body` with a loader whose transfers the reports measure. `--verbose` then prints the counts of the tier.
    private func withLoader<Result>(
        _ store: ResponseStore, _ reports: ResponseReports?, watched: (any HTTPTransport) -> any HTTPTransport,
        _ body: (ResourceLoader) async throws -> Result
    ) async throws -> Result {
        let (result, tier) = try await loading.withLoader(
            store, lane: lane, retry: retry,
            watched: { transport in
                let transport = watched(transport)
                return reports.map { WatchedTransport(transport, measuring: $0.times) } ?? transport
            }, body)
        if verbose, let tier { StandardError.write("\(tier.text)\n") }
        return result
    }

    /// Loads enough URLs concurrently to keep the lane busy. Delivers the bodies in the order of the URLs. Returns the
    /// worst kind of failure, or `nil` after complete success.
    private func loadAll(_ store: ResponseStore, _ reports: ResponseReports?) async throws -> Failure.Kind? {
        // A progress line would erase the end of a body on the same terminal.
        let line = ProgressLine(isWanted: isatty(STDOUT_FILENO) == 0)
        let batch = LoadBatch(total: urls.count)
        let (worst, signal) = try await Interruption.cancelling(after: batch.stop) { [self] in
            try await withLoader(store, reports, watched: { WatchedTransport($0, countingFor: batch) }) { loader in
                try await loadAll(through: loader, batch, line, reports)
            }
        }
        if let signal { throw signal.exitCode }
        return worst
    }

    private func loadAll(
        through loader: ResourceLoader, _ batch: LoadBatch, _ line: ProgressLine, _ reports: ResponseReports?
    ) async throws -> Failure.Kind? {
        // Limits the bodies in memory that wait for the body of an earlier URL.
        let window = 2 * loading.width(of: lane)
        return try await line.show {
            batch.progressText()
        } during: {
            try await withThrowingTaskGroup(of: (Int, Result<Arrival, any Error>).self) { group in
                var worst: Failure.Kind?
                var arrived: [Int: Result<Arrival, any Error>] = [:]
                var begun = 0
                for number in urls.indices {
                    while begun < min(urls.count, number + window) {
                        let next = begun
                        begun += 1
                        group.addTask { (next, await load(urls[next], through: loader)) }
                    }
                    while arrived[number] == nil, let (other, result) = try await group.next() {
                        arrived[other] = result
                        batch.note((try? result.get())?.resource.source.outcome ?? .error)
                    }
                    guard let result = arrived.removeValue(forKey: number) else { break }
                    try line.interrupt {
                        if let kind = try finish(urls[number], result, reports) { worst = max(worst ?? kind, kind) }
                    }
                }
                return worst
            }
        }
    }

    private func load(_ url: String, through loader: ResourceLoader) async -> Result<Arrival, any Error> {
        let start = ContinuousClock.now
        do {
            let resource = try await loader.load(loading.request(url, lane: lane))
            return .success((resource, ContinuousClock.now - start))
        } catch {
            return .failure(error)
        }
    }

    /// Delivers a loaded body or reports the failure. Throws an error that ends the whole command.
    private func finish(
        _ url: String, _ result: Result<Arrival, any Error>, _ reports: ResponseReports?
    ) throws -> Failure.Kind? {
        do {
            let arrival = try result.get()
            if !Task.isCancelled { try deliver(url, arrival, reports) }
            return nil
        } catch let error as StandardOutput.ReaderIsGone {
            throw error
        } catch LoadError.cancelled {
            // A signal ended the command.
            return nil
        } catch {
            let failure = Failure(error)
            if let reports { try reports.add(url, failure) } else { failure.report() }
            return failure.kind
        }
    }

    private func deliver(_ url: String, _ arrival: Arrival, _ reports: ResponseReports?) throws {
        let resource = arrival.resource
        if verbose { StandardError.write("\(provenance(of: resource))\n") }
        let file = body.file
        if let file { try OutputFile(path: file).write(resource.data) }
        if let reports {
            try reports.add(url, resource, file: file, store: store.directory, total: arrival.time)
        } else if file == nil {
            try body.writeToOutput(resource.data, of: url)
        }
    }

    /// Returns one line of `name=value` pairs with the URL last. Marks a stale response and the error behind it.
    private func provenance(of resource: Loaded<Data>) -> String {
        let digest = ContentDigest(of: resource.data)
        let expires = resource.expiresAt?.formatted(.iso8601) ?? "-"
        let stale = resource.isStale ? " stale=yes" : ""
        let error = resource.failure.map { " error=\($0.words.debugDescription.inOneLine)" } ?? ""
        return """
            source=\(resource.source.rawValue) status=\(resource.status.code) bytes=\(resource.data.count) \
            sha256=\(digest) age=\(resource.age) expires=\(expires)\(stale)\(error) url=\(resource.url.inOneLine)
            """
    }
}
