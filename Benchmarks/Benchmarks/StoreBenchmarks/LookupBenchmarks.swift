import Benchmark
import CBaseline
import CacheLoader
import CacheStore
import Foundation
import HTTPTypes

/// Lookups and hits among 100,000 entries, each beside the same work in C.
func lookupBenchmarks() {
    let count = 100_000
    nonisolated(unsafe) var filled: FilledStore!  // Set up before the first benchmark runs, on the one thread they all use.
    let setup: @Sendable () -> Void = {
        if filled == nil { filled = try! FilledStore(entryCount: count) }
    }
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock, .throughput], timeUnits: .nanoseconds, warmupIterations: 3, scalingFactor: .kilo,
        maxDuration: .seconds(3), maxIterations: 1000)

    Benchmark("lookup, C", configuration: configuration) { benchmark in
        var digest = [UInt8](repeating: 0, count: 32)
        var next = 0
        for _ in benchmark.scaledIterations {
            next = (next + 7919) % count
            var url = filled.urls[next]
            blackHole(url.withUTF8 { baseline_lookup(filled.baseline, $0.baseAddress, Int32($0.count), &digest) })
        }
    } setup: { setup() }

    Benchmark("lookup, store, not recorded", configuration: configuration) { benchmark in
        var next = 0
        for _ in benchmark.scaledIterations {
            next = (next + 7919) % count
            blackHole(try! filled.store.peek(filled.keys[next]))
        }
    } setup: { setup() }

    Benchmark("lookup, store", configuration: configuration) { benchmark in
        var next = 0
        for _ in benchmark.scaledIterations {
            next = (next + 7919) % count
            blackHole(try! filled.store.lookup(filled.keys[next]))
        }
    } setup: { setup() }

    Benchmark("hit of 16 KiB, C", configuration: configuration) { benchmark in
        var digest = [UInt8](repeating: 0, count: 32)
        var buffer = [UInt8](repeating: 0, count: FilledStore.bodyByteCount)
        var next = 0
        for _ in benchmark.scaledIterations {
            next = (next + 7919) % count
            var url = filled.urls[next]
            blackHole(url.withUTF8 { baseline_lookup(filled.baseline, $0.baseAddress, Int32($0.count), &digest) })
            blackHole(baseline_read_blob(filled.blobs, digest, &buffer, Int64(buffer.count)))
        }
    } setup: { setup() }

    Benchmark("hit of 16 KiB, store", configuration: configuration) { benchmark in
        var next = 0
        for _ in benchmark.scaledIterations {
            next = (next + 7919) % count
            let entry = try! filled.store.lookup(filled.keys[next])!
            blackHole(try! filled.store.openBody(of: entry)!.data())
        }
    } setup: { setup() }

    Benchmark("hit of 16 KiB, loader", configuration: configuration) { benchmark in
        let loader = ResourceLoader(store: filled.store, transport: NoTransport())
        var next = 0
        for _ in benchmark.scaledIterations {
            next = (next + 7919) % count
            blackHole(try! await loader.load(filled.urls[next]).data)
        }
    } setup: { setup() }
}

/// There is nothing to be fetched: everything is a hit.
private struct NoTransport: HTTPTransport {
    func send(_ request: HTTPRequest, body: Data?) async throws(TransportError) -> TransportResponse {
        fatalError("a request was sent")
    }
}
