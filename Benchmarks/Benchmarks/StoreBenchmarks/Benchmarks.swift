import Benchmark

let benchmarks: @Sendable () -> Void = {
    lookupBenchmarks()
    writeBenchmarks()
}
