import CacheStore
import Dispatch
import Foundation
import Samples
import Synchronization

/// Measures single lookups while another thread evicts half of a store, and without an eviction.
///
/// The lookups record no access, because so many accesses would keep the writer busy.
struct LookupsDuringEviction {
    let place: Place
    let size: Int

    private static let quietCount = 50_000

    func facts() throws -> [Fact] {
        let store = try ResponseStore.unlimited(place.copy(place.files(size), as: "lookups during eviction"))
        let keys = try (0..<min(size, Self.quietCount)).map { number in
            try CacheKey(url: Sample.url(Reading.spread(number, over: size)))
        }
        let quiet = try latencies(store, keys) { $0 == Self.quietCount }
        let eviction = Eviction()
        Thread.detachNewThread { [size] in
            let result = Result { try store.evict(.maxEntries(size / 2)) }
            eviction.result.withLock { $0 = result }
        }
        let busy = try latencies(store, keys) { _ in eviction.result.withLock { $0 != nil } }
        _ = try eviction.result.withLock { $0 }?.get()
        return [("99 %", quiet?.p99, busy?.p99), ("99.9 %", quiet?.p999, busy?.p999)].map { name, quiet, busy in
            let (quiet, busy) = (quiet ?? .nan, busy ?? .nan)
            return Fact(
                name: "lookup, \(name), while half of \(Growth.name(size)) is evicted",
                value: "\(Table.time(busy)) (\(String(format: "%.2f", busy / quiet)) × quiet)")
        }
    }

    private func latencies(
        _ store: ResponseStore, _ keys: [CacheKey], until isEnough: (Int) -> Bool
    ) throws -> Latencies? {
        var times: [Double] = []
        while !isEnough(times.count) {
            let start = DispatchTime.now().uptimeNanoseconds
            _ = try store.peek(keys[times.count % keys.count])
            times.append(Double(DispatchTime.now().uptimeNanoseconds - start))
        }
        return Latencies(times)
    }

    private final class Eviction: Sendable {
        /// Guards the result of the eviction, which is `nil` while the eviction runs.
        let result = Mutex<Result<EvictionReport, any Error>?>(nil)
    }
}
