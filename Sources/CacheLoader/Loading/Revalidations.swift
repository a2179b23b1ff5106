internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// Which stored responses are being validated behind the back of whoever was answered with them, and which had better not
/// be for a while (RFC 5861 §3, §5).
///
/// One revalidation for each key at a time. A failed one is not tried again at once: the pause begins with a second,
/// doubles with each failure, and ends with a success.
final class Revalidations: Sendable {
    private struct Failures {
        var count = 0
        var lastAt: HTTPDate
    }

    private struct State {
        var running: Set<CacheKey> = []
        var failures: [CacheKey: Failures] = [:]
    }

    /// The longest pause in seconds.
    static let maxPause: Int64 = 300

    /// Keys whose failures are remembered.
    static let capacity = 1024

    /// Guards what is running and what has failed.
    private let state = Mutex(State())

    /// Whether any is on its way.
    var isRunning: Bool { state.withLock { !$0.running.isEmpty } }

    /// Whether the caller is to revalidate `key`; then it says with ``end(_:succeeded:at:)`` how that went.
    func begin(_ key: CacheKey, at now: HTTPDate) -> Bool {
        state.withLock { state in
            if let failures = state.failures[key] {
                let pause = min(Self.maxPause, 1 << min(Int64(failures.count) - 1, 16))
                // A clock that was set back ends the pause.
                guard now < failures.lastAt || now.seconds(since: failures.lastAt) >= pause else { return false }
            }
            return state.running.insert(key).inserted
        }
    }

    func end(_ key: CacheKey, succeeded: Bool, at now: HTTPDate) {
        state.withLock { state in
            state.running.remove(key)
            guard !succeeded else { return state.failures[key] = nil }
            let count = (state.failures[key]?.count ?? 0) + 1
            // Forgetting all is as good as forgetting some: each is tried once more.
            if state.failures.count >= Self.capacity { state.failures = [:] }
            state.failures[key] = Failures(count: count, lastAt: now)
        }
    }
}
