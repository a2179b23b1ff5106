internal import CacheLoader
internal import HTTPTypes
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The body of a hit. If the tier fails while it arrives, the rest comes from the origin.
///
/// The origin sends the whole response once more. Its chunks are compared with the same record, so that the rest
/// belongs to the same representation. The body fails only if the origin has another representation by then.
final class ResumingBody: Sendable {
    private struct State {
        var first: Data?
        var body: VerifiedBody
        var isFromOrigin = false
        var deliveredCount = 0
    }

    private let tier: SharedTier
    private let candidate: SharedTier.Candidate
    private let request: HTTPRequest
    private let origin: any HTTPTransport
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
        state = Mutex(State(first: first, body: body))
    }

    func next() async throws(TransportError) -> Data? {
        if let first = state.withLock({ $0.first.take() }) {
            state.withLock { $0.deliveredCount += 1 }
            return first
        }
        let (body, isFromOrigin) = state.withLock { ($0.body, $0.isFromOrigin) }
        let step =
            isFromOrigin
            ? await body.next() : await body.next(within: tier.configuration.bodyDeadline, tier.configuration.sleep)
        switch step {
        case .complete: return nil
        case .chunk(let chunk):
            state.withLock { $0.deliveredCount += 1 }
            return chunk
        case .unavailable, .damaged:
            if Task.isCancelled { throw TransportError(.cancelled) }
            guard !isFromOrigin else {
                throw TransportError(.truncated, message: "the tier failed, and the origin has another representation")
            }
            if case .damaged = step { tier.refuse(candidate) }
            tier.count { $0.resumedBodies += 1 }
            try await resume()
            return try await next()
        }
    }

    /// Requests the response from the origin, and reads up to the last delivered chunk.
    private func resume() async throws(TransportError) {
        var request = request
        request.headerFields[fields: .ifNoneMatch] = []
        request.headerFields[fields: .ifModifiedSince] = []
        let response = try await origin.send(request, content: nil)
        let body = VerifiedBody(response.body, of: candidate.record)
        let (count, isSame) = (
            state.withLock { $0.deliveredCount }, response.head.status == candidate.record.head.response.status
        )
        var step = VerifiedBody.Step.damaged
        for _ in 0..<(isSame ? count : 0) {
            step = await body.next()
            guard case .chunk = step else { break }
        }
        guard case .chunk = step else {
            throw TransportError(.truncated, message: "the tier failed, and the origin has another representation")
        }
        state.withLock { state in
            state.body = body
            state.isFromOrigin = true
        }
    }
}
