import CacheLoader
import Foundation
import HTTPTypes
import Samples
import Synchronization

/// Answers each request with 16 KiB, once the expected number of callers has arrived.
final class WaitingTransport: HTTPTransport {
    private struct State {
        var asked = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Guards the number of callers and the waiting requests.
    private let state = Mutex(State())
    private let expected: Int

    init(expected: Int) { self.expected = expected }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { request }

    /// Counts a caller that is about to load.
    func ask() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.asked += 1
            guard state.asked.isMultiple(of: expected) else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func send(
        _ request: HTTPRequest, content: RequestContent?, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                if state.asked.isMultiple(of: expected) { return true }
                state.waiters.append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
        let head = HTTPResponse(
            status: .ok,
            headerFields: [.date: Sample.date(Date()), .cacheControl: "max-age=3600", .contentType: "image/jpeg"])
        return TransportResponse(head: head, body: TransportBody(Sample.body(0, .kib16)))
    }
}
