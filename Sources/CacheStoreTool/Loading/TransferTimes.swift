import CacheLoader
import Foundation
import HTTPTypes
import Synchronization

/// The times of the latest transfer of each URL.
final class TransferTimes: Sendable {
    struct Times {
        /// From sending the request to the head of the response.
        fileprivate(set) var head: Duration?
        /// From the head to the end of the body.
        fileprivate(set) var body: Duration?
    }

    /// Guards the times by URL.
    private let times = Mutex<[String: Times]>([:])

    /// - Parameter url: A normalised URL.
    subscript(url: String) -> Times? { times.withLock { $0[url] } }

    fileprivate func note(_ url: String, _ change: (inout Times) -> Void) {
        times.withLock { change(&$0[url, default: Times()]) }
    }
}

/// Measures the transfers of another transport.
struct TimedTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let times: TransferTimes

    init(_ base: any HTTPTransport, _ times: TransferTimes) {
        self.base = base
        self.times = times
    }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        let start = ContinuousClock.now
        var response = try await base.send(request, content: content)
        let arrival = ContinuousClock.now
        times.note(url) {
            $0.head = arrival - start
            $0.body = nil
        }
        let source = response.body
        response.body = TransportBody { [times] () async throws(TransportError) -> Data? in
            let chunk = try await source.next()
            if chunk == nil { times.note(url) { $0.body = ContinuousClock.now - arrival } }
            return chunk
        }
        return response
    }
}
