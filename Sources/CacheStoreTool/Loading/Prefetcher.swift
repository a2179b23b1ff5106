import CacheLoader
import CacheReports

/// Loads the URLs of a list, several at a time.
struct Prefetcher: Sendable {
    private let file: InputFile
    private let loader: ResourceLoader
    private let batch: LoadBatch
    private let line: ProgressLine
    private let request: @Sendable (String) -> ResourceRequest

    init(
        _ file: InputFile, _ loader: ResourceLoader, _ batch: LoadBatch, _ line: ProgressLine,
        request: @escaping @Sendable (String) -> ResourceRequest
    ) {
        self.file = file
        self.loader = loader
        self.batch = batch
        self.line = line
        self.request = request
    }

    /// Returns after all loads have ended. Cancelling the task ends the loads at once.
    ///
    /// - Parameter count: The most loads in progress.
    /// - Throws: ``Failure`` if the list cannot be read.
    func run(atOnce count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var list = URLList(file)
            var underWay = 0
            while let entry = try await list.next(), !Task.isCancelled {
                if underWay < count { underWay += 1 } else { _ = try await group.next() }
                group.addTask { await load(entry) }
            }
            try await group.waitForAll()
        }
    }

    private func load(_ entry: URLListLine) async {
        switch entry.content {
        case .blank: return
        case .malformed(let reason): fail("\(place(of: entry)): \(reason)")
        case .url(let url): await load(url, entry)
        }
    }

    private func load(_ url: String, _ entry: URLListLine) async {
        let request = request(url)
        do throws(LoadError) {
            if try loader.isAnsweredFromStore(request) { return batch.note(.fresh) }
            let resource = try await loader.load(request)
            if let failure = resource.failure { throw failure }
            batch.note(LoadTally.Outcome(resource.source))
        } catch {
            switch error {
            case .cancelled: return
            case .invalidURL: fail("\(place(of: entry)): \(error)")
            case .store: fail("\(url): \(error)")
            default: fail(error.words)
            }
        }
    }

    private func place(of entry: URLListLine) -> String { "\(file.path):\(entry.number)" }

    private func fail(_ message: String) {
        batch.note(.failed)
        line.interrupt { StandardError.say(message) }
    }
}

/// The summary of a prefetch, as text and as JSON.
struct PrefetchSummary {
    private let tally: LoadTally
    /// The bytes of bodies from the network.
    private let byteCount: Int64
    private let seconds: Double
    private let isInterrupted: Bool
    /// `nil` without a tier.
    private let tier: TierCounts?

    init(_ batch: LoadBatch, isInterrupted: Bool, tier: TierCounts?) {
        tally = batch.tally
        byteCount = batch.byteCount
        seconds = (batch.elapsed / .milliseconds(1)).rounded() / 1000
        self.isInterrupted = isInterrupted
        self.tier = tier
    }

    /// The numbers without those of an absent tier.
    var json: JSON {
        .object(omittingNulls: [
            "urls": .integer(tally.completed), "network": .integer(tally.network), "fresh": .integer(tally.fresh),
            "revalidated": .integer(tally.revalidated), "failed": .integer(tally.failed),
            "bytes": .integer(byteCount), "seconds": .number(seconds), "interrupted": .bool(isInterrupted),
            "tier": tier?.json ?? .null,
        ])
    }

    var text: String {
        """
        \(tally.completed.of("URL", "URLs")) in \(seconds.oneDecimal) s: \(tally.network) from the network, \
        \(tally.fresh) fresh in the store, \(tally.revalidated) revalidated, \(tally.failed) failed; \
        \(byteCount.asByteCount) received\(isInterrupted ? "; interrupted" : "")\(tier.map { "\n\($0.text)" } ?? "")
        """
    }
}
