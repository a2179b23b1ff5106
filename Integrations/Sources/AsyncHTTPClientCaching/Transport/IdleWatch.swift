internal import CacheLoader
internal import NIOCore
internal import Synchronization

/// Cancels a wait for an origin after too long without activity.
///
/// Counts only the origin's time. The timer stops while the program produces content or does not read.
final class IdleWatch: Sendable {
    private struct State {
        /// Ends the current wait.
        var abandon: (@Sendable () -> Void)?
        var isMakingContent = false
        var lastActivity = NIODeadline.now()
        var hasExpired = false
        var timer: Scheduled<Void>?
    }

    private let limit: TimeAmount
    private let eventLoop: any EventLoop

    /// Guards the current wait and the time of the last activity. No callback runs under this lock.
    private let state = Mutex(State())

    init(limit: TimeAmount, eventLoop: any EventLoop) {
        self.limit = limit
        self.eventLoop = eventLoop
    }

    /// Returns the result of `operation`. Cancels the operation when the origin is idle for too long, or when this task
    /// is cancelled.
    ///
    /// Permits one wait at a time.
    func result<Value: Sendable>(
        of operation: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        // A separate task, so that the timer can cancel the operation without the caller's task.
        let task = Task { try await operation() }
        begin { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        return end() ? .failure(TransportError(.timedOut, message: "nothing arrived in time")) : result
    }

    /// Records that the program produces content, until ``contentWasMade()``.
    func contentIsMade() {
        state.withLock { $0.isMakingContent = true }
    }

    func contentWasMade() {
        state.withLock { state in
            state.isMakingContent = false
            state.lastActivity = .now()
        }
    }

    private func begin(_ abandon: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.abandon = abandon
            state.lastActivity = .now()
        }
        schedule(in: limit)
    }

    /// Ends the wait and returns whether it exceeded the limit.
    private func end() -> Bool {
        let (timer, hasExpired) = state.withLock { state in
            state.abandon = nil
            return (state.timer.take(), state.hasExpired)
        }
        timer?.cancel()
        return hasExpired
    }

    private func schedule(in delay: TimeAmount) {
        let timer = eventLoop.scheduleTask(in: delay) { [self] in check() }
        let isLate = state.withLock { state in
            guard state.abandon != nil else { return true }
            state.timer = timer
            return false
        }
        if isLate { timer.cancel() }
    }

    private func check() {
        let (abandon, rest) = state.withLock { state -> ((@Sendable () -> Void)?, TimeAmount?) in
            guard let abandon = state.abandon else { return (nil, nil) }
            let idle = NIODeadline.now() - state.lastActivity
            guard state.isMakingContent || idle < limit else {
                state.hasExpired = true
                return (abandon, nil)
            }
            return (nil, state.isMakingContent ? limit : limit - idle)
        }
        abandon?()
        if let rest { schedule(in: rest) }
    }
}
