import CacheLoader
import Foundation
import HTTPTypes

/// Counts the bytes of the bodies of another transport. Sends no request once the batch is stopped.
struct MeteredTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let batch: LoadBatch

    init(_ base: any HTTPTransport, _ batch: LoadBatch) {
        self.base = base
        self.batch = batch
    }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        guard !batch.isStopped else { throw TransportError(.cancelled) }
        var response = try await base.send(request, content: content)
        let source = response.body
        response.body = TransportBody { [batch] () async throws(TransportError) -> Data? in
            let chunk = try await source.next()
            if let chunk { batch.received(chunk.count) }
            return chunk
        }
        return response
    }
}
