internal import CacheStore
internal import HTTPCaching
internal import Synchronization

/// Coalesces requests for one key: one request goes to the origin, and its response may answer the others (RFC 9111
/// §4). All caches and loaders on a store share one coalescer. The first request for a key goes to the origin in a
/// separate task. Later requests wait for the head of its response, then decide again with the response that is stored
/// or arriving. The coalescer does not decide whether a request may share the response. A request that may not share it
/// goes to the origin by itself.
final class RequestCoalescer: Sendable {
    enum Outcome: Sendable {
        /// The request of this caller was sent, and got this response.
        case answered(CachedResponse)
        /// The request of another caller was sent, and its head has arrived. The body keeps arriving while this response
        /// is held.
        case decideAgain(CachedResponse)
        /// The request that was sent failed.
        case failed(LoadError)
    }

    private struct Waiter {
        let ticket: UInt64
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var requests = InFlightRequests<CacheKey, Waiter, Task<Void, Never>>()
        /// Responses whose bodies are arriving.
        var responses: [CacheKey: [UInt64: ArrivingResponse]] = [:]
        var lastNumber: UInt64 = 0
        var epochs = Epochs(capacity: 256)
        /// Keys whose last response could not be shared, and the time until which their requests do not wait for each other.
        /// A dropped key costs one more wait.
        var uncacheable = BoundedDictionary<CacheKey, HTTPDate>()
        /// Keys whose lock another process held for longer than a caller waits. A dropped key costs one more wait.
        var hung = BoundedDictionary<CacheKey, Void>()
    }

    /// The time in seconds during which a key stays in `uncacheable`.
    static let uncacheableTime: Int64 = 120

    /// Guards only the table. Continuations are resumed outside.
    private let state = Mutex(State())

    /// Background revalidations, and their failures.
    let revalidations = Revalidations()

    static func of(_ store: ResponseStore) -> RequestCoalescer {
        store.shared { RequestCoalescer() }
    }

    /// The end of a request and the end of an arriving body begin a new epoch. Suppose a caller finds no response in
    /// the store, and then none arriving. If the epoch has not changed since before the lookup, the miss is conclusive.
    func epoch(of key: CacheKey) -> Epoch { state.withLock { $0.epochs[key] } }

    // MARK: Requests

    /// Waits for the request that is in flight for `key`, or runs `send` as that request. A cancellation of the calling
    /// task ends the wait immediately; the request continues for the other callers. `didSend` tells whether `send` is
    /// the request in flight.
    func join(
        _ key: CacheKey, send: @escaping @Sendable () async throws(LoadError) -> CachedResponse
    ) async -> (Outcome, didSend: Bool) {
        let ticket = state.withLock { $0.requests.ticket() }
        var didSend = false
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(ticket: ticket, continuation: continuation)
                state.withLock { state in
                    state.requests.join(key, ticket, waiter) { number in
                        didSend = true
                        return Task { await self.run(key, number, sentBy: ticket, send) }
                    }
                }
                // An earlier cancellation found no waiter.
                if Task.isCancelled { leave(key, ticket) }
            }
        } onCancel: {
            leave(key, ticket)
        }
        return (outcome, didSend)
    }

    private func leave(_ key: CacheKey, _ ticket: UInt64) {
        let (waiter, stop) = state.withLock { $0.requests.leave(key, ticket) }
        stop?.cancel()
        waiter?.continuation.resume(returning: .failed(.cancelled))
    }

    private func run(
        _ key: CacheKey, _ number: UInt64, sentBy ticket: UInt64,
        _ send: @Sendable () async throws(LoadError) -> CachedResponse
    ) async {
        let result: Result<CachedResponse, LoadError>
        do {
            result = .success(try await send())
        } catch {
            result = .failure(error)
        }
        let waiters = state.withLock { state in
            state.epochs.advance(key)
            return state.requests.end(key, number)
        }
        for waiter in waiters {
            let outcome: Outcome =
                switch result {
                // If the caller that sent it has left, the response belongs to none of them.
                case .success(let response):
                    waiter.ticket == ticket ? .answered(response) : .decideAgain(response)
                case .failure(let error): .failed(error)
                }
            waiter.continuation.resume(returning: outcome)
        }
    }

    // MARK: Other processes

    /// Whether another process has held the lock of a key for longer than a caller waits, and still holds it.
    func isHung(_ key: CacheKey) -> Bool { state.withLock { $0.hung[key] != nil } }

    /// Records the result of a wait for the lock of a key.
    func noteWait(_ key: CacheKey, succeeded: Bool, limit: Duration) {
        guard succeeded || limit > .zero else { return }
        state.withLock { $0.hung[key] = succeeded ? nil : () }
    }

    // MARK: Responses that cannot be shared

    /// Whether the last response for a key could not be shared: a wait for the next one would only double the delay.
    func isUncacheable(_ key: CacheKey, at now: HTTPDate) -> Bool {
        state.withLock { state in state.uncacheable[key].map { now < $0 } ?? false }
    }

    /// Records that a response for a key answers only its own request. A stored response ends this.
    func noteUncacheable(_ key: CacheKey, at now: HTTPDate) {
        state.withLock { $0.uncacheable[key] = now.advanced(by: Self.uncacheableTime) }
    }

    // MARK: Arriving responses

    /// Returns a number for a response whose body is about to arrive.
    func makeNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    func add(_ response: ArrivingResponse, for key: CacheKey, _ number: UInt64) {
        state.withLock { state in
            state.responses[key, default: [:]][number] = response
            state.uncacheable[key] = nil
        }
    }

    func remove(_ key: CacheKey, _ number: UInt64) {
        let removed = state.withLock { state in
            let removed = state.responses[key]?.removeValue(forKey: number)
            if state.responses[key]?.isEmpty ?? false { state.responses[key] = nil }
            state.epochs.advance(key)
            return removed
        }
        // Release its references outside the lock.
        _ = consume removed
    }

    /// The arriving responses for a key, the latest first.
    func responses(for key: CacheKey) -> [ArrivingResponse] {
        state.withLock { $0.responses[key]?.sorted { $0.key > $1.key }.map(\.value) ?? [] }
    }
}

/// A response that will be stored, and whose body is arriving.
struct ArrivingResponse: Sendable {
    /// The response as it will be stored.
    let response: StoredResponse
    let body: SharedBody
    /// The length of the body, if it was announced.
    let length: Int64?
    /// The generation of the store when the request was sent, if the store was readable.
    let generation: StoreGeneration?
    /// Whether the body is compared with its digests.
    let verifiesDigests: Bool
}
