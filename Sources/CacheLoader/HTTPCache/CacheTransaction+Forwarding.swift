internal import CacheFoundation
internal import CacheStore

/// Sends requests to the origin and acts on the replies.
extension CacheTransaction {
    /// The times of sending a request and of receiving its response.
    struct Times {
        let requested: Date
        let received: Date
    }

    /// A reply of the origin, and the state at the time of the request.
    struct Received {
        let reply: TransportResponse
        let forwarding: Forwarding
        let times: Times
        /// Makes other processes wait, if this request holds the lock.
        let lock: KeyLock?
        /// The generation of the store before the request. Without one (an unreadable store), no commit is refused.
        var generation: StoreGeneration?
        /// The head that the caller gets.
        var head: HTTPResponse
    }

    /// Sends a request to the origin. Holds `lock` until the response is stored, or is known not to be stored.
    func forward(
        _ forwarding: Forwarding, _ lock: KeyLock? = nil, isRetry: Bool = false
    ) async throws(LoadError) -> CachedResponse {
        // Read the generation before sending: an invalidation while the request is in flight must prevent the commit
        // (RFC 9111 §4.4).
        let generation = generation(before: forwarding)
        let requested = configuration.clock()
        let reply: TransportResponse
        do throws(LoadError) {
            reply = try await send(forwarding)
        } catch {
            return try serveStaleOrCount(error, forwarding)
        }
        // A transport may ignore its cancellation. Continue after an unsafe method: the origin has made the change.
        if Task.isCancelled, request.method == .get || request.method == .head { throw .cancelled }
        let times = Times(requested: requested, received: configuration.clock())
        var received = Received(
            reply: reply, forwarding: forwarding, times: times, lock: lock, generation: generation, head: reply.head)
        // RFC 9110 §6.6.1: a recipient adds a missing Date with the time of receipt "if it is cached or forwarded
        // downstream".
        if !reply.head.headerFields.contains(.date) {
            received.head.headerFields[.date] = HTTPDate(times.received).description
        }
        // The removals by this reply must not prevent its own commit. A removal by the program during the request does.
        let isCurrent = !mayRemove(reply.head) || !wasRemoved(since: generation)
        let isRemoved = [await invalidate(after: reply.head), await clearSite(after: reply.head)].contains(true)
        if isRemoved, isCurrent { received.generation = try? store.generation() }
        // Runs after the invalidation: the origin may have changed the resource even if its reply is malformed.
        if let reason = MalformedReply.reason(reply.head, to: forwarding.request) {
            let failure = TransportError(.malformedResponse, message: reason)
            logFailure(failure)
            return try serveStaleOrCount(LoadError(failure, url: url), forwarding)
        }
        await countFailure(reply.head.status, generation, forwarding)
        if reply.head.status.code < 400 { endPause() }
        let exchange = Exchange(
            request: forwarding.request, reply: reply.head, requestTime: HTTPDate(times.requested),
            responseTime: HTTPDate(times.received), isBodyDecoded: reply.isBodyDecoded)
        let decision =
            isOutsideStore
            ? ReplyDecision(.relay(removeStored: false), rule: .contentOutsideKey)
            : ReplyDecision(
                for: exchange, original: request, candidates: forwarding.stored.responses,
                question: forwarding.nominated?.question ?? .none, policy: policy, fingerprint: fingerprint)
        note(decision, on: received, isKept: keeps(decision.action))
        return try await perform(decision.action, received, isRetry: isRetry)
    }

    /// Returns the generation of the store. A removal after it prevents the commit of the response.
    private func generation(before forwarding: Forwarding) -> StoreGeneration? {
        // If the request validates or completes a stored response, a removal since the decision must prevent its commit.
        if let snapshot = forwarding.stored.snapshot, forwarding.nominated != nil || store.isCurrent(snapshot) {
            return snapshot.generation
        }
        return try? store.generation()
    }

