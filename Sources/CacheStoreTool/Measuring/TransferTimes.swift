import CacheLoader
import Foundation
import HTTPTypes
import Synchronization

/// The times of the latest transfer of each URL.
final class TransferTimes: Sendable {
    struct Times {
        /// The time from sending the request to the head of the response.
        fileprivate(set) var head: Duration?
        /// The time from the head to the end of the body.
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

extension WatchedTransport {
    /// Creates a transport that measures the transfers of another transport.
    init(_ base: any HTTPTransport, measuring times: TransferTimes) {
        self.init(base) { request throws(TransportError) in
            let url = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
            let start = ContinuousClock.now
            return { _ in
                let arrival = ContinuousClock.now
                times.note(url) {
                    $0.head = arrival - start
                    $0.body = nil
                }
                return { chunk in
                    if chunk == nil { times.note(url) { $0.body = ContinuousClock.now - arrival } }
                }
            }
        }
    }
}
