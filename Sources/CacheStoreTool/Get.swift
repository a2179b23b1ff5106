import ArgumentParser
import CacheLoader
import CacheStore
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
            origin sends a strong validator.
            """)

    @Argument(help: ArgumentHelp("What to load: absolute http or https URLs.", valueName: "url"))
    var urls: [String]

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the body to a file instead, which appears only once it is complete; - is the standard output.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Option(help: "The lane: six transfers at a time when urgent, one in the background.")
    var lane = LaneArgument.urgent

    @Option(
        help: ArgumentHelp(
            "Try so many times more what failed for a reason that may pass: no connection, or a status such as 503.",
            valueName: "number"))
    var retry = RetryCount(0)

    @Flag(name: .shortAndLong, help: "Say on the standard error where each body came from.")
    var verbose = false

    @OptionGroup var loading: LoadOptions
    @OptionGroup var store: StoreOptions

    func validate() throws {
        if urls.count > 1, output != nil, output != "-" {
            throw ValidationError("-o takes the body of one URL; there are \(urls.count)")
        }
    }

    func run() async throws {
        let worst = try await store.withStore { store in
            urls.count == 1 ? try await loadOne(urls[0], store) : try await loadAll(store)
        }
        if let worst { throw ExitCode(worst.rawValue) }
    }

    /// - Returns: The kind of the failure; `nil` after a success.
    private func loadOne(_ url: String, _ store: ResponseStore) async throws -> Failure.Kind? {
        let line = ProgressLine()
        let loader = try loading.loader(store, lane: lane, retry: retry) { ProgressTransport($0, line) }
        // The signals end the process again while it writes: a reader may block the write for as long as it likes.
        let (result, signal) = try await Interruption.cancelling { [self] in
            let result = try await line.show { await load(url, through: loader) }
            // Ends the bodies of background revalidations, too. Their parts are stored.
            if Task.isCancelled { loader.cancelAll() }
            await loader.waitForBodies()
            return result
        }
        if let signal { throw signal.exitCode }
        return try finish(result)
    }

    /// Loads enough URLs at a time to keep the lane busy. Delivers the bodies in the order of the URLs.
    ///
    /// - Returns: The worst kind of failure; `nil` if all loads succeeded.
    private func loadAll(_ store: ResponseStore) async throws -> Failure.Kind? {
        // A progress line would erase the end of a body on the same terminal.
        let line = ProgressLine(isWanted: isatty(STDOUT_FILENO) == 0)
        let batch = LoadBatch(total: urls.count)
        let loader = try loading.loader(store, lane: lane, retry: retry) { MeteredTransport($0, batch) }
        let (worst, signal) = try await Interruption.cancelling(after: batch.stop) { [self] in
            let worst: Failure.Kind?
            do {
                worst = try await loadAll(through: loader, batch, line)
            } catch {
                loader.cancelAll()
                await loader.waitForBodies()
                throw error
            }
            if Task.isCancelled { loader.cancelAll() }
            await loader.waitForBodies()
            return worst
        }
        if let signal { throw signal.exitCode }
        return worst
    }

    private func loadAll(
        through loader: ResourceLoader, _ batch: LoadBatch, _ line: ProgressLine
    ) async throws -> Failure.Kind? {
        // Limits the number of bodies in memory that wait for the body of an earlier URL.
        let window = 2 * loading.width(of: lane)
        return try await line.show {
            batch.progressText()
        } during: {
            try await withThrowingTaskGroup(of: (Int, Result<Loaded<Data>, any Error>).self) { group in
                var worst: Failure.Kind?
                var arrived: [Int: Result<Loaded<Data>, any Error>] = [:]
                var begun = 0
                for number in urls.indices {
                    while begun < min(urls.count, number + window) {
                        let next = begun
                        begun += 1
                        group.addTask { (next, await load(urls[next], through: loader)) }
                    }
                    while arrived[number] == nil, let (other, result) = try await group.next() {
                        arrived[other] = result
                        batch.note(LoadTally.Outcome(result))
                    }
                    guard let result = arrived.removeValue(forKey: number) else { break }
                    try line.interrupt {
                        if let kind = try finish(result) { worst = max(worst ?? kind, kind) }
                    }
                }
                return worst
            }
        }
    }

    private func load(_ url: String, through loader: ResourceLoader) async -> Result<Loaded<Data>, any Error> {
        do {
            return .success(try await loader.load(loading.request(try URLArgument(url).text, lane: lane)))
        } catch {
            return .failure(error)
        }
    }

    /// Delivers a loaded body, or reports the failure.
    ///
    /// - Throws: An error that ends the whole command.
    private func finish(_ result: Result<Loaded<Data>, any Error>) throws -> Failure.Kind? {
        do {
            let resource = try result.get()
            if !Task.isCancelled { try deliver(resource) }
            return nil
        } catch let error as StandardOutput.ReaderIsGone {
            throw error
        } catch LoadError.cancelled {
            // A signal has ended the command.
            return nil
        } catch {
            let failure = Failure(error)
            failure.report()
            return failure.kind
        }
    }

    private func deliver(_ resource: Loaded<Data>) throws {
        if verbose { StandardError.write("\(provenance(of: resource))\n") }
        if let output, output != "-" {
            try OutputFile(path: output).write(resource.data)
        } else {
            try StandardOutput.write(resource.data)
        }
    }

    /// Returns one line of `name=value` pairs, the URL last.
    private func provenance(of resource: Loaded<Data>) -> String {
        let digest = ContentDigest(of: resource.data)
        let expires = resource.expiresAt?.formatted(.iso8601) ?? "-"
        return """
            source=\(resource.source.rawValue) status=\(resource.status.code) bytes=\(resource.data.count) \
            sha256=\(digest) age=\(resource.age) expires=\(expires) url=\(resource.url.inOneLine)
            """
    }
}

extension LoadTally.Outcome {
    fileprivate init(_ result: Result<Loaded<Data>, any Error>) {
        switch result {
        case .success(let resource): self.init(resource.source)
        case .failure: self = .failed
        }
    }
}
