internal import CacheFoundation
public import CacheLoader
internal import Synchronization

/// A transport that asks a shared tier before the origin, and writes the origin's responses to the tier.
///
/// ```swift
/// let cache = HTTPCache(store: store, transport: TieredTransport(tier: tier, origin: DefaultTransport()))
/// ```
///
/// Answers like a shared cache between the store and the origin (RFC 9111): with `Age`, and with a member in
/// `Cache-Status`. A request that must reach the origin needs `Cache-Control: no-cache`, as with every shared cache.
///
/// A failing tier delays a head by at most ``SharedTier/Configuration/deadline``, and fails no request. The only
/// exception is a body of more than 64 KiB that breaks off and that the origin cannot complete: then reading throws
/// `truncated`. Safe to use from any task.
public struct TieredTransport: HTTPTransport {
    private typealias InterimReceiver = @Sendable (HTTPResponse) -> Void

    private let tier: SharedTier
    private let origin: any HTTPTransport

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - tier: The tier. Several transports may share it.
    ///   - origin: Carries the requests that the tier does not answer.
    public init(tier: SharedTier, origin: any HTTPTransport) {
        self.tier = tier
        self.origin = origin
    }

    /// Returns the request as the origin receives it.
    public func prepare(_ request: HTTPRequest) -> HTTPRequest { origin.prepare(request) }

    /// Whether the origin's transport passes bodies in unknown content codings.
    public var passesUnknownCodings: Bool { origin.passesUnknownCodings }

