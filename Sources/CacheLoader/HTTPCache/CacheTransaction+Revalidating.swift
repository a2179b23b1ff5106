internal import CacheStore

/// Validates stored responses in the background (RFC 5861 §3).
extension CacheTransaction {
    /// Has the owner of the context validate the stored response that was served stale.
    func revalidateInBackground() {
        let (now, coalescer) = (now, context.coalescer)
        let subject = subject
        guard coalescer.revalidations.begin(subject, at: now) else { return }
        context.revalidate(revalidating) { [self] outcome in
            coalescer.revalidations.end(subject, outcome, at: self.now)
        }
    }

    /// The responses that a pause of the origin affects.
    private var subject: Revalidations.Subject {
        .init(key: key, credentials: VaryKey.credentials(of: request, fingerprint: fingerprint).text)
    }

    /// Whether the origin has asked requests like this one to wait (RFC 9110 §10.2.3).
    var isPaused: Bool {
        let revalidations = context.coalescer.revalidations
        // Without any failure, no request pauses, and the credentials need no fingerprint.
        return revalidations.hasFailures && revalidations.isPaused(subject, at: now)
    }

    /// Records the pause that an error of the origin requests, if a stale response answers instead.
    func notePause(_ reply: HTTPResponse) {
        guard let pause = reply.headerFields.retryAfter(at: now) else { return }
        context.coalescer.revalidations.note(.failed(retryAfter: pause), of: subject, at: now)
    }

    /// Ends the pause: the origin answers again.
    func endPause() {
        let revalidations = context.coalescer.revalidations
        if revalidations.hasFailures { revalidations.note(.succeeded, of: subject, at: now) }
    }

    /// A copy of this request that answers only after validation.
    var revalidating: CacheTransaction {
        var forced = self
        forced.policy.mode = .revalidateAlways
        forced.recorded = recordedRequest()
        forced.continueInBackground()
        // The caller has its response already.
        forced.onStoreFailure = nil
        forced.interimResponses = nil
        // Validate the whole response, even if the caller asked for a range or sent conditions.
        forced.request.headerFields.removeAll { Self.fieldsOfOneCaller.contains($0.name) }
        return forced
    }

    static let fieldsOfOneCaller: Set<HTTPField.Name> = [.range, .ifRange, .ifNoneMatch, .ifModifiedSince]

    /// Validates the stored response, and reads the reply so that it is stored.
    func revalidate() async -> Revalidations.Outcome {
        await withTimeLimit(Revalidations.timeLimit, configuration.sleep) { () async -> Revalidations.Outcome in
            do {
                let response = try await answer()
                let status = response.status.code
                // A 429, too, asks for a pause, and may say for how long (RFC 6585 §4).
                guard response.failure == nil, status < 500, status != 429 else {
                    return .failed(retryAfter: response.headerFields.retryAfter(at: now))
                }
                // A reader of an arriving body makes the store keep it. A stored body need not be read.
                if response.source.isTransferred { for try await _ in response.body {} }
                return .succeeded
            } catch {
                return error as? LoadError == .cancelled ? .cancelled : .failed(retryAfter: nil)
            }
        } ?? (Task.isCancelled ? .cancelled : .failed(retryAfter: nil))
    }
}
