internal import CacheFoundation
public import CacheLoader
internal import HTTPCaching
public import HTTPTypes
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
/// `truncated`. With an engine that has conditional writes, a lease may take another deadline, or two if its `PUT` is
/// repeated on the way. A wait for the response of another machine takes at most ``SharedTier/Configuration/leaseWait``
/// and four deadlines. Safe to use from any task.
public struct TieredTransport: HTTPTransport {
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

    /// Answers a GET or HEAD from the tier, and any other request from the origin.
    public func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        try await send(request, content: content, nil)
    }

    /// Answers like ``send(_:content:)``, and passes on the interim responses of the origin. An answer of the tier has
    /// no interim responses.
    public func send(
        _ request: HTTPRequest, content: RequestContent?,
        onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        let interimResponses = InterimResponses(onInterimResponse)
        // The tier may answer while the origin is still sending interim responses.
        defer { interimResponses.end() }
        return try await send(request, content: content, interimResponses)
    }

    private func send(
        _ request: HTTPRequest, content: RequestContent?, _ interimResponses: InterimResponses?
    ) async throws(TransportError) -> TransportResponse {
        guard request.method == .get || request.method == .head, content == nil else {
            let response = try await origin.send(request, content: content, interimResponses: interimResponses)
            tier.invalidate(after: request, response.head)
            return response
        }
        guard tier.admits(request) else {
            return try await origin.send(request, content: nil, interimResponses: interimResponses)
        }
        guard tier.state.withLock({ $0.plan.asksInSeries }) else {
            return try await sendAtOnce(request, interimResponses)
        }
        let start = tier.configuration.uptime()
        var lookup = await tier.lookUp(request)
        if let hit = lookup.hit { return response(hit, to: request) }
        if tier.mayWrite(request) {
            let elapsed = tier.configuration.uptime() - start
            lookup = await tier.completeEpochs(of: lookup, within: tier.configuration.deadline - elapsed)
        }
        switch await tier.turn(of: request, after: lookup) {
        case .answer(let hit):
            return response(hit, to: request)
        case .ask(let lookup, let lease):
            tier.countMiss(of: lookup)
            if Task.isCancelled { throw TransportError(.cancelled) }
            return try await fetch(request, interimResponses, reason: lookup.reason, lease: lease) { lookup }
        }
    }

    /// Asks tier and origin in parallel. The first usable response answers.
    private func sendAtOnce(
        _ request: HTTPRequest, _ interimResponses: InterimResponses?
    ) async throws(TransportError) -> TransportResponse {
        enum First: Sendable {
            case tier(SharedTier.Lookup)
            case origin(Result<TransportResponse, TransportError>)
            case cancelled

            /// The response of the origin, if it can answer before the tier does.
            var response: TransportResponse? {
                guard case .origin(.success(let response)) = self, response.head.status.code < 500 else { return nil }
                return response
            }
        }
        let start = tier.time
        let first = FirstResult<First>()
        // Only this call keeps the hit with its connection. The fill keeps the rest of the lookup.
        let complete = FirstResult<SharedTier.Lookup>()
        let lookup = Task { [tier] in
            var lookup = await tier.lookUp(request)
            // The epochs that the engine had before the origin was asked.
            lookup.epochs = tier.knownEpochs(tier.layout.epochs(of: request), at: start)
            lookup.commonTagEpoch = tier.knownEpochs([tier.layout.commonTagEpoch], at: start)?.first
            tier.countMiss(of: lookup)
            complete.finish(lookup)
            if !first.finish(.tier(lookup)), lookup.hit != nil, await first.value().response != nil {
                tier.count { $0.lateHits += 1 }
            }
            // Only later requests can use these epochs, because they are written after the origin was asked.
            let missing = lookup.missingEpochs
            if !missing.isEmpty, tier.mayWrite(request) { Task { await tier.writeMissing(missing) } }
            return lookup.withoutHit
        }
        let fetching = Task { () -> Result<TransportResponse, TransportError> in
            let result: Result<TransportResponse, TransportError>
            do throws(TransportError) {
                result = .success(try await fetch(request, interimResponses) { await lookup.value })
            } catch {
                result = .failure(error)
            }
            first.finish(.origin(result))
            return result
        }
        let winner = await withTaskCancellationHandler {
            await first.value()
        } onCancel: {
            lookup.cancel()
            fetching.cancel()
            first.finish(.cancelled)
        }
        switch winner {
        case .cancelled:
            throw TransportError(.cancelled)
        case .tier(let lookup):
            if let hit = lookup.hit {
                fetching.cancel()
                return response(hit, to: request)
            }
            let result = await withTaskCancellationHandler {
                await fetching.value
            } onCancel: {
                fetching.cancel()
            }
            return try result.get()
        case .origin(let result):
            // The lookup continues for its measurement, and for the write after it.
            if let response = winner.response { return response }
            if let hit = await complete.value().hit { return self.response(hit, to: request) }
            return try result.get()
        }
    }

    /// Returns the response of a hit, and counts the hit.
    private func response(_ hit: SharedTier.Hit, to request: HTTPRequest) -> TransportResponse {
        tier.count { $0.hits += 1 }
        let body: TransportBody
        switch hit.content {
        case .bytes(let bytes):
            body = TransportBody(bytes)
        case .object(let object, let first, let candidate):
            let reader = ResumingBody(
                object, first: first, of: candidate, tier: tier, request: request, origin: origin)
            body = TransportBody { () async throws(TransportError) in try await reader.next() }
        }
        return TransportResponse(head: hit.head, body: body, isBodyDecoded: hit.isBodyDecoded)
    }

    /// Requests the response of the origin. Keeps its body for the tier while it is read.
    ///
    /// - Parameters:
    ///   - interimResponses: Receives the interim responses. `nil` ignores them.
    ///   - reason: The reason in `Cache-Status`, or `nil` while the lookup is running.
    ///   - lease: The lease of this machine. Ends when the response is written, or is known not to be.
    ///   - lookup: Returns the result of the lookup. Called after the body is complete.
    private func fetch(
        _ request: HTTPRequest, _ interimResponses: InterimResponses?, reason: ForwardReason? = nil,
        lease: Lease? = nil,
        after lookup: @escaping @Sendable () async -> SharedTier.Lookup
    ) async throws(TransportError) -> TransportResponse {
        let uptime = tier.configuration.uptime
        let start = uptime()
        var response = try await origin.send(request, content: nil, interimResponses: interimResponses)
        let arrival = uptime()
        tier.state.withLock { $0.plan.noteOrigin(arrival - start) }
        let status = response.head.status
        if status == .notModified {
            tier.freshen(
                by: response.head, to: request, delay: arrival - start, arrival: arrival, lease: lease, after: lookup)
            return named(response, after: reason)
        }
        switch tier.keeping(of: response, to: request, delay: arrival - start, arrival: arrival) {
        case .fill(let fill):
            let tier = tier
            let reader = FillingBody(response.body, for: tier, lease: lease) { body in
                let isAdmitted = tier.writes.add(byteCount: body.count) {
                    let lookup = await lookup()
                    if !fill.fits(body) {
                        tier.count { $0.droppedWrites += 1 }
                    } else if !lookup.isPresent {
                        // No other machine was faster.
                        await tier.write(fill, body, for: request, after: lookup)
                    }
                    await lease?.end()
                }
                if !isAdmitted {
                    tier.count { $0.droppedWrites += 1 }
                    lease?.giveUp()
                }
            }
            response.body = TransportBody { () async throws(TransportError) in try await reader.next() }
        case .remove:
            tier.removeRecords(olderThan: response.head, foundBy: lookup)
            lease?.leaveNote()
        case .nothing:
            // Such errors are usually short, and a limited origin must not get the requests of all machines.
            if status.kind != .serverError, status != .tooManyRequests { lease?.leaveNote() }
        }
        return named(response, after: reason)
    }

    /// Returns a response of the origin, with the tier's member of `Cache-Status` if the lookup has given a reason.
    private func named(_ response: TransportResponse, after reason: ForwardReason?) -> TransportResponse {
        guard let reason else { return response }
        var response = response
        CacheStatus.forward(reason).append(to: &response.head.headerFields, name: tier.configuration.name)
        return response
    }
}
