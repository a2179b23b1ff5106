internal import CacheFoundation
internal import CacheStore
internal import Logging

/// Records the outcome of a request: counts it in the store by host and in the cache's meters, and logs it. Also notes
/// it for the record of requests, if the store keeps one.
extension CacheTransaction {
    /// Begins a record of this request, if the store records requests.
    func recordedRequest() -> RecordedRequest? {
        RecordedRequest(method, key: key, target: target, in: store, clock: configuration.clock)
    }

    /// Records an answer from a stored response without a request to the origin.
    func note(_ answer: Answer) {
        if isOfProgram {
            store.touch(answer.entry, as: answer.isStale ? .stale : .hit)
            if answer.isStale { context.meters.stale.add() } else { context.meters.hits.add() }
        }
        recorded?.note(answer.isStale ? .stale : .hit, status: answer.response.status)
        // Check the option first: copying a logger costs more than the check.
        guard configuration.logOptions.contains(.responses) else { return }
        configuration.log(
            .responses, .debug, "a stored response answers",
            ["url": "\(LoggedURL(url))", "age": "\(answer.age)", "stale": "\(answer.isStale)"])
    }

    /// Whether the request counts. A validation in the background is no request of the program.
    private var isOfProgram: Bool { !isBackground }

    /// Records a stored response that is served in place of a failed origin.
    func noteStaleFallback(_ entry: StoredEntry) {
        if isOfProgram {
            // In the store the request counts once, by its answer. The counters of the cache count the error, too: see
            // `CacheCounters`.
            store.touch(entry, as: .stale)
            context.meters.stale.add()
            context.meters.errors.add()
        }
        recorded?.note(.stale)
        configuration.log(
            .responses, .debug, "a stored response answers in place of the origin", ["url": "\(LoggedURL(url))"])
    }

    /// Records the validation of a stored response. `entry` is `nil` for a response that leaves the store.
    func noteRevalidation(_ entry: StoredEntry?) {
        if isOfProgram {
            if let entry { store.touch(entry, as: .revalidated) }
            context.meters.revalidations.add()
        }
        recorded?.note(.revalidated)
    }

    /// Records an answer of the origin to this request, or to a request whose response it shares.
    func noteMiss(isCoalesced: Bool = false) {
        if isOfProgram {
            store.count(RequestCounts(misses: 1), for: target)
            context.meters.misses.add()
        }
        recorded?.note(isCoalesced ? .coalesced : .miss)
    }

    /// Records an answer of a shared tier to this request.
    func noteTierAnswer() {
        if isOfProgram {
            store.count(RequestCounts(tier: 1), for: target)
            context.meters.tierHits.add()
        }
        recorded?.note(.tier)
    }

    /// Records a request without an answer, or with a 5xx answer: the origin failed, or the request forbids the
    /// network.
    func noteError() {
        if isOfProgram {
            store.count(RequestCounts(errors: 1), for: target)
            context.meters.errors.add()
        }
        recorded?.note(.error)
    }

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
                "method": "\(method.rawValue)", "url": "\(LoggedURL(url))",
                "reason": "\(forwarding.reason.rawValue)",
            ])
    }

    func logReply(_ status: HTTPResponse.Status) {
        configuration.log(
            .responses, .debug, "the origin has answered", ["url": "\(LoggedURL(url))", "status": "\(status.code)"])
        guard status.code >= 400 else { return }
        configuration.log(
            .errors, .info, "the origin has answered with an error",
            ["url": "\(LoggedURL(url))", "status": "\(status.code)"])
    }

    /// Logs a failed request.
    func logFailure(_ error: TransportError) {
        // Log only the code, because the message of the network layer may quote the request.
        configuration.log(
            .errors, .info, "the origin could not be asked", ["url": "\(LoggedURL(url))", "error": "\(error.code)"])
    }
}

/// Notes decisions on replies for the record of requests.
extension CacheTransaction {
    /// Notes the decision on a reply for the record of requests. Costs nothing unless the store records. `isKept` tells
    /// whether the request wants to store a storable reply.
    func note(_ decision: ReplyDecision, on received: Received, isKept: Bool) {
        guard let recorded else { return }
        switch decision.action {
        case .freshen, .update: recorded.noteReply(.freshened, decision.rule)
        case .serveStale: recorded.noteReply(.replaced, decision.rule)
        case .store, .storePart, .complete:
            if !isKept {
                recorded.noteReply(.relayed, .notWanted)
            } else if !fitsIntoStore(received.reply.head) {
                recorded.noteReply(.relayed, .largerThanLimit)
            } else {
                recorded.noteReply(.stored, decision.rule)
            }
        case .relay: recorded.noteReply(.relayed, decision.rule)
        case .retry: break
        }
    }
}

/// Reports steps to the observer.
extension CacheTransaction {
    /// Returns the time at which a step begins. Returns `nil` without an observer, or when `condition` is false.
    func beginStep(if condition: () -> Bool = { true }) -> Date? {
        configuration.observer != nil && condition() ? configuration.clock() : nil
    }

    func endStep(_ beganAt: Date?, _ kind: @autoclosure () -> RequestStep.Kind) {
        guard let beganAt, let observer = configuration.observer else { return }
        observer.observe(
            RequestStep(
                kind: kind(), method: method, url: url, beganAt: beganAt, endedAt: configuration.clock()))
    }

    /// Decides whether to answer from the store or to forward.
    func decide(_ reading: BodyReading = .unlimited) throws(LoadError) -> Step {
        guard let beganAt = beginStep() else { return try decideUnobserved(reading) }
        let step: Step
        do throws(LoadError) {
            step = try decideUnobserved(reading)
        } catch {
            endStep(beganAt, .lookup(isHit: false))
            throw error
        }
        switch step {
        case .answer: endStep(beganAt, .lookup(isHit: true))
        case .forward: endStep(beganAt, .lookup(isHit: false))
        // Another decision follows.
        case .deferred: break
        }
        return step
    }

    /// Returns how the store keeps a body, and reports the commit.
    func observed(_ storing: SharedBody.Storing) -> SharedBody.Storing {
        guard configuration.observer != nil else { return storing }
        var observed = storing
        observed.commit = { [self] (writer, part) async throws(StoreError) in
            let beganAt = beginStep()
            var isStored = false
            defer { endStep(beganAt, .commit(isStored: isStored)) }
            let outcome = try await storing.commit(writer, part)
            if case .stored = outcome { isStored = true }
            return outcome
        }
        return observed
    }
}

extension CacheTransaction.Forwarding {
    /// Whether the origin is asked because no stored response can answer.
    fileprivate var isMiss: Bool {
        switch reason {
        case .uriMiss, .varyMiss, .miss, .stale, .partial: true
        case .bypass, .method, .request: false
        }
    }
}
