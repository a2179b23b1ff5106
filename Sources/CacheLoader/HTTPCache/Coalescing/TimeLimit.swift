internal import Synchronization

/// Returns the result of `operation`, or `nil` after `limit` or once the calling task is cancelled. Then cancels the
/// operation, but does not wait for it.
package func withTimeLimit<Value: Sendable>(
    _ limit: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void,
    _ operation: @escaping @Sendable () async -> Value
) async -> Value? {
    let first = FirstResult<Value?>()
    let work = Task { first.finish(await operation()) }
    // A sleep that ignores its cancellation must not keep the result.
    let timer = Task { [weak first] in
        guard (try? await sleep(limit)) != nil else { return }
        first?.finish(nil)
    }
    let value = await withTaskCancellationHandler {
        await first.value()
    } onCancel: {
        first.finish(nil)
    }
    // Do not wait for the end of the work: a transport may ignore its cancellation.
    work.cancel()
    timer.cancel()
    return value
}

/// The first of several results, and the task that waits for it.
private final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Value, Never>?)
        case finished(Value)
    }

    /// Guards the result and the waiting task, which resumes outside the lock.
    private let state = Mutex(State.waiting(nil))

    /// Sets the result unless one is set already.
    func finish(_ value: Value) {
        let caller = state.withLock { state -> CheckedContinuation<Value, Never>? in
            guard case .waiting(let caller) = state else { return nil }
            state = .finished(value)
            return caller
        }
        caller?.resume(returning: value)
    }

    /// Returns the result. Only one task may wait for it.
    func value() async -> Value {
        await withCheckedContinuation { caller in
            let value = state.withLock { state -> Value? in
                if case .finished(let value) = state { return value }
                state = .waiting(caller)
                return nil
            }
            if let value { caller.resume(returning: value) }
        }
    }
}
