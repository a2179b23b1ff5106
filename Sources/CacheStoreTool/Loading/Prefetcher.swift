import CacheLoader
import CacheReports

/// Loads the URLs of a list, several concurrently.
struct Prefetcher: Sendable {
    let file: InputFile
    let loader: ResourceLoader
    let batch: LoadBatch
    let line: ProgressLine
    let request: @Sendable (String) -> ResourceRequest

    /// Returns after all loads have ended, of which at most `count` are concurrent. Cancelling the task cancels the
    /// loads immediately. Throws ``Failure`` for an unreadable list.
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
    let batch: LoadBatch
    let isInterrupted: Bool
    /// The counts of the tier, if any.
    let tier: TierCounts?

    private var seconds: Double { (batch.elapsed / .milliseconds(1)).rounded() / 1000 }

    /// The counts. Omits those of an absent tier.
    var json: JSON {
        let tally = batch.tally
        return .object(omittingNulls: [
            "urls": .integer(tally.completed), "network": .integer(tally.network), "from_tier": .integer(tally.tier),
            "fresh": .integer(tally.fresh), "revalidated": .integer(tally.revalidated),
            "failed": .integer(tally.failed),
            "bytes": .integer(batch.byteCount), "seconds": .number(seconds), "interrupted": .bool(isInterrupted),
            "tier": tier?.json ?? .null,
        ])
    }

    var text: String {
        let tally = batch.tally
        let fromTier = tier == nil ? "" : "\(tally.tier) from the tier, "
        return """
            \(tally.completed.of("URL", "URLs")) in \(seconds.oneDecimal) s: \(tally.network) from the network, \
            \(fromTier)\(tally.fresh) fresh in the store, \(tally.revalidated) revalidated, \(tally.failed) failed; \
            \(batch.byteCount.asByteCount) received\(isInterrupted ? "; interrupted" : "")\(tier.map { "\n\($0.text)" } ?? "")
            """
    }
}
