internal import CacheFoundation
internal import CacheStore
internal import Logging

/// Makes the response for the caller.
extension CacheTransaction {
    // MARK: From the store

    /// Makes a response from a stored one in the form that the request asks for: whole, in part, or as a 304.
    func response(
        from answer: Answer, source: ResponseSource = .disk, _ reason: ForwardReason? = nil, forwardStatus: Int? = nil,
        isStored: Bool? = nil
    ) -> CachedResponse {
        let stored = answer.response
        // RFC 9111 §4: an answer without validation carries its current age.
        let form = StoredAnswer(
            from: stored, to: request, age: source == .notModified ? nil : answer.age,
            byteCount: answer.body.byteCount, policy: policy,
            boundarySeed: answer.body.digest.map { "\($0)" } ?? "")
        var head = form.head
        let status =
            reason.map { CacheStatus.forward($0, status: forwardStatus, stored: isStored) } ?? CacheStatus.hit()
        add(status, to: &head, expiry: answer.expiry, answer.rule)
        let body = body(answer.body, form.content)
        recorded?.noteResponse(head.status, byteCount: body.byteCount, hasEnded: body.isEmpty)
        return CachedResponse(
            head: head, body: body, source: source, age: answer.age, isStale: answer.isStale,
            expiresAt: answer.expiry.map(Date.init), failure: nil, stored: answer.entry, found: answer.found)
    }

    private func body(_ body: StoredBody, _ content: StoredAnswer.Content) -> ResponseBody {
        switch content {
        case .none: ResponseBody(source: .empty)
        case .whole: ResponseBody(source: .stored(StoredBodyReader(body, context.meters, recorded)))
        case .segments(let segments):
            ResponseBody(source: .stored(StoredBodyReader(body, context.meters, recorded, segments: segments)))
        }
    }

    // MARK: From the origin

    /// Returns the reply without storing it.
    func passing(_ received: Received, freshness: Freshness? = nil) -> CachedResponse {
        let reply = received.reply
        // Content-Length counts encoded bytes (RFC 9110 §8.6).
        let length = reply.isBodyDecoded ? nil : reply.head.announcedLength(to: request)
        let body = SharedBody(
            url: url, storing: nil,
            verification: BodyVerification(url: url, content: digests(ofContentOf: received), isStored: false),
            expectedByteCount: length, limits: bodyLimits, log: configuration.log)
        guard let reader = body.makeReader() else { preconditionFailure("a body that has not begun can be read") }
        body.start(
            reply.head.hasNoBody(to: request) ? reply.body.withoutBytes(upTo: configuration.maxBodyBytes) : reply.body)
        return response(
            to: received, ResponseBody(source: .arriving(reader, byteCount: length), recorded), freshness: freshness,
            isStored: false)
    }

    private var bodyLimits: SharedBody.Limits {
        SharedBody.Limits(maxByteCount: configuration.maxBodyBytes, finishesUpTo: configuration.abandonedBytes)
    }

    /// Returns the reply and stores it while it arrives.
    func storing(_ received: Received, _ response: StoredResponse) -> CachedResponse {
        guard fitsIntoStore(received.reply.head) else {
            return passing(received, freshness: Freshness(of: response, policy: policy))
        }
        let verification = BodyVerification(url: url, content: digests(ofContentOf: received))
        let storing = storing(received, whole: response, in: store.makeBodyWriter())
        return share(
            received, storing, verification, response, length: received.reply.head.announcedLength(to: request),
            joins: true)
    }

    /// Returns the reply, a 206, and stores its part while it arrives.
    func storingPart(_ received: Received, _ response: StoredResponse) -> CachedResponse {
        guard fitsIntoStore(received.reply.head) else { return passing(received) }
        let verification = BodyVerification(url: url, content: digests(ofContentOf: received))
        let storing = storing(
            received, part: response, in: store.makeBodyWriter(), verifiesContent: verification != nil)
        return share(
            received, storing, verification, response, length: received.reply.head.announcedLength(to: request),
            joins: false)
    }

