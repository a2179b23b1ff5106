internal import CacheStore
internal import Logging

/// Decides whether a stored response answers a request.
extension CacheTransaction {
    /// How a decision reads the body of a stored response.
    struct BodyReading {
        /// The longest body, in bytes, to compare with its digest now. The decision about a longer body is deferred.
        var limit: Int64
        /// A body that is already open.
        var held: (entry: StoredEntry, body: StoredBody)?

        /// Decides immediately, on the calling thread.
        static let unlimited = BodyReading(limit: .max)
        /// Defers long bodies, so that the decision does not block the caller's executor for long.
        static let short = BodyReading(limit: 65_536)
    }

    /// Opens a long body on a lane of the store. Returns the argument with which to repeat the deferred decision.
    static func verified(_ entry: StoredEntry, in store: ResponseStore) async -> BodyReading {
        let body = await store.onReadingLane { try? store.openBody(of: entry) }
        // Without a body, the repeated decision meets the same error and treats it as a miss.
        return body.map { BodyReading(limit: BodyReading.short.limit, held: (entry, $0)) } ?? .unlimited
    }

    /// Does the same as ``decide(_:)``, and reports no step. Decides again if a selected stored response has no body.
    func decideUnobserved(_ reading: BodyReading = .unlimited) throws(LoadError) -> Step {
        guard !isOutsideStore else {
            guard !forbidsNetwork else { throw .notCached(url: url) }
            return .forward(Forwarding(request: request, reason: .bypass, rule: .contentOutsideKey))
        }
        var stored = lookup()
        while true {
            let reuse = ReuseDecision(
                for: request, candidates: stored.responses, policy: policy, now: now, fingerprint: fingerprint)
            let fallback = indexInPause(reuse.action, stored)
            var body: StoredBody?
            if let index = fallback ?? reuse.index {
                switch open(stored.entries[index], reading) {
                case .open(let opened): body = opened
                case .unverified: return .deferred(stored.entries[index])
                case .gone:
                    // Each round excludes one stored response, so the loop ends.
                    stored.responses[index].hasIntactBody = false
                    continue
                }
            }
            if let fallback, let body {
                return .answer(
                    answer(stored.responses[fallback], stored.entries[fallback], body, .staleIfError, isStale: true))
            }
            switch (reuse.action, body) {
            case (.hit(let index, let age, let isStale), let body?):
                return .answer(answer(stored, index, body, age, isStale: isStale, reuse))
            case (.hitWhileRevalidating(let index, let age), let body?):
                return .answer(answer(stored, index, body, age, isStale: true, isRevalidated: true, reuse))
            case (.validate(let index, let conditional, let reason), let body?):
                let nominated = Nominated(question: .validation(index), index: index, body: body)
                return .forward(
                    Forwarding(
                        request: conditional, stored: stored, nominated: nominated, reason: reason, rule: reuse.rule))
            case (.resume(let index, let resuming), let body?):
                let nominated = Nominated(question: .rest(index), index: index, body: body)
                return .forward(
                    Forwarding(
                        request: resuming, stored: stored, nominated: nominated, reason: .partial, rule: reuse.rule))
            case (.forward(let reason), _):
                return .forward(Forwarding(request: request, stored: stored, reason: reason, rule: reuse.rule))
            case (.unsatisfiable, _), (_, nil):
                throw .notCached(url: url)
            }
        }
    }

    /// Returns the index of the stale response that answers during a pause of the origin, if there is one. That
    /// response would also replace an error of the origin.
    private func indexInPause(_ action: ReuseDecision.Action, _ stored: Stored) -> Int? {
        switch action {
        case .validate(_, _, .stale), .forward(.stale), .resume: break
        default: return nil
        }
        guard !isBackground, isPaused else { return nil }
        // A pause counts as a 503: "When sent with a 503 (Service Unavailable) response, Retry-After indicates how long
        // the service is expected to be unavailable" (RFC 9110 §10.2.3).
        return StaleFallback.choose(
            for: request, candidates: stored.responses, status: .serviceUnavailable, policy: policy, now: now,
            fingerprint: fingerprint)
    }

