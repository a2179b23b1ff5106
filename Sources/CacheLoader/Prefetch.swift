internal import HTTPCaching
internal import Synchronization

extension ResourceLoader {
    /// Loads requests that somebody may want later, in the background lane: what is fresh in the store is left alone.
    ///
    /// Requests are taken one after the other, a few dozen at a time, so that their number takes no memory. The lane and
    /// what becomes of a transfer that is cancelled are not those of the requests: ``Lane/background`` and
    /// ``Abandonment/finishAndStore``.
    ///
    /// - Returns: What tells how far it is, and cancels it. To let go of it does not.
    public func prefetch(_ requests: some Sequence<ResourceRequest> & Sendable) -> Prefetch {
        let prefetch = Prefetch()
        prefetch.begin(Task { await self.prefetch(requests, for: prefetch) })
        return prefetch
    }

    private func prefetch(_ requests: some Sequence<ResourceRequest> & Sendable, for prefetch: Prefetch) async {
        await withTaskGroup(of: Prefetch.Outcome.self) { group in
            var underWay = 0
            for request in requests {
                if underWay < Prefetch.width {
                    underWay += 1
                } else if let outcome = await group.next() {
                    prefetch.note(outcome)
                }
                guard group.addTaskUnlessCancelled(operation: { await self.prefetch(request) }) else { break }
            }
            for await outcome in group { prefetch.note(outcome) }
        }
        prefetch.end()
    }

    private func prefetch(_ request: ResourceRequest) async -> Prefetch.Outcome {
        var request = request
        request.lane = .background
        request.abandonment = .finishAndStore
        do throws(LoadError) {
            let load = try load(for: request)
            if Task.isCancelled { throw .cancelled }
            if isAnsweredFromStore(load) { return .hit }
            let failure =
                if let fallback = try await loadWhileBlocked(load, .nothing) { fallback.failure } else {
                    try await join(load, request, .nothing, as: Void.self).failure
                }
            return failure.map(Prefetch.Outcome.failed) ?? .loaded
        } catch {
            return error == .cancelled ? .cancelled : .failed(error)
        }
    }

    /// Whether a request would be answered from the store, without asking its origin. No use of what is stored.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    package func isAnsweredFromStore(_ request: ResourceRequest) throws(LoadError) -> Bool {
        isAnsweredFromStore(try load(for: request))
    }
}

/// Loads that were begun ahead of demand.
public final class Prefetch: Sendable {
    /// How far a prefetch has come. Each count is of requests.
    public struct Progress: Hashable, Sendable {
        /// Those that were fresh in the store.
        public internal(set) var hits = 0
        /// Those that were loaded, or found unchanged.
        public internal(set) var loaded = 0
        /// Those that could not be loaded.
        public internal(set) var failed = 0
        /// Those that were cancelled after they had begun.
        public internal(set) var cancelled = 0
        /// The latest failure.
        public internal(set) var latestFailure: LoadError?

        /// All that have come to an end.
        public var completed: Int { hits + loaded + failed + cancelled }
    }

    enum Outcome {
        case hit
        case loaded
        case failed(LoadError)
        case cancelled
    }

    /// Requests that are under way or wait in the lane.
    static let width = 64

    private struct State {
        var progress = Progress()
        var task: Task<Void, Never>?
    }

    /// Guards how far it is.
    private let state = Mutex(State())

    /// How far it is, each time one more has come to its end; ends with the prefetch. For one reader, who is told the latest
    /// if it has missed some.
    public let updates: AsyncStream<Progress>
    private let continuation: AsyncStream<Progress>.Continuation

    init() {
        (updates, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How far it is.
    public var progress: Progress { state.withLock { $0.progress } }

    /// Begins no more loads. Those under way go on, and are stored.
    public func cancel() {
        state.withLock { $0.task }?.cancel()
    }

    /// Returns when it is over. Cancelling the calling task changes nothing.
    @discardableResult
    public func finished() async -> Progress {
        await state.withLock { $0.task }?.value
        return progress
    }

    func begin(_ task: Task<Void, Never>) {
        state.withLock { $0.task = task }
    }

    func note(_ outcome: Outcome) {
        let progress = state.withLock { state in
            switch outcome {
            case .hit: state.progress.hits += 1
            case .loaded: state.progress.loaded += 1
            case .cancelled: state.progress.cancelled += 1
            case .failed(let error):
                state.progress.failed += 1
                state.progress.latestFailure = error
            }
            return state.progress
        }
        continuation.yield(progress)
    }

    func end() {
        continuation.finish()
    }
}
