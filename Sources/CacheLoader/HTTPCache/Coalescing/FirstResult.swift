internal import Synchronization

/// The first of several results, and the task that waits for it.
package final class FirstResult<Value: Sendable>: Sendable {
    private enum State {
        case waiting(CheckedContinuation<Value, Never>?)
        case finished(Value)
    }

    /// Guards the result and the waiting task, which resumes outside the lock.
    private let state = Mutex(State.waiting(nil))

    package init() {}

    /// Sets the result unless one is set already. Returns whether this call set it.
    @discardableResult
    package func finish(_ value: Value) -> Bool {
        let (isFirst, caller) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            guard case .waiting(let caller) = state else { return (false, nil) }
            state = .finished(value)
            return (true, caller)
        }
        caller?.resume(returning: value)
        return isFirst
    }

    /// Returns the result. Only one task may wait for it; any number of tasks may call this once there is a result.
    package func value() async -> Value {
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
