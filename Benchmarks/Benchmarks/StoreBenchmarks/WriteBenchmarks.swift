import Benchmark
import CacheLoader
import CacheStore
import Foundation
import Samples

/// Measures inserts of 16 KiB bodies, freshened rows, evicted entries, and hits in the memory tier.
func writeBenchmarks() {
    func configuration(_ scale: BenchmarkScalingFactor) -> Benchmark.Configuration {
        Benchmark.Configuration(
            metrics: [.wallClock, .throughput], timeUnits: .microseconds, warmupIterations: 1, scalingFactor: scale,
            maxDuration: .seconds(3), maxIterations: 200)
    }

    Benchmark("put of 16 KiB, store", configuration: configuration(.kilo)) { benchmark in
        try inFreshStore { store in
            var body = Data(count: FilledStore.bodyByteCount)
            benchmark.startMeasurement()
            for number in benchmark.scaledIterations {
                body.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Int.self) }
                try store.insert(
                    body, metadata: Sample.metadata(number, byteCount: body.count),
                    for: CacheKey(url: "https://example.com/\(number)"))
            }
            benchmark.stopMeasurement()
        }
    }
    Benchmark("freshen, store", configuration: configuration(.kilo)) { benchmark in
        try inFreshStore { store in
            let key = try CacheKey(url: "https://example.com/")
            let body = Data("body".utf8)
            let entry = try store.insert(body, metadata: Sample.metadata(0, byteCount: body.count), for: key)
            benchmark.startMeasurement()
            for number in benchmark.scaledIterations {
                blackHole(try store.freshen(entry, with: Sample.metadata(number, byteCount: body.count)))
            }
            benchmark.stopMeasurement()
        }
    }
    Benchmark("evict 500 of 1,000, store", configuration: configuration(.one)) { benchmark in
        for _ in benchmark.scaledIterations {
            try inFreshStore { store in
                for number in 0..<1000 {
                    let body = Data("\(number)".utf8)
                    try store.insert(
                        body, metadata: Sample.metadata(number, byteCount: body.count),
                        for: CacheKey(url: "https://example.com/\(number)"))
                }
                benchmark.startMeasurement()
                try store.evict(maxEntries: 500)
                benchmark.stopMeasurement()
            }
        }
    }
    Benchmark(
        "memory-tier hit",
        configuration: .init(
            metrics: [.wallClock, .throughput], timeUnits: .nanoseconds, warmupIterations: 3, scalingFactor: .kilo,
            maxDuration: .seconds(3), maxIterations: 1000)
    ) { benchmark in
        let filled = try FilledStore.shared()
        var configuration = ResourceLoader.Configuration()
        configuration.memoryLimit = 64 << 20
        let loader = ResourceLoader(store: filled.store, transport: NoTransport(), configuration: configuration)
        let request = ResourceRequest(filled.urls[0])
        _ = try await loader.load(request)
        benchmark.startMeasurement()
        for _ in benchmark.scaledIterations { blackHole(try await loader.load(request).data) }
        benchmark.stopMeasurement()
    }
}

/// Calls `body` with an empty store, then removes the store.
private func inFreshStore(_ body: (ResponseStore) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "CacheStore-benchmark-\(UUID())")
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = try ResponseStore.unlimited(directory)
    defer { store.close() }
    try body(store)
}
