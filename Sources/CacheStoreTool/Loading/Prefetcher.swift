import CacheLoader
import CacheReports
import CacheStore

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
            if try loader.isAnsweredFromStore(request) { return batch.note(.hit) }
            let resource = try await loader.load(request)
            if let failure = resource.failure { throw failure }
            batch.note(resource.source.outcome)
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
        batch.note(.error)
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
        let counts = batch.counts
        return .object(omittingNulls: [
            "urls": .integer(counts.completed), "network": .integer(counts.misses), "from_tier": .integer(counts.tier),
            "fresh": .integer(counts.hits), "revalidated": .integer(counts.revalidated),
            "failed": .integer(counts.errors),
            "bytes": .integer(batch.byteCount), "seconds": .number(seconds), "interrupted": .bool(isInterrupted),
            "tier": tier?.json ?? .null,
        ])
    }

    var text: String {
        let counts = batch.counts
        let fromTier = tier == nil ? "" : "\(counts.tier) from the tier, "
        return """
            \(counts.completed.of("URL", "URLs")) in \(seconds.oneDecimal) s: \(counts.misses) from the network, \
            \(fromTier)\(counts.hits) fresh in the store, \(counts.revalidated) revalidated, \(counts.errors) failed; \
            \(batch.byteCount.asByteCount) received\(isInterrupted ? "; interrupted" : "")\(tier.map { "\n\($0.text)" } ?? "")
            """
    }
}