    /// Returns the stored part of a response followed by the rest from the reply. Stores both as the whole.
    func completing(
        _ received: Received, _ nominated: Nominated, _ response: StoredResponse
    ) async throws(LoadError) -> CachedResponse {
        let writer = store.makeBodyWriter()
        let verification: BodyVerification?
        do throws(StoreError) {
            try await writer.append(nominated.body, 0..<nominated.body.byteCount)
            verification = try await self.verification(of: received, completing: nominated, as: response)
        } catch {
            log("could not resume a stored part", error)
            return try await answerFromOrigin()
        }
        var received = received
        received.head = HTTPResponse(status: .ok, headerFields: response.fields)
        let storing = storing(received, whole: response, in: writer)
        let length = response.fields[.contentLength].flatMap { Int64($0) }
        return share(received, storing, verification, response, length: length, joins: true)
    }

    private func share(
        _ received: Received, _ storing: SharedBody.Storing, _ verification: BodyVerification?,
        _ response: StoredResponse, length: Int64?, joins: Bool
    ) -> CachedResponse {
        let number = context.coalescer.makeNumber()
        let body = SharedBody(
            url: url, storing: observed(storing), verification: verification, expectedByteCount: length,
            limits: bodyLimits, log: configuration.log, onStoreFailure: onStoreFailure,
            onEnd: { [coalescer = context.coalescer, key, lock = received.lock] in
                coalescer.remove(key, number)
                lock?.release()
            })
        guard let reader = body.makeReader() else { preconditionFailure("a body that has not begun can be read") }
        let arriving = ArrivingResponse(
            response: response, body: body, length: length, generation: received.generation,
            verifiesDigests: policy.verifiesDigests)
        // Add the response before the body starts, because the end of the body removes it again.
        if joins { context.coalescer.add(arriving, for: key, number) }
        body.start(received.reply.body)
        var answer = self.response(
            to: received, ResponseBody(source: .arriving(reader, byteCount: length), recorded),
            freshness: Freshness(of: response, policy: policy), isStored: true)
        answer.arriving = arriving
        return answer
    }

    private func response(
        to received: Received, _ body: ResponseBody, freshness: Freshness?, isStored: Bool
    ) -> CachedResponse {
        var head = received.head
        let status = CacheStatus.forward(
            received.forwarding.reason, status: received.reply.head.status.code, stored: isStored ? true : nil)
        add(status, to: &head, expiry: freshness?.expiry, received.forwarding.rule)
        recorded?.noteResponse(head.status, byteCount: body.byteCount, hasEnded: body.isEmpty)
        // RFC 9111 §5.1: an Age "implies that the response was not generated or validated by the origin server for this
        // request".
        let isFromUpstreamCache =
            received.reply.head.headerFields.contains(.age) && !bypassesUpstreamCaches
            && !request.headerFields.hasNoCache
        return CachedResponse(
            head: head, body: body, source: received.reply.isFromTier ? .tier : .network,
            age: freshness?.age(at: now) ?? 0, isStale: false, expiresAt: freshness?.expiry.map(Date.init),
            failure: nil, generation: received.generation,
            isFromUpstreamCache: isFromUpstreamCache)
    }

    /// Whether the store accepts a body of the announced length. Without a length, the load tries to store it.
    func fitsIntoStore(_ head: HTTPResponse) -> Bool {
        guard let limit = store.configuration.limits?.largestBody,
            let length = head.headerFields[.contentLength].flatMap({ Int64($0) })
        else { return true }
        return length <= limit
    }

    // MARK: From a response that is still arriving

