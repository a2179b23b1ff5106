internal import CacheFoundation
internal import CacheLoader
internal import CacheStore
internal import Synchronization

/// Looks up a response in the tier: the object of the URL, then the records that it names, then a long body.
extension SharedTier {
    /// A response of the tier that answers the request.
    struct Hit: Sendable {
        var head: HTTPResponse
        let isBodyDecoded: Bool
        let content: Content

        enum Content: Sendable {
            case bytes(Data)
            /// The first chunk has arrived and is verified.
            case object(VerifiedBody, first: Data, Candidate)
        }
    }

    struct Lookup: Sendable {
        var hit: Hit?
        /// The records of the request that no removal has made invalid.
        var candidates: [Candidate] = []
        /// The decision about the candidates, if there are any.
        var decision: ReuseDecision?
        /// The time on the clock of the origin.
        var now = HTTPDate.distantPast
        /// The reason of a miss, for `Cache-Status`.
        var reason = ForwardReason.uriMiss
        var keyObject = Answer<KeyObject>.failed(.unavailable("not asked"))
        /// The reason why the engine has not answered.
        var failure: TierEngineError?

        var responses: [StoredResponse] { candidates.map(\.record.head.response) }
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

    /// Looks up a response within the deadline, and counts the result. Call after ``admits(_:)``.
    func lookUp(_ request: HTTPRequest) async -> Lookup {
        let (start, beganAt) = (configuration.uptime(), beginStep())
        let lateness = Lateness()
        // The deadline does not cancel it: a late lookup ends by itself, without the body, so that the connection stays
        // usable.
        let lookup = Task { await find(request, lateness) }
        let sleep: @Sendable (Duration) async throws -> Void = { [configuration] limit in
            try await configuration.sleep(limit)
            // This precedes the result of the time limit. Otherwise the lookup could open a body that no task reads.
            lateness.begin()
        }
        let result = await withTaskCancellationHandler {
            await withTimeLimit(deadline, sleep) { await lookup.value }
        } onCancel: {
            lateness.begin()
        }
        let end = configuration.uptime()
        // A cancellation by the caller says nothing about the engine.
        guard result != nil || !Task.isCancelled else { return Lookup() }
        let answer: RequestStep.UpstreamResult =
            switch result {
            case nil: .timeout
            case let result? where result.hit != nil: .hit
            case let result? where result.failure != nil: .error
            case .some: .miss
            }
        change { state in
            switch answer {
            case .timeout: state.statistics.timeouts += 1
            case .hit: state.statistics.hits += 1
            case .error: state.statistics.errors += 1
            default: state.statistics.misses += 1
            }
            switch result?.failure {
            // Counted failures choose a pause, but the engine has stated one.
            case .busy(_, let pause)?: state.breaker.open(until: end + pause)
            case .some: state.breaker.failed(from: start, to: end)
            case nil where result == nil: state.breaker.failed(from: start, to: end)
            case nil: state.breaker.succeeded(from: start)
            }
        }
        endStep(beganAt, answer, of: request)
        return result ?? Lookup(reason: .miss)
    }

    private func find(_ request: HTTPRequest, _ lateness: Lateness) async -> Lookup {
        let key = layout.key(of: request.url)
        let scopes = layout.scopes(of: request)
        // Both reads at the same time, because each takes a round trip to the engine.
        async let removals = removals(of: scopes)
        var lookup = Lookup()
        lookup.keyObject = await keyObject(key)
        switch lookup.keyObject {
        case .absent: break
        case .failed(let error): lookup.failure = error
        case .found(let object):
            let found = await records(key, object, request)
            lookup.failure = found.failure
            // A response by fields that the request lacks is another variant.
            if found.candidates.isEmpty, object.names.contains(where: { !$0.isEmpty }) { lookup.reason = .varyMiss }
            lookup.candidates = found.candidates.filter { !$0.isRemoved(at: object.removedAt) }
        }
        let known = await removals
        lookup.failure = lookup.failure ?? known.failure
        // Without the removals, any candidate may be removed already. The origin answers instead.
        guard known.failure == nil, !lookup.candidates.isEmpty else {
            lookup.candidates = []
            return lookup
        }
        let url = request.url
        let tags = Set(lookup.candidates.flatMap { layout.tags(of: $0.record.head.response.fields, url: url) })
        let ofTags = tags.isEmpty ? Removals() : await self.removals(of: Array(tags))
        lookup.failure = lookup.failure ?? ofTags.failure
        lookup.candidates.removeAll { candidate in
            let tags = layout.tags(of: candidate.record.head.response.fields, url: url)
            // A tag whose removal could not be read counts as removed. The engine may not have this process's own
            // removals yet.
            return !tags.allSatisfy { ofTags.times.keys.contains($0) }
                || tags.contains { candidate.isRemoved(at: ofTags.times[$0] ?? nil) }
                || scopes.contains { candidate.isRemoved(at: known.times[$0] ?? nil) }
                || candidate.isRemoved(at: ownRemoval(of: scopes + tags + [layout.keyObject(key)]))
        }
        await decide(&lookup, request, lateness)
        return lookup
    }

    /// Reads the records that `request` selects, in parallel: usually one.
    private func records(
        _ key: String, _ object: KeyObject, _ request: HTTPRequest
    ) async -> (candidates: [Candidate], failure: TierEngineError?) {
        let names = Set(object.names.compactMap { variant(named: $0, request) }.map { layout.record(key, $0) })
        return await withTaskGroup(of: Answer<Candidate>.self) { group in
            for name in names { group.addTask { [self] in await record(name) } }
            var candidates: [Candidate] = []
            var failure: TierEngineError?
            for await answer in group {
                switch answer {
                case .found(let candidate): candidates.append(candidate)
                case .absent: break
                case .failed(let error): failure = error
                }
            }
            return (candidates, failure)
        }
    }

