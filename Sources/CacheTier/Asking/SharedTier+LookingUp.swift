internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Looks up a request in the tier.
extension SharedTier {
    /// A response of the tier that answers the request.
    struct Hit: Sendable {
        let head: HTTPResponse
        let isBodyDecoded: Bool
        let content: Content

        enum Content: Sendable {
            case bytes(Data)
            /// The first chunk has arrived and is verified.
            case object(VerifiedBody, first: Data, Candidate)
        }
    }

    /// The result of a lookup.
    struct Lookup: Sendable {
        var hit: Hit?
        /// Whether the tier has a response, so that a fill need not write it.
        var isPresent = false
        /// A response that the origin may confirm.
        var stale: StaleRecord?
        /// The names of the valid records, also of those that may not answer this request.
        var recordNames: [String] = []
        /// The reason of a miss, for `Cache-Status`.
        var reason = ForwardReason.uriMiss
        /// The names of the epochs, in order.
        var epochNames: [String] = []
        /// The epochs before the origin is asked. While one of them is unknown, nothing is written.
        var epochs: [String]?
        /// The common epoch of all tags before the origin is asked. While it is unknown, nothing with tags is written.
        var commonTagEpoch: String?
        /// The epochs that the engine lacks.
        var missingEpochs: [MissingEpoch] = []
        /// The names that the tier has for `Vary`, joined by line feeds.
        var varyNames: String?
        var hasFailed = false
        /// Whether the engine has answered without a usable response.
        var isMiss = false

        /// The result without the hit, whose body would hold a connection.
        var withoutHit: Lookup {
            var copy = self
            copy.hit = nil
            return copy
        }
    }

    /// Whether the breaker permits asking the engine. Counts a refusal.
    func admits(_ request: HTTPRequest) -> Bool {
        let now = configuration.uptime()
        let isAdmitted = change { state in
            let isAdmitted = state.breaker.admits(at: now)
            if !isAdmitted { state.statistics.skipped += 1 }
            return isAdmitted
        }
        if !isAdmitted { endStep(beginStep(), .skipped, of: request) }
        return isAdmitted
    }

    /// Looks up a response within the deadline. Records the time and the result. The caller counts the request if the
    /// engine has answered. Call after ``admits(_:)``.
    func lookUp(_ request: HTTPRequest) async -> Lookup {
        let (start, beganAt) = (configuration.uptime(), beginStep())
        let wait = BodyWait()
        let result = await withTimeLimit(configuration.deadline, configuration.sleep) { [self] in
            await self.find(request, wait)
        }
        let end = configuration.uptime()
        // A cancellation by the caller says nothing about the engine.
        guard result != nil || !Task.isCancelled else { return Lookup() }
        let answer: RequestStep.UpstreamResult =
            switch result {
            case nil: .timeout
            case let result? where result.hasFailed: .error
            case let result? where result.hit != nil: .hit
            case .some: .miss
            }
        change { state in
            state.plan.noteTier(end - start, isHit: result?.hit != nil)
            // A hit counts when it answers, and a miss when no other lookup follows.
            if answer == .timeout {
                state.statistics.timeouts += 1
                // If the wait for a body was short, the records took the time.
                if let begin = wait.begin, end - begin >= configuration.deadline / 2 {
                    state.bodyBreaker.failed(from: begin, to: end)
                }
            }
            if answer == .error { state.statistics.errors += 1 }
            guard result?.hasFailed == false else { return state.breaker.failed(from: start, to: end) }
            state.breaker.succeeded(from: start)
        }
        endStep(beganAt, answer, of: request)
        guard var lookup = result else { return Lookup(reason: .miss) }
        lookup.isMiss = lookup.hit == nil && !lookup.hasFailed
        return lookup
    }

    /// Counts a miss after the last lookup of a request.
    func countMiss(of lookup: Lookup) {
        if lookup.isMiss { count { $0.misses += 1 } }
    }

    private func find(_ request: HTTPRequest, _ wait: BodyWait) async -> Lookup {
        let url = request.url
        let key = layout.key(of: url)
        let empty = VaryKey(text: "")
        let epochNames = layout.epochs(of: request)
        async let epochs = presentEpochs(epochNames + (mayWrite(request) ? [layout.commonTagEpoch] : []))
        async let names = varyNames(key)
        async let plain = record(layout.response(key, empty))
        var lookup = Lookup()
        lookup.epochNames = epochNames
        var candidates: [Candidate] = []
        switch await names {
        case .failed: lookup.hasFailed = true
        case .absent: break
        case .found(let names):
            lookup.varyNames = names
            if let variant = variant(named: names, request), variant != empty {
                switch await record(layout.response(key, variant)) {
                case .failed: lookup.hasFailed = true
                case .absent: lookup.reason = .varyMiss
                case .found(let candidate): candidates.append(candidate)
                }
            }
        }
        switch await plain {
        case .failed: lookup.hasFailed = true
        case .absent: break
        case .found(let candidate): candidates.append(candidate)
        }
        let read = await epochs
        lookup.epochs = read.values(of: epochNames)
        lookup.commonTagEpoch = read.values[layout.commonTagEpoch]
        lookup.missingEpochs = read.missing
        guard let present = lookup.epochs else {
            lookup.hasFailed = lookup.hasFailed || read.hasFailed
            if !candidates.isEmpty { lookup.reason = .miss }
            return lookup
        }
        // RFC 9111 §4.1: the most recent of several matching responses, by its Date.
        candidates.sort { $0.record.head.response.responseTime > $1.record.head.response.responseTime }
        candidates.removeAll { !$0.record.head.epochs.starts(with: present) }
        let tags = await presentTagEpochs(of: candidates, url)
        lookup.hasFailed = lookup.hasFailed || tags.hasFailed
        candidates.removeAll { candidate in
            let tagNames = tagEpochs(of: candidate, url)
            return tags.values(of: tagNames).map { candidate.record.head.epochs != present + $0 } ?? true
                || isRemovedHere(candidate, epochNames + tagNames)
        }
        lookup.recordNames = candidates.map(\.name)
        for candidate in candidates {
            switch await hit(candidate, request, wait) {
            case .hit(let hit):
                lookup.hit = hit
                lookup.isPresent = true
                // Then a failure of the other object does not matter.
                lookup.hasFailed = false
                return lookup
            case .suspended:
                lookup.isPresent = true
                lookup.reason = .miss
                return lookup
            case .none(let reason):
                if lookup.stale == nil { (lookup.stale, lookup.reason) = (StaleRecord(candidate), reason) }
            }
        }
        return lookup
    }

