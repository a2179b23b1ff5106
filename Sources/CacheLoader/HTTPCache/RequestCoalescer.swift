internal import CacheStore
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
        /// The request of another caller was sent, and its head has arrived. The body keeps arriving while this
        /// response is held.
        case decideAgain(CachedResponse)
        /// The request that was sent failed.
        case failed(LoadError)
    }

    private struct Waiter {
        let ticket: UInt64
        let continuation: CheckedContinuation<Outcome, Never>
    }

    /// A request in flight to the origin, and the callers that wait for it in the order of their arrival.
    private struct InFlight {
        /// The ticket of the caller that sent the request.
        let sender: UInt64
        let task: Task<Void, Never>
        var waiters: [Waiter]
    }

    private struct State {
        var requests: [CacheKey: InFlight] = [:]
        /// Responses whose bodies are arriving.
        var responses: [CacheKey: [UInt64: ArrivingResponse]] = [:]
        var lastNumber: UInt64 = 0
        var epochs = Epochs(capacity: 256)
        /// Keys whose last response could not be shared, and the time until which their requests do not wait for each
        /// other. A dropped key costs one more wait.
        var uncacheable = BoundedDictionary<CacheKey, HTTPDate>()
        /// Keys whose lock another process held for longer than a caller waits. A dropped key costs one more wait.
        var hung = BoundedDictionary<CacheKey, Void>()

        mutating func makeNumber() -> UInt64 {
            lastNumber += 1
            return lastNumber
        }

        /// Adds a waiter. Starts its request if none is in flight for the key, and returns whether it did.
        mutating func join(_ key: CacheKey, _ waiter: Waiter, start: () -> Task<Void, Never>) -> Bool {
            guard requests[key] == nil else {
                requests[key]?.waiters.append(waiter)
                return false
            }
            requests[key] = InFlight(sender: waiter.ticket, task: start(), waiters: [waiter])
            return true
        }

        /// Ends a request. Returns its waiters, or none for a request that was stopped.
        mutating func end(_ key: CacheKey, sentBy sender: UInt64) -> [Waiter] {
            // A stopped request counts, too: it may have stored its response before it noticed the stop.
            epochs.advance(key)
            guard requests[key]?.sender == sender else { return [] }
            return requests.removeValue(forKey: key)?.waiters ?? []
        }

        /// Returns the waiter, unless it has its result, and the task to stop if it was the last waiter.
        mutating func leave(_ key: CacheKey, _ ticket: UInt64) -> (waiter: Waiter?, stop: Task<Void, Never>?) {
            guard let index = requests[key]?.waiters.firstIndex(where: { $0.ticket == ticket }) else {
                return (nil, nil)
            }
            let waiter = requests[key]?.waiters.remove(at: index)
            let isLast = requests[key]?.waiters.isEmpty == true
            return (waiter, isLast ? requests.removeValue(forKey: key)?.task : nil)
        }
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
        let ticket = makeNumber()
        var didSend = false
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(ticket: ticket, continuation: continuation)
                // The task begins under the lock, so that it cannot end before the table has it.
                didSend = state.withLock { state in
                    state.join(key, waiter) { Task { await self.run(key, sentBy: ticket, send) } }
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
        let (waiter, stop) = state.withLock { $0.leave(key, ticket) }
        stop?.cancel()
        waiter?.continuation.resume(returning: .failed(.cancelled))
    }

    private func run(
        _ key: CacheKey, sentBy ticket: UInt64, _ send: @Sendable () async throws(LoadError) -> CachedResponse
    ) async {
        let result: Result<CachedResponse, LoadError>
        do {
            result = .success(try await send())
        } catch {
            result = .failure(error)
        }
        for waiter in state.withLock({ $0.end(key, sentBy: ticket) }) {
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

    /// Whether the last response for a key could not be shared.
    func isUncacheable(_ key: CacheKey, at now: HTTPDate) -> Bool {
        // A wait for the next response would only double the delay.
        state.withLock { state in state.uncacheable[key].map { now < $0 } ?? false }
    }

    /// Records that a response for a key answers only its own request. A stored response ends this.
    func noteUncacheable(_ key: CacheKey, at now: HTTPDate) {
        state.withLock { $0.uncacheable[key] = now.advanced(by: Self.uncacheableTime) }
    }

    // MARK: Arriving responses

    /// Returns a number for a caller, or for a response whose body is about to arrive.
    func makeNumber() -> UInt64 { state.withLock { $0.makeNumber() } }

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
        // RFC 9111 §4: "When more than one suitable response is stored, a cache MUST use the most recent one".
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