    /// Returns the key of the variant that `request` selects by the fields with these names.
    private func variant(named names: [String], _ request: HTTPRequest) -> VaryKey? {
        VaryKey(
            response: HTTPFields(names.map { HTTPField(name: .vary, value: $0) }), request: request,
            fingerprint: layout.fingerprint, nominatesAuthorization: !configuration.policy.isShared)
    }

    /// Returns the rules for a request: without heuristic freshness if the request may be a user's.
    func policy(for request: HTTPRequest) -> CachePolicy {
        var policy = configuration.policy
        if hasHabit(request) {
            policy.heuristicFraction = 0
            policy.defaultLifetime = .zero
        }
        return policy
    }

    /// Whether a response to the request is private by habit, although RFC 9111 permits sharing it.
    func hasHabit(_ request: HTTPRequest) -> Bool {
        guard configuration.policy.isShared, !configuration.sharesHeuristically else { return false }
        return request.headerFields.contains(.cookie) || request.headerFields.contains(.authorization)
    }

    /// Lets the rules of the store choose among the candidates, and opens the body of a hit.
    private func decide(_ lookup: inout Lookup, _ request: HTTPRequest, _ lateness: Lateness) async {
        guard !lookup.candidates.isEmpty else { return }
        // With the latest of the times, no candidate seems younger than it is.
        lookup.now = lookup.candidates.map(\.now).max() ?? .distantPast
        let decision = ReuseDecision(
            for: request, candidates: lookup.responses, policy: policy(for: request), now: lookup.now,
            fingerprint: layout.fingerprint)
        lookup.decision = decision
        switch decision.action {
        case .hit(let index, let age, isStale: false):
            // A late hit has no reader.
            guard !lateness.hasBegun else { return }
            switch await answer(lookup.candidates[index], to: request, age: age) {
            case .success(let hit?):
                lookup.hit = hit
                // Then a failure of another object does not matter.
                lookup.failure = nil
            case .success(nil):
                lookup.reason = request.headerFields.contains(.range) ? .bypass : .miss
                lookup.decision = nil
            case .failure(let error): (lookup.failure, lookup.reason, lookup.decision) = (error, .miss, nil)
            }
        case .validate(_, _, let reason), .forward(let reason): lookup.reason = reason
        case .hit, .hitWhileRevalidating: lookup.reason = .stale
        case .resume: lookup.reason = .partial
        case .unsatisfiable: lookup.reason = .miss
        }
    }

    /// Returns the answer of a candidate, or `nil` if its body cannot answer the request. After a validation by the
    /// origin, `response` is the head of the candidate, and `age` is `nil`.
    func answer(
        _ candidate: Candidate, to request: HTTPRequest, age: Int64?, freshened response: StoredResponse? = nil
    ) async -> Result<Hit?, TierEngineError> {
        let record = candidate.record
        let response = response ?? record.head.response
        let policy = policy(for: request)
        let answer = StoredAnswer(
            from: response, to: request, age: age, byteCount: record.head.byteCount, policy: policy,
            boundarySeed: record.head.digest)
        var head = answer.head
        if let age {
            let lifetime = Freshness(of: response, policy: policy).lifetime
            CacheStatus.hit(ttl: lifetime - age).append(to: &head.headerFields, name: configuration.name)
        }
        func hit(_ content: Hit.Content) -> Hit {
            Hit(head: head, isBodyDecoded: response.isBodyDecoded, content: content)
        }
        if let body = record.body { return .success(hit(.bytes(Data(answer.bytes(of: Array(body)))))) }
        switch answer.content {
        case .none: return .success(hit(.bytes(Data())))
        // For a separate body object, the origin answers range requests.
        case .segments: return .success(nil)
        case .whole: break
        }
        let source: TransportBody
        switch await open(layout.body(digest: record.head.digest)) {
        case .found(let object): source = object.body
        case .absent: return .success(nil)
        case .failed(let error): return .failure(error)
        }
        let body = VerifiedBody(source, of: record)
        switch await body.next(within: configuration.bodyDeadline, configuration.sleep) {
        case .chunk(let first): return .success(hit(.object(body, first: first, candidate)))
        case .complete: return .success(nil)
        case .unavailable: return .failure(.unavailable("the body did not arrive"))
        case .damaged:
            // The following fill writes the body and the record again.
            count { $0.refused.damagedBodies += 1 }
            state.withLock { $0.refused[candidate.name] = record.head.writtenAt }
            return .success(nil)
        }
    }

    /// Refuses and deletes a record whose body cannot be completed. So the next request is a miss, and its fill writes
    /// both again.
    func refuse(_ candidate: Candidate) {
        state.withLock { $0.refused[candidate.name] = candidate.record.head.writtenAt }
        guard keys.canWrite else { return }
        writes.add { [self] in try? await delete(candidate.name) }
    }
}

extension SharedTier.Candidate {
    /// Whether a removal at this time, in seconds since 1970, includes the record.
    func isRemoved(at time: Int64?) -> Bool { time.map { record.head.requestedAt <= $0 } ?? false }
}

/// Whether a lookup has missed its deadline.
private final class Lateness: Sendable {
    private let value = Atomic(false)

    var hasBegun: Bool { value.load(ordering: .acquiring) }

    func begin() { value.store(true, ordering: .releasing) }
}
