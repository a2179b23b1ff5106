internal import CacheFoundation
internal import CacheLoader
internal import Synchronization

/// The body of a hit. If the tier fails during the transfer, the origin supplies the rest. The origin sends the whole
/// response again. Its chunks are compared with the same record, so the rest belongs to the same representation. The
/// body fails only if the representation has changed.
final class ResumingBody: Sendable {
    private struct State {
        var first: Data?
        var body: VerifiedBody
        var isFromOrigin = false
        var deliveredCount = 0
        /// The remaining time for the tier.
        var allowance: Duration
        /// The end, which every later read repeats.
        var end: Result<Void, TransportError>?
    }

    /// The additional time for each MiB of the body.
    private static let timePerMebibyte = Duration.seconds(1)

    private let tier: SharedTier
    private let candidate: SharedTier.Candidate
    private let request: HTTPRequest
    private let origin: any HTTPTransport
    /// The uptime at the beginning.
    private let start: Duration
    /// Guards the position of the reader.
    private let state: Mutex<State>

    init(
        _ body: VerifiedBody, first: Data, of candidate: SharedTier.Candidate, tier: SharedTier, request: HTTPRequest,
        origin: any HTTPTransport
    ) {
        self.tier = tier
        self.candidate = candidate
        self.request = request
        self.origin = origin
        start = tier.configuration.uptime()
        let allowance =
            tier.configuration.bodyDeadline
            + Self.timePerMebibyte * (Double(candidate.record.head.byteCount) / Double(1 << 20))
        state = Mutex(State(first: first, body: body, allowance: allowance))
    }

    func next() async throws(TransportError) -> Data? {
        if let end = state.withLock({ $0.end }) {
            try end.get()
            return nil
        }
        do throws(TransportError) {
            let chunk = try await nextChunk()
            if chunk == nil { state.withLock { $0.end = .success(()) } }
            return chunk
        } catch {
            state.withLock { $0.end = .failure(error) }
            throw error
        }
    }

    private func nextChunk() async throws(TransportError) -> Data? {
        if let first = state.withLock({ $0.first.take() }) {
            state.withLock { $0.deliveredCount += 1 }
            return first
        }
        let (body, isFromOrigin) = state.withLock { ($0.body, $0.isFromOrigin) }
        let step = isFromOrigin ? await body.next() : await nextFromTier(body)
        switch step {
        case .complete:
            return nil
        case .chunk(let chunk):
            state.withLock { $0.deliveredCount += 1 }
            return chunk
        case .unavailable, .damaged:
            if Task.isCancelled { throw TransportError(.cancelled) }
            guard !isFromOrigin else { throw truncated(after: step) }
            if case .damaged = step {
                tier.refuse(candidate)
                tier.count { $0.refused.damagedBodies += 1 }
            } else {
                let now = tier.configuration.uptime()
                tier.change { $0.breaker.failed(from: start, to: now) }
            }
            tier.count { $0.resumedBodies += 1 }
            try await resume()
            return try await nextChunk()
        }
    }

    /// Returns the next step within the deadline and the remaining time for the whole body.
    private func nextFromTier(_ body: VerifiedBody) async -> VerifiedBody.Step {
        let configuration = tier.configuration
        let start = configuration.uptime()
        let limit = min(configuration.bodyDeadline, state.withLock { $0.allowance })
        guard limit > .zero else { return .unavailable }
        let step = await body.next(within: limit, configuration.sleep)
        let end = configuration.uptime()
        // Only the time of the tier counts: a slow reader must not use up the allowance.
        state.withLock { $0.allowance -= end - start }
        return step
    }

    /// If the origin has other bytes, refuses the record, so that only this load fails.
    private func truncated(after step: VerifiedBody.Step) -> TransportError {
        guard case .damaged = step else {
            return TransportError(.truncated, message: "the tier failed, and then the origin")
        }
        tier.refuse(candidate)
        return TransportError(.truncated, message: "the tier failed, and the origin has another representation")
    }

    /// Requests the response from the origin, and reads up to the last delivered chunk.
    private func resume() async throws(TransportError) {
        var request = request
        request.headerFields[fields: .ifNoneMatch] = []
        request.headerFields[fields: .ifModifiedSince] = []
        // Request the whole body, even if the original request asked for a range.
        request.headerFields[fields: .range] = []
        request.headerFields[fields: .ifRange] = []
        let response: TransportResponse
        do throws(TransportError) {
            response = try await origin.send(request, content: nil)
        } catch {
            throw error.code == .cancelled ? error : truncated(after: .unavailable)
        }
        let body = VerifiedBody(response.body, of: candidate.record)
        let status = response.head.status
        let isSame = status == candidate.record.head.response.status
        // A server error says nothing about the representation.
        var step = status.kind == .serverError ? VerifiedBody.Step.unavailable : .damaged
        for _ in 0..<(isSame ? state.withLock { $0.deliveredCount } : 0) {
            step = await body.next()
            guard case .chunk = step else { break }
        }
        guard case .chunk = step else { throw truncated(after: step) }
        state.withLock { state in
            state.body = body
            state.isFromOrigin = true
        }
    }
}
