internal import CacheFoundation
internal import CacheStore
internal import CoreMetrics
internal import Synchronization

/// Measures a request to an origin, from its sending to the end or the release of its response.
final class ObservedRequest: Sendable {
    private let meters: CacheMeters
    private let recorded: RecordedRequest?
    private let clock: @Sendable () -> Date
    private let beganAt: Date
    private let isOver = Atomic(false)

    /// Records the sending of the request. Create the object immediately before it.
    init(_ meters: CacheMeters, _ recorded: RecordedRequest?, clock: @escaping @Sendable () -> Date) {
        self.meters = meters
        self.recorded = recorded
        self.clock = clock
        beganAt = clock()
        meters.originRequests.add()
        meters.requestsUnderWay.increment()
        meters.activity.began()
    }

    deinit {
        end()
    }

    private func end() {
        guard !isOver.exchange(true, ordering: .relaxed) else { return }
        meters.requestsUnderWay.decrement()
        meters.requestTimer.record(seconds: clock().timeIntervalSince(beganAt))
        meters.activity.ended()
    }

    /// Records the arrival of the head. Returns a body that counts its bytes while they are read.
    func headArrived(_ body: TransportBody) -> TransportBody {
        meters.headTimer.record(seconds: clock().timeIntervalSince(beganAt))
        return TransportBody { () async throws(TransportError) in
            do throws(TransportError) {
                let chunk = try await body.next()
                if let chunk {
                    self.meters.networkBytes.add(Int64(chunk.count))
                    self.recorded?.addNetworkBytes(chunk.count)
                } else {
                    self.end()
                }
                return chunk
            } catch {
                self.end()
                throw error
            }
        }
    }
}
