internal import CacheLoader
internal import Synchronization

/// Stops reading a body when no data arrives for a given time.
final class IdleTimer: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        /// Identifies the current task. A task whose sleep has just ended may already be replaced.
        var number = 0
        var hasExpired = false
    }

    private let limit: Duration?
    private let url: String
    private let sleep: @Sendable (Duration) async throws -> Void
    private let expire: @Sendable () -> Void

    /// Guards the waiting task and the result of the timer.
    private let state = Mutex(State())

    /// `limit` is the longest time without progress. `expire` stops the reading, which then throws, once, on any
    /// thread.
    init(
        limit: Duration?, url: String, _ sleep: @escaping @Sendable (Duration) async throws -> Void,
        expire: @escaping @Sendable () -> Void
    ) {
        self.limit = limit
        self.url = url
        self.sleep = sleep
        self.expire = expire
    }

    deinit {
        state.withLock { $0.task }?.cancel()
    }

    /// Reads with the timer running. After a timeout, throws its error instead of the error of the stopped read.
    func limiting<Value>(
        _ read: () async throws(LoadError) -> Value
    ) async throws(LoadError) -> Value {
        restart()
        defer { stop() }
        do throws(LoadError) {
            return try await read()
        } catch {
            guard let limit, state.withLock({ $0.hasExpired }) else { throw error }
            throw .transport(TransportError(.timedOut, message: "nothing arrived for \(limit)"), url: url)
        }
    }

    func restart() {
        guard let limit else { return }
        replace { [sleep, weak self] number in
            Task {
                guard (try? await sleep(limit)) != nil else { return }
                self?.end(number)
            }
        }
    }

    private func stop() {
        if limit != nil { replace { _ in nil } }
    }

    private func replace(with make: (Int) -> Task<Void, Never>?) {
        let former = state.withLock { state in
            state.number += 1
            let former = state.task
            state.task = make(state.number)
            return former
        }
        former?.cancel()
    }

    private func end(_ number: Int) {
        let isCurrent = state.withLock { state in
            if state.number == number { state.hasExpired = true }
            return state.number == number
        }
        if isCurrent { expire() }
    }
}
