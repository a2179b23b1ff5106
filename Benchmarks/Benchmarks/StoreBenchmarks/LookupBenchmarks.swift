import Benchmark
import CacheLoader
import CacheStore
import Foundation

/// Measures lookups and hits among 100,000 entries, and the same work in C.
func lookupBenchmarks() {
    let configuration = Benchmark.Configuration(
        metrics: [.wallClock, .throughput], timeUnits: .nanoseconds, warmupIterations: 3, scalingFactor: .kilo,
        maxDuration: .seconds(3), maxIterations: 1000)

    /// Runs `work` with a different entry number each time, spread over the whole index.
    func measure(
        _ name: String, _ work: @escaping @Sendable (FilledStore, Int) async throws -> Void
    ) {
        Benchmark(name, configuration: configuration) { benchmark in
            let filled = try FilledStore.shared()
            var number = 0
            benchmark.startMeasurement()
            for _ in benchmark.scaledIterations {
                number = (number + 7919) % FilledStore.entryCount
                try await work(filled, number)
            }
            benchmark.stopMeasurement()
        }
    }

    measure("lookup, C") { filled, number in
        blackHole(filled.lookupInC(number))
    }
    measure("lookup, store, not recorded") { filled, number in
        blackHole(try filled.store.peek(filled.keys[number]))
    }
    measure("lookup, store") { filled, number in
        blackHole(try filled.store.lookup(filled.keys[number]))
    }
    measure("hit of 16 KiB, C") { filled, number in
        blackHole(filled.hitInC(number))
    }
    measure("hit of 16 KiB, store") { filled, number in
        guard let entry = try filled.store.lookup(filled.keys[number]) else { throw FilledStore.Failure() }
        blackHole(try filled.store.openBody(of: entry)?.data())
    }
    measure("hit of 16 KiB, loader") { filled, number in
        blackHole(try await filled.loader.load(filled.urls[number]).data)
    }
}