    /// Returns the key of the variant that `request` selects by the fields with these names, joined by line feeds.
    func variant(named names: String, _ request: HTTPRequest) -> VaryKey? {
        let fields = HTTPFields(names.split(separator: "\n").map { HTTPField(name: .vary, value: String($0)) })
        return VaryKey(
            response: fields, request: request, fingerprint: layout.fingerprint,
            nominatesAuthorization: !configuration.policy.isShared)
    }

    // MARK: Deciding

    private enum Outcome {
        case hit(Hit)
        /// The record may answer, but bodies outside records do not arrive in time at present.
        case suspended
        /// The record may not answer, or its body is missing.
        case none(ForwardReason)
    }

    /// Returns the answer of a candidate.
    private func hit(_ candidate: Candidate, _ request: HTTPRequest, _ wait: BodyWait) async -> Outcome {
        let record = candidate.record
        let response = record.head.response
        let policy = configuration.policy
        let now = record.now(at: candidate.stamp.now, lastModified: candidate.stamp.lastModified)
        let decision = ReuseDecision(
            for: request, candidates: [response], policy: policy, now: now, fingerprint: layout.fingerprint)
        guard case .hit(_, let age, isStale: false) = decision.action else { return .none(decision.forwardReason) }
        let answer = StoredAnswer(
            from: response, to: request, age: age, byteCount: record.head.byteCount, policy: policy,
            boundarySeed: record.head.digest)
        var head = answer.head
        let lifetime = Freshness(of: response, policy: policy).lifetime
        CacheStatus.hit(ttl: lifetime - age).append(to: &head.headerFields, name: configuration.name)
        func hit(_ content: Hit.Content) -> Outcome {
            .hit(Hit(head: head, isBodyDecoded: response.isBodyDecoded, content: content))
        }
        if let body = record.body { return hit(.bytes(Data(answer.bytes(of: Array(body))))) }
        switch answer.content {
        case .none: return hit(.bytes(Data()))
        // For a separate body object, the origin answers range requests.
        case .segments: return .none(.bypass)
        case .whole:
            let start = configuration.uptime()
            guard state.withLock({ $0.bodyBreaker.admits(at: start) }) else { return .suspended }
            wait.begin = start
            let source: TransportBody
            switch await open(layout.body(digest: record.head.digest)) {
            case .found(let object): source = object.body
            case .absent: return .none(.miss)
            case .failed: return bodyFailed(from: start)
            }
            let body = VerifiedBody(source, of: record)
            switch await body.next(within: configuration.deadline, configuration.sleep) {
            case .chunk(let first): return hit(.object(body, first: first, candidate))
            case .complete: return .none(.miss)
            case .unavailable: return bodyFailed(from: start)
            case .damaged:
                // The following fill writes the body and the record again.
                count { $0.refused.damagedBodies += 1 }
                state.withLock { $0.refused[candidate.name] = candidate.record.head.writtenAt }
                return .none(.miss)
            }
        }
    }

    /// Suspends bodies outside records after an unreadable one.
    ///
    /// - Parameter start: The uptime before the body was requested.
    private func bodyFailed(from start: Duration) -> Outcome {
        let now = configuration.uptime()
        // A lookup that runs out of time handles that itself. A cancelled lookup says nothing about bodies.
        if !Task.isCancelled { state.withLock { $0.bodyBreaker.failed(from: start, to: now) } }
        return .none(.miss)
    }

    /// Refuses and deletes a record whose body cannot be completed. So the next request is a miss, and its fill writes
    /// both again.
    func refuse(_ candidate: Candidate) {
        state.withLock { $0.refused[candidate.name] = candidate.record.head.writtenAt }
        guard keys.canWrite else { return }
        _ = writes.add(byteCount: 0) { [self] in
            await delete(candidate.name)
        }
    }
}

/// The wait of a lookup for the first bytes of a body outside its record.
private final class BodyWait: Sendable {
    private let time = Mutex<Duration?>(nil)

    /// The uptime before the body was requested, or `nil`.
    var begin: Duration? {
        get { time.withLock { $0 } }
        set { time.withLock { $0 = newValue } }
    }
}

extension ReuseDecision {
    /// The reason why the stored response may not answer without the origin.
    fileprivate var forwardReason: ForwardReason {
        switch action {
        case .validate(_, _, let reason), .forward(let reason): reason
        case .hit, .hitWhileRevalidating: .stale
        case .resume: .partial
        case .unsatisfiable: .miss
        }
    }
}
