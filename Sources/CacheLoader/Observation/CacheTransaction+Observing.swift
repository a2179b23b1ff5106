internal import CacheStore
internal import HTTPTypes
internal import Logging

/// Telling what happens to a request: counted in the store by host, in the meters of the cache, and logged.
extension CacheTransaction {
    /// A stored response answers as it is.
    func note(_ answer: Answer) {
        store.touch(answer.entry, as: answer.isStale ? .stale : .hit)
        if answer.isStale { context.meters.stale.add() } else { context.meters.hits.add() }
        // Asked first: to copy a logger costs more than to ask.
        guard configuration.logOptions.contains(.responses) else { return }
        configuration.log(
            .responses, .debug, "a stored response answers",
            ["url": "\(LoggedURL(url))", "age": "\(answer.age)", "stale": "\(answer.isStale)"])
    }

    /// A stored response answers in place of its origin, which has failed.
    func noteStandIn(_ entry: StoredEntry) {
        store.touch(entry, as: .stale)
        context.meters.stale.add()
        configuration.log(
            .responses, .debug, "a stored response stands in for the origin", ["url": "\(LoggedURL(url))"])
    }

    /// The origin has confirmed a stored response; `nil` for one that does not stay.
    func noteRevalidation(_ entry: StoredEntry?) {
        if let entry { store.touch(entry, as: .revalidated) }
        context.meters.revalidations.add()
    }

    /// The origin has answered, for this request or for one that it shares.
    func noteMiss() {
        store.countMiss(for: target)
        context.meters.misses.add()
    }

    /// Counts a request that got an error: from the origin, instead of the origin, or because it forbids the network.
    func noteError() {
        store.countError(for: target)
        context.meters.errors.add()
    }

    /// A request goes to the origin.
    func logForwarding(_ forwarding: Forwarding) {
        guard !configuration.logOptions.isDisjoint(with: [.misses, .requests]) else { return }
        let log = configuration.log
        if forwarding.nominated == nil, forwarding.isMiss {
            log(
                .misses, .debug, "nothing stored answers",
                ["url": "\(LoggedURL(url))", "reason": "\(forwarding.reason.rawValue)"])
        }
        log(
            .requests, .debug, "asking the origin",
            [
                "method": "\(forwarding.request.method.rawValue)", "url": "\(LoggedURL(url))",
                "reason": "\(forwarding.reason.rawValue)",
            ])
    }

    /// The origin has answered.
    func logReply(_ status: HTTPResponse.Status) {
        configuration.log(
            .responses, .debug, "the origin has answered", ["url": "\(LoggedURL(url))", "status": "\(status.code)"])
        guard status.code >= 400 else { return }
        configuration.log(
            .errors, .info, "the origin has answered with an error",
            ["url": "\(LoggedURL(url))", "status": "\(status.code)"])
    }

    /// The origin could not be asked. The message of the error is the network layer's, which may quote what was sent.
    func logFailure(_ error: TransportError) {
        configuration.log(
            .errors, .info, "the origin could not be asked", ["url": "\(LoggedURL(url))", "error": "\(error.code)"])
    }
}

extension CacheTransaction.Forwarding {
    /// Whether it is for want of a stored response that the origin is asked.
    fileprivate var isMiss: Bool {
        switch reason {
        case .uriMiss, .varyMiss, .miss, .stale, .partial: true
        case .bypass, .method, .request: false
        }
    }
}
