internal import CacheLoader
internal import HTTPTypes
internal import Hummingbird
internal import Synchronization

/// Passes a cache's requests to the waiting middleware of the same task or of its parent task.
struct RouteTransport: HTTPTransport {
    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Sends the head. The middleware passes the content of the request to the route itself.
    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        guard let exchange = RouteExchange.current else {
            throw TransportError(.unsupportedRequest, message: "no request waits for its route")
        }
        return try await exchange.send(request)
    }
}

/// Passes requests of a cache to the middleware, and responses of the routes back to the cache.
final class RouteExchange: Sendable {
    /// A request that calls the route.
    struct Call: Sendable {
        let request: HTTPRequest
        fileprivate let answer: CheckedContinuation<Result<Response, TransportError>, Never>

        func succeed(_ response: Response) { answer.resume(returning: .success(response)) }

        func fail(isCancelled: Bool) {
            let error = isCancelled ? TransportError(.cancelled) : TransportError(.other, message: "the route failed")
            answer.resume(returning: .failure(error))
        }
    }

    private enum State {
        case idle
        case called(Call)
        case waiting(CheckedContinuation<Call?, Never>)
        case closed
    }

    /// The exchange of the request that the current task serves.
    @TaskLocal static var current: RouteExchange?

    /// Guards the call and the wait for it. Continuations resume outside the lock.
    private let state = Mutex(State.idle)
    /// Guards the body of the latest response.
    private let body = Mutex<RouteBody?>(nil)

    // MARK: The middleware's side

    /// Returns the cache's answer and ends the calls.
    func answer(_ head: HTTPRequest, from cache: HTTPCache) async -> Result<CachedResponse, LoadError> {
        let answer: Result<CachedResponse, LoadError>
        do throws(LoadError) {
            answer = .success(try await Self.response(for: head, from: cache, in: self))
        } catch {
            answer = .failure(error)
        }
        close()
        return answer
    }

    private static func response(
        for head: HTTPRequest, from cache: HTTPCache, in exchange: RouteExchange
    ) async throws(LoadError) -> CachedResponse {
        let result: Result<CachedResponse, LoadError> = await $current.withValue(exchange) {
            do throws(LoadError) {
                return .success(try await cache.response(for: head))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Waits for the next call of the route. Returns `nil` once the cache has answered.
    func nextCall() async -> Call? {
        await withCheckedContinuation { waiter in
            let call: Call?? = state.withLock { state in
                switch state {
                case .called(let call):
                    state = .idle
                    return call
                case .closed: return .some(nil)
                case .idle, .waiting:
                    state = .waiting(waiter)
                    return nil
                }
            }
            if let call { waiter.resume(returning: call) }
        }
    }

    /// The trailers of the route's response, after its body has been read to the end.
    var trailers: @Sendable () -> HTTPFields? {
        { [self] in body.withLock { $0 }?.trailers }
    }

    private func close() {
        let last = state.withLock { state in
            defer { state = .closed }
            return state
        }
        switch last {
        case .called(let call): call.fail(isCancelled: true)
        case .waiting(let waiter): waiter.resume(returning: nil)
        case .idle, .closed: break
        }
    }

    // MARK: The cache's side

    /// Makes the middleware call the route. Fails as cancelled once the middleware has its answer. The request of
    /// another client then calls the route itself.
    fileprivate func send(_ request: HTTPRequest) async throws(TransportError) -> TransportResponse {
        let result = await withCheckedContinuation { answer in
            let call = Call(request: request, answer: answer)
            let (waiter, isAccepted): (CheckedContinuation<Call?, Never>?, Bool) = state.withLock { state in
                switch state {
                case .waiting(let waiter):
                    state = .idle
                    return (waiter, true)
                case .idle:
                    state = .called(call)
                    return (nil, true)
                case .called, .closed: return (nil, false)
                }
            }
            if !isAccepted { call.fail(isCancelled: true) }
            waiter?.resume(returning: call)
        }
        let response = try result.get()
        let body = RouteBody(response.body)
        self.body.withLock { $0 = body }
        return TransportResponse(
            head: response.head, body: TransportBody { () async throws(TransportError) in try await body.next() })
    }
}