    private func send(_ forwarding: Forwarding) async throws(LoadError) -> TransportResponse {
        logForwarding(forwarding)
        recorded?.noteForward(forwarding.reason)
        let observed = ObservedRequest(context.meters, recorded, clock: configuration.clock)
        do throws(TransportError) {
            var request = forwarding.request
            request.method = method
            if bypassesUpstreamCaches { request.headerFields.addNoCache() }
            var reply = try await exchange(request)
            reply.head.becomeWhole(inAnswerTo: request)
            reply.body = observed.headArrived(reply.body)
            logReply(reply.head.status)
            return reply
        } catch {
            if error.code != .cancelled { logFailure(error) }
            throw LoadError(error, url: url)
        }
    }

    /// Sends the request, with a dictionary if one is available. If the reply cannot be decoded with that dictionary,
    /// sends the request again without it.
    private func exchange(_ request: HTTPRequest) async throws(TransportError) -> TransportResponse {
        if let dictionary = await dictionary(for: request) {
            var offering = request
            offering.offerDictionary(id: dictionary.id, dictionary.digest)
            let reply = try await transmit(offering)
            if let decoded = try await decoded(reply, with: dictionary) { return decoded }
        }
        return try await transmit(request)
    }

    private func transmit(_ request: HTTPRequest) async throws(TransportError) -> TransportResponse {
        let content = try content?.forSending()
        guard let interimResponses else { return try await context.transport.send(request, content: content) }
        let responses = InterimResponses { interimResponses.receive($0) }
        // The caller may still wait, for another request or for the store.
        defer { responses.end() }
        return try await context.transport.send(request, content: content) { responses.receive($0) }
    }

    private func perform(
        _ action: ReplyDecision.Action, _ received: Received, isRetry: Bool
    ) async throws(LoadError) -> CachedResponse {
        switch action {
        case .freshen(let updates, let index, let removesAfterUse):
            return try await freshen(received, updates, index, removesAfterUse: removesAfterUse, isRetry: isRetry)
        case .store(let response) where keeps(response):
            count(received.reply)
            return storing(received, response)
        case .storePart(let response) where keeps(response):
            count(received.reply)
            return storingPart(received, response)
        case .complete(let index, let response):
            count(received.reply)
            guard let nominated = received.forwarding.nominated, nominated.index == index else { break }
            return try await completing(received, nominated, response)
        case .serveStale(let index):
            let status = received.reply.head.status
            // The stale response does not wait for the body of the error.
            let error = OriginError(status: status, url: url, headerFields: received.head.headerFields)
            if var answer = staleAnswer(received.forwarding, index, .httpStatus(error), status.code) {
                answer.generation = received.generation
                answer.failedRequest = failureRequest
                notePause(received.head)
                return answer
            }
            count(received.reply)
            return passing(received)
        case .update(let updates, let removals):
            for (index, response) in updates { await freshen(received, index, response) }
            for index in removals { await remove(received.forwarding.stored.entries[index]) }
            count(received.reply)
            return passing(received)
        case .relay(removeStored: true) where received.forwarding.mayHaveStored:
            await removeStored()
            fallthrough
        case .relay, .store, .storePart:
            count(received.reply)
            return passing(received)
        case .retry(let removals):
            for index in removals { await remove(received.forwarding.stored.entries[index]) }
            return try await retry(after: received, without: removals, isRetry: isRetry)
        }
        return try await retry(after: received, isRetry: isRetry)
    }

    /// Whether this request wants to store the reply, if the decision is to store it.
    private func keeps(_ action: ReplyDecision.Action) -> Bool {
        switch action {
        case .store(let response), .storePart(let response): keeps(response)
        case .freshen, .complete, .serveStale, .update, .relay, .retry: true
        }
    }

    /// Whether this request wants to store a storable response.
    private func keeps(_ response: StoredResponse) -> Bool {
        guard response.status.code < 400 else { return keepsErrors }
        guard let contentTypeFilter, [200, 203, 206].contains(response.status.code) else { return true }
        return contentTypeFilter.accepts(response.fields)
    }