    /// Answers a GET or HEAD from the tier, and any other request from the origin. Passes on the interim responses of the
    /// origin; an answer of the tier has none.
    public func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        guard request.method == .get || request.method == .head, content == nil else {
            let response = try await origin.send(request, content: content, onInterimResponse: onInterimResponse)
            tier.invalidate(after: request, response.head)
            return response
        }
        guard tier.admits(request) else {
            return try await origin.send(request, content: nil, onInterimResponse: onInterimResponse)
        }
        let lookup = await tier.lookUp(request)
        if let hit = lookup.hit { return response(hit, to: request, isFromTier: true) }
        if Task.isCancelled { throw TransportError(.cancelled) }
        return try await fetch(request, onInterimResponse, after: lookup)
    }

    /// Requests the response of the origin: with the validators of a stale record, if there is one. The record answers
    /// after a 304, and if the origin fails.
    private func fetch(
        _ request: HTTPRequest, _ onInterimResponse: @escaping InterimReceiver, after lookup: SharedTier.Lookup
    ) async throws(TransportError) -> TransportResponse {
        // A load without upstream caches, such as the second one after unusable content, does not want the record.
        let mayValidate = lookup.reason == .stale && !CacheControl(request.headerFields).noCache
        let conditional = mayValidate ? lookup.decision?.conditionalRequest : nil
        let sent = conditional ?? request
        // The caller's own tags may be those of the record.
        let asks = conditional != nil || request.headerFields.contains(.ifNoneMatch)
        let asking = SharedTier.Asking(start: tier.configuration.uptime(), tierTime: tier.tierTime)
        let reply: TransportResponse
        do throws(TransportError) {
            reply = try await origin.send(sent, content: nil, onInterimResponse: onInterimResponse)
        } catch {
            if error.code != .cancelled, let stale = await stale(request, lookup, nil) { return stale }
            throw error
        }
        let decision = ReplyDecision(
            for: tier.exchange(sent, reply, asking), original: request, candidates: lookup.responses,
            question: asks ? lookup.decision?.question ?? .none : .none,
            policy: tier.policy(for: request), fingerprint: tier.layout.fingerprint)
        switch decision.action {
        case .freshen(let updates, let index, let isRemoved):
            tier.freshen(updates, isRemoved: isRemoved, to: request, asking, after: lookup)
            let candidate = lookup.candidates[index]
            let answer = await tier.answer(candidate, to: request, age: nil, freshened: updates[index])
            guard case .success(let hit?) = answer else { return try await again(request, onInterimResponse, lookup) }
            tier.count { $0.validations += 1 }
            return named(response(hit, to: request), after: lookup.reason, status: reply.head.status.code)
        // An origin that answers the plain request with a 304, too, would never end.
        case .retry where conditional != nil:
            return try await again(request, onInterimResponse, lookup)
        case .serveStale:
            if let stale = await stale(request, lookup, reply.head.status) { return stale }
        default: break
        }
        return named(keep(reply, decision, to: request, asking, after: lookup), after: lookup.reason)
    }

    /// Requests the response without the tier's validators, because no record can answer.
    private func again(
        _ request: HTTPRequest, _ onInterimResponse: @escaping InterimReceiver, _ lookup: SharedTier.Lookup
    ) async throws(TransportError) -> TransportResponse {
        var lookup = lookup
        (lookup.candidates, lookup.decision) = ([], nil)
        return try await fetch(request, onInterimResponse, after: lookup)
    }

    /// Returns the answer of a stale record after a failure of the origin, as far as `stale-if-error` permits.
    private func stale(
        _ request: HTTPRequest, _ lookup: SharedTier.Lookup, _ status: HTTPResponse.Status?
    ) async -> TransportResponse? {
        let policy = tier.policy(for: request)
        let index = StaleFallback.choose(
            for: request, candidates: lookup.responses, status: status, policy: policy, now: lookup.now,
            fingerprint: tier.layout.fingerprint)
        guard let index else { return nil }
        let candidate = lookup.candidates[index]
        let age = Freshness(of: candidate.record.head.response, policy: policy).age(at: lookup.now)
        guard case .success(let hit?) = await tier.answer(candidate, to: request, age: age) else { return nil }
        tier.count { $0.staleAnswers += 1 }
        return response(hit, to: request, isFromTier: true)
    }

    /// Keeps a response of the origin for the tier while its body is read, or removes the records that it contradicts.
    private func keep(
        _ reply: TransportResponse, _ decision: ReplyDecision, to request: HTTPRequest, _ asking: SharedTier.Asking,
        after lookup: SharedTier.Lookup
    ) -> TransportResponse {
        var reply = reply
        switch tier.keeping(decision, of: reply, to: request, asking) {
        case .fill(let fill):
            let (tier, lookup) = (tier, lookup.withoutBodies)
            let reader = FillingBody(reply.body, for: tier) { body in
                let isAdmitted = tier.writes.add(reserved: body.count) {
                    await tier.write(fill, body, for: request, after: lookup)
                }
                if !isAdmitted { tier.count { $0.droppedWrites += 1 } }
            }
            reply.body = TransportBody { () async throws(TransportError) in try await reader.next() }
        case .remove:
            tier.remove(lookup.candidates, olderThan: tier.exchange(request, reply, asking).responseTime)
        case .nothing: break
        }
        return reply
    }

    /// `isFromTier` tells whether the origin has not answered.
    private func response(
        _ hit: SharedTier.Hit, to request: HTTPRequest, isFromTier: Bool = false
    ) -> TransportResponse {
        let body: TransportBody
        switch hit.content {
        case .bytes(let bytes):
            body = TransportBody(bytes)
        case .object(let object, let first, let candidate):
            let reader = ResumingBody(
                object, first: first, of: candidate, tier: tier, request: request, origin: origin)
            body = TransportBody { () async throws(TransportError) in try await reader.next() }
        }
        return TransportResponse(head: hit.head, body: body, isBodyDecoded: hit.isBodyDecoded, isFromTier: isFromTier)
    }

    /// Returns a response with the tier's member of `Cache-Status` for a request that went to the origin.
    private func named(
        _ response: TransportResponse, after reason: ForwardReason, status: Int? = nil
    ) -> TransportResponse {
        var response = response
        CacheStatus.forward(reason, status: status).append(
            to: &response.head.headerFields, name: tier.configuration.name)
        return response
    }
}

extension SharedTier.Lookup {
    /// The result without the records, whose bodies would take memory while a body arrives.
    fileprivate var withoutBodies: SharedTier.Lookup {
        var copy = self
        (copy.hit, copy.candidates) = (nil, [])
        return copy
    }
}
