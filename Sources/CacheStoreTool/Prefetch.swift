import ArgumentParser
import CacheLoader
import CacheStore
import CacheTier
import Foundation

/// Loads a list of URLs into the store.
struct Prefetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Load a list of URLs into the store, ahead of demand.",
        discussion: """
            The list has one URL a line; empty lines and those that begin with # are passed over. It is read as it is \
            needed, however long it is. What is fresh in the store is left alone, what is stale is validated. One that \
            fails is named on the standard error, does not keep the others, and makes the exit code 1. Ctrl-C ends it \
            early: loaded bodies stay, a later load completes begun ones, and the exit code is 130.
            """)

    @Argument(help: "The list; - reads the standard input.", completion: .file())
    var file: String

    @Option(help: "The lane: six transfers at a time when urgent, one in the background.")
    var lane = Lane.background

    @Option(
        help: ArgumentHelp(
            "Try so many times more, 0 to 100, what failed for a reason that may pass: no connection, or a status such as 503.",
            valueName: "number"))
    var retry = RetryCount(2)

    @OptionGroup var loading: LoadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var report: ReportOptions

    func run() async throws {
        let input = try InputFile(path: file)
        let line = ProgressLine()
        // Counting reads the whole list, so only a progress line justifies it.
        let batch = LoadBatch(total: line.isOnTerminal ? try URLList.count(in: input) : nil)
        let (counts, signal) = try await Interruption.cancelling(after: batch.stop) { [self] in
            try await store.withStore { store in
                // Covers the loads in the lane and the loads that wait for a retry.
                let window = max(64, 4 * loading.width(of: lane))
                return try await loading.withLoader(
                    store, lane: lane, retry: retry, watched: { WatchedTransport($0, countingFor: batch) }
                ) { loader in
                    let prefetcher = Prefetcher(file: input, loader: loader, batch: batch, line: line) { url in
                        loading.request(url, lane: lane)
                    }
                    try await line.show {
                        batch.progressText()
                    } during: {
                        try await prefetcher.run(atOnce: window)
                    }
                }.tier
            }
        }
        let summary = PrefetchSummary(batch: batch, isInterrupted: signal != nil, tier: counts)
        try report.write(summary.json, text: summary.text)
        if let signal { throw signal.exitCode }
        if batch.counts.errors > 0 { throw ExitCode(Failure.Kind.no.rawValue) }
    }
}
