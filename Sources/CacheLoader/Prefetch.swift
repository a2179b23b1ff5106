internal import CacheStore
internal import Synchronization

extension ResourceLoader {
    /// Loads requests ahead of demand, in the background lane. Skips requests that fresh stored responses answer.
    ///
    /// Takes the requests one by one, and runs at most 64 at a time, so that a long sequence takes little memory.
    /// Ignores the lane and the abandonment of each request, and uses ``Lane/background`` and
    /// ``Abandonment/finishAndStore``.
    ///
    /// - Parameters:
    ///   - requests: The requests, in their order.
    ///   - conditions: The network conditions in which no transfer of the prefetch begins, in addition to
    ///     ``Configuration/heldBack`` for the background lane. Another load of the same resource does not wait: its
    ///     transfer begins, and also serves the prefetch.
    public func prefetch(
        _ requests: some Sequence<ResourceRequest> & Sendable, heldBackBy conditions: NetworkConditions = []
    ) -> Prefetch {
        let prefetch = Prefetch()
        prefetch.begin(Task { await self.prefetch(requests, conditions, for: prefetch) })
        return prefetch
    }

    private func prefetch(
        _ requests: some Sequence<ResourceRequest> & Sendable, _ conditions: NetworkConditions, for prefetch: Prefetch
    ) async {
        await withTaskGroup(of: Prefetch.Outcome.self) { group in
            var underWay = 0
            for request in requests {
                if underWay < Prefetch.width {
                    underWay += 1
                } else if let outcome = await group.next() {
                    prefetch.note(outcome)
                }
                let isAdded = group.addTaskUnlessCancelled { await self.prefetch(request, conditions) }
                guard isAdded else { break }
            }
            for await outcome in group { prefetch.note(outcome) }
        }
        prefetch.end()
    }

    private func prefetch(_ request: ResourceRequest, _ conditions: NetworkConditions) async -> Prefetch.Outcome {
        var request = request
        request.lane = .background
        request.abandonment = .finishAndStore
        context.meters.requests.add()
        do throws(LoadError) {
            let load = try load(for: request)
            if Task.isCancelled { throw .cancelled }
            if isAnsweredFromStore(load) { return .hit }
            let failure =
                if let fallback = try await loadWhileBlocked(load, .nothing) { fallback.failure } else {
                    try await join(load, request, .nothing, as: Void.self, heldBackBy: conditions).failure
                }
            return failure.map(Prefetch.Outcome.failed) ?? .loaded
        } catch {
            return error == .cancelled ? .cancelled : .failed(error)
        }
    }

    /// Returns whether the store answers a request without asking its origin. Records no access. Throws
    /// ``LoadError/invalidURL(_:reason:)`` or ``LoadError/invalidKey(_:reason:)``.
    package func isAnsweredFromStore(_ request: ResourceRequest) throws(LoadError) -> Bool {
        isAnsweredFromStore(try load(for: request))
    }
}

/// A series of loads ahead of demand.
public final class Prefetch: Sendable {
    /// The progress of a prefetch, in numbers of requests.
    public struct Progress: Hashable, Sendable {
        /// Requests that fresh stored responses answer.
        public internal(set) var hits = 0
        /// Requests that were loaded or validated.
        public internal(set) var loaded = 0
        /// Requests that failed, including those that a stale response answered.
        public internal(set) var failed = 0
        /// Requests that were cancelled after they began.
        public internal(set) var cancelled = 0
        /// The latest failure.
        public internal(set) var latestFailure: LoadError?

        /// All requests that have ended.
        public var completed: Int { hits + loaded + failed + cancelled }
    }

    enum Outcome {
        case hit
        case loaded
        case failed(LoadError)
        case cancelled
    }

    /// The maximum number of requests in progress or waiting in the lane.
    static let width = 64

    private struct State {
        var progress = Progress()
        var task: Task<Void, Never>?
    }

    /// Guards the progress and the task.
    private let state = Mutex(State())

    /// The progress after each request that ends. The stream ends with the prefetch. It has one reader; a slow reader
    /// gets only the latest element.
    public let updates: AsyncStream<Progress>
    private let continuation: AsyncStream<Progress>.Continuation

    init() {
        (updates, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The current progress.
    public var progress: Progress { state.withLock { $0.progress } }

    /// Starts no more loads. Running transfers continue, and their responses are stored.
    public func cancel() {
        state.withLock { $0.task }?.cancel()
    }

    /// Returns after the end of the prefetch. Cancelling the calling task changes nothing.
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