    /// Returns an arriving response to another request if it answers this one, too. `reason` is the reason for which
    /// this request would be forwarded (RFC 9211 §2.2).
    func join(_ reason: ForwardReason) -> CachedResponse? {
        guard request.method == .get else { return nil }
        let directives = RequestDirectives(request, mode: policy.mode)
        // A joined response is delivered whole. A range or a condition asks for another form.
        guard !directives.hasRange, !directives.isConditional else { return nil }
        for arriving in context.coalescer.responses(for: key) {
            let reuse = ReuseDecision(
                for: request, candidates: [arriving.response], policy: policy, now: now, fingerprint: fingerprint)
            guard case .hit(_, let age, let isStale) = reuse.action, isWithinLimits(arriving),
                // A response from before a removal does not answer requests from after it.
                isCurrent(arriving),
                // A request that does not ask for the comparison does not fail with it.
                arriving.verifiesDigests == policy.verifiesDigests,
                let reader = arriving.body.makeReader()
            else { continue }
            recorded?.noteForward(reason)
            noteMiss(isCoalesced: true)
            var head = arriving.response.head(age: age, policy: policy)
            let expiry = Freshness(of: arriving.response, policy: policy).expiry
            let status = CacheStatus.forward(reason, collapsed: true)
            add(status, to: &head, expiry: expiry, reuse.rule)
            recorded?.noteResponse(head.status, byteCount: arriving.length)
            return CachedResponse(
                head: head, body: ResponseBody(source: .arriving(reader, byteCount: arriving.length), recorded),
                source: .network, age: age, isStale: isStale, expiresAt: expiry.map(Date.init), failure: nil,
                arriving: arriving, isFromUpstreamCache: arriving.response.fields.contains(.age))
        }
        return nil
    }

    /// Whether the key was not removed since the request for an arriving response was sent.
    private func isCurrent(_ arriving: ArrivingResponse) -> Bool {
        guard let generation = arriving.generation else { return (try? store.generation()) == nil }
        return (try? store.wasRemoved(key, since: generation)) == false
    }

    /// Whether the body satisfies both length limits: the limits are equal, or its known length is within both.
    private func isWithinLimits(_ arriving: ArrivingResponse) -> Bool {
        let (theirs, mine) = (arriving.body.maxByteCount, configuration.maxBodyBytes)
        return theirs == mine || (arriving.length.map { $0 <= min(theirs, mine) } ?? false)
    }

    // MARK: From the cache itself

    /// Returns the response of a gateway that received none itself (RFC 9110 §15.6.3, §15.6.5).
    func generated(for error: LoadError) throws(LoadError) -> CachedResponse {
        let status: HTTPResponse.Status
        switch error {
        case .notCached:
            status = .gatewayTimeout
            noteError()
        // RFC 9111 §5.2.2.2: the status is 504 if the stored response must not be used without validation.
        case .transport(let failure, _):
            status = failure.code == .timedOut || hasStored ? .gatewayTimeout : .badGateway
        default: throw error
        }
        recorded?.noteFailure(status: status)
        // RFC 9211 §2: a response that the cache has generated carries no Cache-Status.
        let head = HTTPResponse(status: status, headerFields: [.date: now.description, .contentLength: "0"])
        return CachedResponse(
            head: head, body: ResponseBody(source: .empty), source: .generated, age: 0, isStale: false, expiresAt: nil,
            failure: error)
    }

    // MARK: Cache-Status

    private func add(_ status: CacheStatus, to head: inout HTTPResponse, expiry: HTTPDate?, _ rule: Rule) {
        guard let options = configuration.cacheStatus else { return }
        var status = status
        // RFC 9211 §2.4: "the response's remaining freshness lifetime", which matters only for a stored response.
        if status.isHit || status.stored == true || status.collapsed == true {
            status.ttl = expiry?.seconds(since: now)
        }
        if options.hasKey { status.key = key.text }
        if options.hasDetail { status.detail = rule.description }
        status.append(to: &head.headerFields, name: options.name)
    }
}

extension HTTPResponse {
    /// The announced length of the body in answer to `request`, if the head contains it.
    fileprivate func announcedLength(to request: HTTPRequest) -> Int64? {
        if hasNoBody(to: request) { return 0 }
        return headerFields[.contentLength].flatMap { Int64($0) }
    }

    /// Whether a response with this head to `request` never has a body (RFC 9112 §6.3).
    fileprivate func hasNoBody(to request: HTTPRequest) -> Bool {
        // "Any response to a HEAD request and any response with a … 204 (No Content), or 304 (Not Modified) status code
        // is always terminated by the first empty line after the header fields".
        request.method == .head || [204, 304].contains(status.code)
    }
}

extension TransportBody {
    /// Drops up to `limit` bytes, then ends.
    fileprivate func withoutBytes(upTo limit: Int64) -> TransportBody {
        // A connection is free once its message is read to the end.
        TransportBody { () async throws(TransportError) in
            var rest = limit
            while rest >= 0, let chunk = try await next() { rest -= Int64(chunk.count) }
            return nil
        }
    }
}
