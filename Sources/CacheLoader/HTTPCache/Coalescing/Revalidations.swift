internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// The background revalidations of a store, and the keys that have to pause after a failure (RFC 5861 §3, §5).
///
/// At most one revalidation runs for each key. The pause after a failure begins with a second and doubles with each
/// failure, or is as long as the origin asks with `Retry-After`. A success ends it.
final class Revalidations: Sendable {
    /// The result of a revalidation.
    enum Outcome: Sendable {
        case succeeded
        /// The origin failed, and may have named a pause.
        case failed(retryAfter: Duration?)
        case cancelled
    }

    private struct Failures {
        var count = 0
        var lastAt: HTTPDate
        /// The pause in seconds.
        var pause: Int64
    }

    private struct State {
        var running: Set<CacheKey> = []
        var failures: [CacheKey: Failures] = [:]
    }

    /// The longest revalidation. A slower one counts as failed.
    static let timeLimit = Duration.seconds(60)

    /// The longest pause in seconds without `Retry-After`.
    static let maxPause: Int64 = 300

    /// The longest pause in seconds that an origin can ask for.
    static let maxRetryAfter: Int64 = 86_400

    /// The number of keys whose failures are remembered.
    static let capacity = 1024

    /// Guards the running keys and the failures.
    private let state = Mutex(State())

    var isRunning: Bool { state.withLock { !$0.running.isEmpty } }

    /// Returns whether the caller has to revalidate `key` now. If so, the caller reports the result with
    /// ``end(_:_:at:)``.
    func begin(_ key: CacheKey, at now: HTTPDate) -> Bool {
        state.withLock { state in
            if let failures = state.failures[key] {
                // A clock that was set back ends the pause.
                guard now < failures.lastAt || now.seconds(since: failures.lastAt) >= failures.pause else {
                    return false
                }
            }
            return state.running.insert(key).inserted
        }
    }

    func end(_ key: CacheKey, _ outcome: Outcome, at now: HTTPDate) {
        state.withLock { state in
            state.running.remove(key)
            switch outcome {
            case .succeeded: state.failures[key] = nil
            case .cancelled: break
            case .failed(let retryAfter):
                let count = (state.failures[key]?.count ?? 0) + 1
                let backoff = min(Self.maxPause, 1 << min(Int64(count) - 1, 16))
                let asked = min(Self.maxRetryAfter, retryAfter?.components.seconds ?? 0)
                // A key without its record is revalidated once more.
                if state.failures.count >= Self.capacity { state.failures = [:] }
                state.failures[key] = Failures(count: count, lastAt: now, pause: max(backoff, asked))
            }
        }
    }
}
