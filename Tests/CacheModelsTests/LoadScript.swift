import CacheModels
import TestSupport

/// Loads of numbers that a test begins, feeds and ends.
final class LoadScript: Sendable {
    private struct Guarded {
        var loads: [(url: String, events: AsyncStream<LoadEvent<Int>>.Continuation)] = []
        var stopped: Set<Int> = []
        var values: [String: Int] = [:]
    }

    private let guarded = Mutex(Guarded())

    /// Signals memory pressure to the model of a test.
    let pressure = MemoryPressureSource()

    /// The values that are available synchronously, by URL.
    var values: [String: Int] {
        get { guarded.withLock { $0.values } }
        set { guarded.withLock { $0.values = newValue } }
    }

    /// The URLs of the started loads, in order.
    var begun: [String] { guarded.withLock { $0.loads.map(\.url) } }

    /// Returns once the last reader of a load's events has left, which must be certain to happen. Loads count from 0.
    func hasStopped(_ load: Int) async { await eventually { stopped.contains(load) } }

    /// The abandoned loads.
    var stopped: Set<Int> { guarded.withLock { $0.stopped } }

    func begin(_ request: ResourceRequest) -> AsyncStream<LoadEvent<Int>> {
        let (stream, continuation) = AsyncStream<LoadEvent<Int>>.makeStream()
        let number = guarded.withLock { guarded in
            guarded.loads.append((request.url, continuation))
            return guarded.loads.count - 1
        }
        continuation.onTermination = { [weak self] termination in
            guard case .cancelled = termination else { return }
            self?.guarded.withLock { _ = $0.stopped.insert(number) }
        }
        return stream
    }

    func now(_ request: ResourceRequest) -> Loaded<Int>? { values[request.url].map { Loaded($0, of: request.url) } }

    /// Sends an event to a load, by default the latest. After an end, events are ignored.
    func tell(_ event: LoadEvent<Int>, of load: Int? = nil) {
        let events = guarded.withLock { $0.loads[load ?? $0.loads.count - 1].events }
        events.yield(event)
        if event.isLast { events.finish() }
    }
}

extension ResourceState {
    /// Returns the state with its value transformed.
    func map<Other>(_ transform: (Value) -> Other) -> ResourceState<Other> {
        switch self {
        case .idle: .idle
        case .loading(let prior): .loading(prior: prior.map(transform))
        case .loaded(let value): .loaded(transform(value))
        case .failed(let error, let prior): .failed(error, prior: prior.map(transform))
        case .cancelled(let prior): .cancelled(prior: prior.map(transform))
        case .released: .released
        }
    }

    /// Whether the transition to `next` is valid.
    func mayBecome(_ next: Self) -> Bool {
        switch (self, next) {
        // A bind of another request, or of `nil`.
        case (_, .loading(nil)), (_, .idle): true
        case (.idle, _): false
        case (.loading, .loading), (.loading, .loaded), (.loading, .failed), (.loading, .cancelled): true
        case (.loaded, .loading), (.failed, .loading), (.cancelled, .loading): true
        case (_, .released): value != nil
        default: false
        }
    }
}

extension ObservedResource {
    /// Binds a request for a URL with the defaults.
    func bind(_ url: String) { bind(ResourceRequest(url)) }

    /// Returns once the state satisfies the condition, which must be certain to happen.
    func settled(_ isWanted: (ResourceState<Loaded<Output>>) -> Bool) async { await eventually { isWanted(state) } }

    /// Returns once no load runs, which must be certain to happen.
    func settled() async { await settled { !$0.isLoading } }
}

extension ResourceState {
    /// The state without the fields and the body of the origin's response.
    var brief: ResourceState {
        guard case .failed(let error, let prior) = self else { return self }
        return .failed(error.brief, prior: prior)
    }
}
