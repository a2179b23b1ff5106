internal import CacheFoundation
internal import CacheLoader
internal import Synchronization

/// Counts the work of a tier, and reports steps to the observer.
extension SharedTier {
    /// Changes the state. After the lock is released, adds the increased counts to the metrics.
    @discardableResult
    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        guard let meters else { return state.withLock { body(&$0) } }
        let (value, before, after) = state.withLock { state in
            let before = (statistics: state.statistics, isOpen: state.breaker.isOpen)
            let value = body(&state)
            return (value, before, (statistics: state.statistics, isOpen: state.breaker.isOpen))
        }
        meters.add(after.statistics, since: before.statistics)
        if after.isOpen != before.isOpen { meters.breakerChanged(isOpen: after.isOpen) }
        return value
    }

    func count(_ change: (inout TierStatistics) -> Void) {
        self.change { change(&$0.statistics) }
    }

    /// Returns the time at which a step begins, or `nil` without an observer.
    func beginStep() -> Date? {
        configuration.observer == nil ? nil : configuration.clock()
    }

    func endStep(_ beganAt: Date?, _ result: RequestStep.UpstreamResult, of request: HTTPRequest) {
        guard let beganAt, let observer = configuration.observer else { return }
        observer.observe(
            RequestStep(
                kind: .upstreamLookup(result, name: configuration.name), method: request.method,
                url: request.urlWithoutUser,
                beganAt: beganAt, endedAt: configuration.clock()))
    }
}

extension HTTPRequest {
    /// The absolute URL without user and password.
    fileprivate var urlWithoutUser: String {
        var copy = self
        copy.authority = authority?.split(separator: "@").last.map { String($0) }
        return copy.url
    }
}