    private func answer(
        _ stored: Stored, _ index: Int, _ body: StoredBody, _ age: Int64, isStale: Bool, isRevalidated: Bool = false,
        _ reuse: ReuseDecision
    ) -> Answer {
        Answer(
            response: stored.responses[index], entry: stored.entries[index], body: body, age: age,
            expiry: reuse.expiry, isStale: isStale, isRevalidated: isRevalidated, rule: reuse.rule,
            found: stored.snapshot)
    }

    /// Returns the answer of a stored response by a rule. `isStale` depends on the freshness lifetime by default.
    func answer(
        _ response: StoredResponse, _ entry: StoredEntry, _ body: StoredBody, _ rule: Rule, isStale: Bool? = nil
    ) -> Answer {
        let freshness = Freshness(of: response, policy: policy)
        return Answer(
            response: response, entry: entry, body: body, age: freshness.age(at: now), expiry: freshness.expiry,
            isStale: isStale ?? !freshness.isFresh(at: now), isRevalidated: false, rule: rule)
    }

    /// Returns the stored responses for the request. Treats an unreadable store as empty.
    private func lookup() -> Stored {
        do throws(StoreError) {
            return try find()
        } catch {
            log("could not look up a response", error)
            return Stored()
        }
    }

    /// Returns the stored responses for the request. Throws if the store cannot be read.
    func find() throws(StoreError) -> Stored {
        let found = try currentSnapshot()
        guard found.entries.isEmpty else {
            let decoded = found.hot.reading { DecodedResponses($0.map(EntryCodec.response)) }
            return Stored(entries: found.entries, responses: decoded.responses, snapshot: found)
        }
        let entries = try equivalentEntries(found)
        return Stored(entries: entries, responses: entries.map(EntryCodec.response), snapshot: found)
    }

    private func currentSnapshot() throws(StoreError) -> KeySnapshot {
        if let snapshot, snapshot.key == key, store.isCurrent(snapshot) { return snapshot }
        let mayHaveEquivalent = key == target && (request.method == .get || request.method == .head)
        return try store.snapshot(of: key, searchBase: mayHaveEquivalent ? NoVarySearch.base(of: key.text) : nil)
    }

    /// Whether the store has a response for the request, in any state.
    var hasStored: Bool {
        guard request.method == .get || request.method == .head else { return false }
        return lookup().responses.contains { $0.isSelected(by: request, policy: policy, fingerprint: fingerprint) }
    }

    /// Returns the stored responses for the same URL with another query, if No-Vary-Search makes them equivalent. The
    /// caller has tried the URL itself first (§7 of the draft).
    private func equivalentEntries(_ snapshot: KeySnapshot) throws(StoreError) -> [StoredEntry] {
        for other in snapshot.relatedKeys {
            let entries = try store.responses(for: other).filter { entry in
                NoVarySearch(EntryCodec.response(of: entry).fields).isEquivalent(key.text, other.text)
            }
            if !entries.isEmpty { return entries }
        }
        return []
    }

    /// Opens the body of an entry. Treats an unreadable body as missing, which makes the request a miss.
    private func open(_ entry: StoredEntry, _ reading: BodyReading) -> ResponseStore.BodyOpening {
        if let held = reading.held, held.entry.id == entry.id, held.entry.digest == entry.digest {
            return .open(held.body)
        }
        do throws(StoreError) {
            return try store.openBody(of: entry, verifyingUpTo: reading.limit)
        } catch {
            log("could not open a stored body", error)
            return .gone
        }
    }
}

/// The decoded stored responses of a key. Decoded once while the entries are hot.
private final class DecodedResponses: Sendable {
    let responses: [StoredResponse]

    init(_ responses: [StoredResponse]) {
        self.responses = responses
    }
}
