internal import CacheFoundation
internal import CacheStore
internal import Synchronization

/// A load that an observer follows.
struct ObservedLoad: Sendable {
    /// Has the task-local values of the first waiter.
    let scope: RequestScope
    /// The time at which the load was queued, or `nil` once its turn has come.
    var queuedAt: Date?

    /// Keeps the task-local values of the calling task. Returns `nil` without an observer. Must be called without a
    /// lock.
    init?(_ load: Load) {
        guard let observer = load.configuration.observer else { return nil }
        scope = observer.makeScope()
        queuedAt = load.configuration.clock()
    }
}

extension LoadTable.Action {
    func isStart(of id: LoadTable.ID) -> Bool {
        if case .start(id, _, _) = self { true } else { false }
    }
}

extension Load {
    /// Reports a step to the observer, if there is one.
    func report(_ kind: RequestStep.Kind, since beganAt: Date?) {
        guard let beganAt, let observer = configuration.observer else { return }
        observer.observe(
            RequestStep(
                kind: kind, method: method, url: target.url.text, beganAt: beganAt, endedAt: configuration.clock()))
    }
}

extension ResourceLoader {
    /// Starts a task with the task-local values of a scope. The current task may belong to another load.
    func task(_ scope: RequestScope?, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        guard let scope else { return Task { await work() } }
        return Task { await scope(work) }
    }

    /// Reports the wait of a load for its first turn.
    func endWaitForTurn(_ id: UInt64, _ load: Load) {
        guard load.configuration.observer != nil else { return }
        load.report(.wait(.lane), since: loads.withLock { $0[id].observed?.queuedAt.take() })
    }
}
