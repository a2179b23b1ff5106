import CacheLoader
import Foundation
import HTTPTypes
import Synchronization

/// A transport that shows the transfers of another one on the progress line.
struct ProgressTransport: HTTPTransport {
    private let base: any HTTPTransport
    private let progress: ProgressLine

    init(_ base: any HTTPTransport, _ progress: ProgressLine) {
        self.base = base
        self.progress = progress
    }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { base.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let place = request.authority ?? ""
        progress.say("asking \(place)")
        var response = try await base.send(request, content: content)
        let total = response.head.headerFields[.contentLength].flatMap { Int64($0) }
        let source = response.body
        let received = Counter()
        let meter = WorkMeter(place, .bytes)
        response.body = TransportBody { [progress] () async throws(TransportError) -> Data? in
            let chunk = try await source.next()
            if let chunk {
                let count = received.add(chunk.count)
                progress.say(meter.text(done: count, total: total))
            }
            return chunk
        }
        return response
    }
}

private final class Counter: Sendable {
    private let count = Atomic<Int64>(0)

    func add(_ number: Int) -> Int64 {
        count.add(Int64(number), ordering: .relaxed).newValue
    }
}
