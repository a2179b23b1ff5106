import CacheLoader
import CacheStore
import Synchronization

/// The progress of a batch of loads, for the progress line and the summary.
final class LoadBatch: Sendable {
    private struct State {
        var counts = RequestCounts()
        var byteCount: Int64 = 0
        var isStopped = false
    }

    private let start = ContinuousClock.now
    private let total: Int?
    private let loads = WorkMeter("loading", .count("URL", "URLs"))
    private let bytes = WorkMeter("", .bytes)
    /// Guards the counts.
    private let state = Mutex(State())

    /// - Parameter total: The number of loads, or `nil` for an unknown number.
    init(total: Int?) {
        self.total = total
    }

    func note(_ outcome: RequestOutcome) {
        state.withLock { $0.counts.count(outcome) }
    }

    /// Counts received body bytes.
    func received(_ byteCount: Int) {
        state.withLock { $0.byteCount += Int64(byteCount) }
    }

    /// Stops all further requests. Each cancelled load lets the next waiting load start before its own cancellation, so
    /// the transport must reject the requests of those loads.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    var isStopped: Bool { state.withLock { $0.isStopped } }

    var counts: RequestCounts { state.withLock { $0.counts } }

    /// The body bytes from the network.
    var byteCount: Int64 { state.withLock { $0.byteCount } }

    /// The time since the start.
    var elapsed: Duration { ContinuousClock.now - start }

    /// Returns the progress as text. Each call samples the rates, so call it a few times a second.
    func progressText() -> String {
        let (counts, byteCount) = state.withLock { ($0.counts, $0.byteCount) }
        // The list may have grown since it was counted.
        let total = total.map { Int64(max($0, counts.completed)) }
        return loads.text(done: Int64(counts.completed), total: total) + bytes.text(done: byteCount, total: nil)
    }
}

extension RequestCounts {
    /// The number of all requests.
    var completed: Int { Int(requests) }
}

extension ResponseSource {
    /// Whether the loader sent a request to the origin.
    var isFromOrigin: Bool {
        switch self {
        case .network, .notModified, .generated: true
        case .tier, .disk, .memory, .local: false
        }
    }

    /// The outcome of a successful load.
    var outcome: RequestOutcome {
        switch self {
        case .network, .generated: .miss
        case .tier: .tier
        case .notModified: .revalidated
        case .disk, .memory, .local: .hit
        }
    }
}

extension WatchedTransport {
    /// Creates a transport that counts the bytes for a batch. Sends no requests after the batch is stopped.
    init(_ base: any HTTPTransport, countingFor batch: LoadBatch) {
        self.init(base) { _ throws(TransportError) in
            guard !batch.isStopped else { throw TransportError(.cancelled) }
            return { _ in { chunk in if let chunk { batch.received(chunk.count) } } }
        }
    }
}
