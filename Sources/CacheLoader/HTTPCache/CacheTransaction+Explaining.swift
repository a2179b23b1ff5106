internal import CacheStore

/// Explains a decision without acting on it.
extension CacheTransaction {
    /// Explains the result of ``decide()``. Throws ``LoadError/store(_:)`` when the store cannot be read.
    func explanation() throws(LoadError) -> Explanation {
        let now = now
        var stored = try LoadError.wrapping { () throws(StoreError) in try find() }
        let reuse = decision(on: &stored, at: now)
        var revalidation: HTTPRequest?
        if case .hitWhileRevalidating = reuse.action {
            let revalidating = revalidating
            revalidation = revalidating.request
            if case .validate(_, let conditional, _) = revalidating.decision(on: &stored, at: now).action {
                revalidation = conditional
            }
        }
        for (index, entry) in stored.entries.enumerated() where !hasBody(entry) {
            stored.responses[index].hasIntactBody = false
        }
        let candidates = zip(stored.entries, stored.responses).map { entry, response in
            Explanation.Stored(response, url: (entry.key.withoutFragment ?? entry.key).text, byteCount: entry.byteCount)
        }
        var explanation = Explanation(
            of: reuse, on: request, url: url, stored: candidates, revalidation: revalidation,
            policy: policy, now: now, fingerprint: fingerprint)
        explanation.method = method
        return explanation
    }

    /// Like ``decide()``, decides again without a stored response whose body is missing.
    private func decision(on stored: inout Stored, at now: HTTPDate) -> ReuseDecision {
        while true {
            let reuse = ReuseDecision(
                for: request, candidates: stored.responses, policy: policy, now: now, fingerprint: fingerprint)
            guard let index = reuse.index, !hasBody(stored.entries[index]) else { return reuse }
            stored.responses[index].hasIntactBody = false
        }
    }

    private func hasBody(_ entry: StoredEntry) -> Bool {
        (try? store.hasBody(of: entry)) ?? false
    }
}
