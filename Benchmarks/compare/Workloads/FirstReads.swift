import CacheLoader
import CacheStore
import Dispatch
import Foundation
import Samples
import Synchronization

/// Measures the first load of a stored response, which compares the body with its digest: the time on the caller's
/// executor, and the caller's wait.
struct FirstReads {
    let place: Place

    private static let rounds = 7

    func facts() async throws -> [Fact] {
        var facts: [Fact] = []
        for size in Sample.Size.allCases {
            let directory = try filledStore(size)
            var longestJobs: [Double] = []
            var waits: [Double] = []
            for number in 0..<Self.rounds {
                let (longestJob, wait) = try await load(Sample.url(number, size), directory)
                longestJobs.append(longestJob)
                waits.append(wait)
            }
            facts.append(
                Fact(
                    name: "first load of \(size.name) in a process: longest job on the caller's executor, and wait",
                    value: String(format: "%.0f µs, %.0f µs", median(longestJobs), median(waits))))
        }
        return facts
    }

    private func filledStore(_ size: Sample.Size) throws -> URL {
        let directory = try place.freshStore("first-\(size.rawValue)")
        let store = try ResponseStore.unlimited(directory)
        defer { store.close() }
        for number in 0..<Self.rounds {
            try store.insert(
                Sample.body(number, size), metadata: Sample.metadata(number, byteCount: size.rawValue),
                for: CacheKey(url: Sample.url(number, size)))
        }
        return directory
    }

    /// Loads a URL with a newly opened store. Returns the longest job and the wait, in microseconds.
    private func load(_ url: String, _ directory: URL) async throws -> (longestJob: Double, wait: Double) {
        let store = try ResponseStore.unlimited(directory)
        defer { store.close() }
        let loader = ResourceLoader(store: store, transport: NoTransport())
        let executor = TimedExecutor()
        let wait = try await Task(executorPreference: executor) {
            let start = ContinuousClock.now
            _ = try await loader.load(url)
            return ContinuousClock.now - start
        }.value
        return (executor.longestJob / .microseconds(1), wait / .microseconds(1))
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// Runs the jobs of a task one after the other, and records the longest job.
private final class TimedExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "TimedExecutor")
    /// Guards the duration of the longest job.
    private let longest = Mutex(Duration.zero)

    var longestJob: Duration { queue.sync { longest.withLock { $0 } } }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            let start = ContinuousClock.now
            job.runSynchronously(on: self.asUnownedTaskExecutor())
            let duration = ContinuousClock.now - start
            self.longest.withLock { $0 = max($0, duration) }
        }
    }
}