    /// Sends the original request of the caller, because neither the reply nor a stored response can answer (RFC 9111
    /// §4.3.3). `removals` are the indices of stored responses that were removed.
    private func retry(
        after received: Received, without removals: [Int] = [], isRetry: Bool
    ) async throws(LoadError) -> CachedResponse {
        guard !isRetry, request.method == .get || request.method == .head, content?.isRepeatable ?? true else {
            let failure = TransportError(
                .malformedResponse,
                message: "\(received.reply.head.status) in answer to a request that did not ask for it")
            // RFC 9111 §4.2.4: an unusable reply allows a stale response, as a failure does.
            return try serveStaleOrCount(.transport(failure, url: url), received.forwarding)
        }
        // The remaining stored responses may still answer if the origin fails. A reply that forbids storing removes
        // them.
        var stored = received.forwarding.stored
        for index in removals.sorted().reversed() {
            stored.entries.remove(at: index)
            stored.responses.remove(at: index)
        }
        return try await forward(
            Forwarding(
                request: request, stored: stored, reason: received.forwarding.reason, rule: received.forwarding.rule),
            received.lock, isRetry: true)
    }

    private func freshen(
        _ received: Received, _ updates: [Int: StoredResponse], _ index: Int, removesAfterUse: Bool, isRetry: Bool
    ) async throws(LoadError) -> CachedResponse {
        let forwarding = received.forwarding
        guard let nominated = forwarding.nominated, nominated.index == index else {
            return try await retry(after: received, isRetry: isRetry)
        }
        // A 304 has no content. Read its body to the end, so that the connection can be reused.
        _ = try? await received.reply.body.next()
        for (number, response) in updates {
            if removesAfterUse {
                await remove(forwarding.stored.entries[number])
            } else {
                await freshen(received, number, response)
            }
        }
        // Count one request, even if the 304 freshens several responses.
        noteRevalidation(removesAfterUse ? nil : forwarding.stored.entries[index])
        let response = updates[index] ?? forwarding.stored.responses[index]
        let answer = answer(
            response, forwarding.stored.entries[index], nominated.body, forwarding.rule, isStale: false)
        return self.response(
            from: answer, source: .notModified, forwarding.reason, forwardStatus: received.reply.head.status.code,
            isStored: !removesAfterUse)
    }

    /// Counts a reply.
    private func count(_ reply: TransportResponse) {
        // A 4xx status is an answer. A 5xx status says that the server failed (RFC 9110 §15.6).
        if reply.head.status.code >= 500 { return noteError() }
        if reply.isFromTier { noteTierAnswer() } else { noteMiss() }
    }

    // MARK: Without the origin

    /// Returns the stored response that answers in place of an unreachable origin. Throws `error` if none may answer.
    func answer(insteadOf error: LoadError) throws(LoadError) -> CachedResponse {
        switch try decide() {
        case .answer(let answer): return deliver(answer)
        case .forward(let forwarding): return try serveStale(for: error, forwarding)
        case .deferred: preconditionFailure("a decision without a limit is not deferred")
        }
    }

    /// Returns the stored response that answers after the origin failed. If none may answer, counts and throws `error`.
    func serveStaleOrCount(_ error: LoadError, _ forwarding: Forwarding) throws(LoadError) -> CachedResponse {
        do throws(LoadError) {
            return try serveStale(for: error, forwarding)
        } catch {
            if case .cancelled = error {} else { noteError() }
            throw error
        }
    }

    /// Returns the stored response that answers after a failure or an error of the origin. Throws `error` if none may.
    func serveStale(for error: LoadError, _ forwarding: Forwarding) throws(LoadError) -> CachedResponse {
        let status: HTTPResponse.Status? =
            switch error {
            case .transport: nil
            case .httpStatus(let error): error.status
            default: throw error
            }
        let index = StaleFallback.choose(
            for: request, candidates: forwarding.stored.responses, status: status, policy: policy, now: now,
            fingerprint: fingerprint)
        guard let index, let answer = staleAnswer(forwarding, index, error, status?.code) else { throw error }
        return answer
    }

    private func staleAnswer(
        _ forwarding: Forwarding, _ index: Int, _ error: LoadError, _ status: Int?
    ) -> CachedResponse? {
        let entry = forwarding.stored.entries[index]
        let held = forwarding.nominated.flatMap { $0.index == index ? $0.body : nil }
        guard let body = held ?? (try? store.openBody(of: entry)) else { return nil }
        noteStaleFallback(entry)
        let answer = answer(
            forwarding.stored.responses[index], entry, body, status == nil ? .disconnected : .staleIfError)
        var response = response(from: answer, forwarding.reason, forwardStatus: status)
        response.failure = error
        return response
    }
}
