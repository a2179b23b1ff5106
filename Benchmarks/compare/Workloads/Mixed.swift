import CBaseline
import CacheStore
import Foundation
import Samples

/// The sequence of hits and puts in mixed work.
enum Mix {
    /// Nine hits with different keys, then a put.
    case even
    /// Hits with keys by Zipf's law, and `puts` puts in a hundred operations.
    case zipf(puts: Int)

    /// The number of operations per put.
    var putInterval: Int { if case .zipf(let puts) = self { 100 / puts } else { 10 } }

    /// Returns the numbers of the keys of successive hits.
    func order(over count: Int) -> [Int] {
        guard case .zipf = self else { return (0..<count).map { Reading.spread($0, over: count) } }
        var sums: [Double] = []
        for rank in 1...count { sums.append((sums.last ?? 0) + 1 / Double(rank)) }
        var random = SplitMix64(state: 1)
        return (0..<65_536).map { _ in
            let place = Double.random(in: 0..<(sums.last ?? 1), using: &random)
            var (rank, end) = (0, count - 1)
            while rank < end {
                let middle = (rank + end) / 2
                if sums[middle] > place { end = middle } else { rank = middle + 1 }
            }
            // Spreads the ranks over the index.
            return Reading.spread(rank, over: count)
        }
    }
}

/// Measures alternating hits and puts of several concurrent threads or processes, in a filled store.
struct Mixed {
    let place: Place
    let entries: Int

    func plan() -> [PlannedWork] {
        let name = "90 % hits, 10 % puts, 16 KiB"
        var plan: [PlannedWork] = []
        for count in [1, 2, 8] {
            plan.append(PlannedWork("\(name), \(PlannedWork.threads(count))") { try threads(count, .even) })
        }
        plan.append(PlannedWork("\(name), 2 processes", make: processes))
        for puts in [1, 10] {
            plan.append(PlannedWork("Zipf mix of hits, \(puts) % puts, 16 KiB") { try threads(1, .zipf(puts: puts)) })
        }
        return plan
    }

    private func threads(_ count: Int, _ mix: Mix) throws -> Workload {
        let original = try place.bodies(entries: entries)
        let ours = try MixedStore(place.copy(original, as: "mixed \(count)"), mix, entries: entries)
        let theirs = try MixedInC(
            place.copy(original, as: "mixed C \(count)"), mix, entries: entries, threads: count)
        return Workload(
            operations: 10_000,
            sides: [
                Workload.Side("ours") { try ours.run($0, threads: count) },
                Workload.Side("C, a connection for each thread") { try theirs.run($0) },
            ])
    }

    private func processes() throws -> Workload {
        let original = try place.bodies(entries: entries)
        func workers(_ name: String) throws -> [LineProcess] {
            let directory = try place.copy(original, as: name)
            return try (0..<2).map { _ in
                try LineProcess(
                    subcommand: "worker", [directory.path(percentEncoded: false), "--entries", "\(entries)"])
            }
        }
        let (ours, theirs) = try (workers("processes"), workers("processes C"))
        return Workload(
            operations: 10_000,
            sides: [
                Workload.Side("ours") { try Self.share($0, among: ours, "mixed") },
                Workload.Side("C, a connection for each process") { try Self.share($0, among: theirs, "mixed-c") },
            ])
    }

    private static func share(_ range: Range<Int>, among workers: [LineProcess], _ command: String) throws {
        let part = range.count / workers.count
        for (number, worker) in workers.enumerated() {
            try worker.send("\(command) \(range.lowerBound + number * part) \(part)")
        }
        for worker in workers { _ = try worker.answer() }
    }
}

/// Does the mixed work with this package.
struct MixedStore {
    private let store: ResponseStore
    private let keys: [CacheKey]
    private let order: [Int]
    private let putInterval: Int

    init(_ directory: URL, _ mix: Mix, entries: Int) throws {
        store = try ResponseStore.unlimited(directory)
        keys = try (0..<entries).map { try CacheKey(url: Sample.url($0)) }
        order = mix.order(over: entries)
        putInterval = mix.putInterval
    }

    func run(_ range: Range<Int>, threads: Int) throws {
        let (store, keys, order, putInterval) = (store, keys, order, putInterval)
        try onThreads(threads) { thread in
            for number in stride(from: range.lowerBound + thread, to: range.upperBound, by: threads) {
                if number / threads % putInterval == putInterval - 1 {
                    try store.insert(
                        Sample.body(number, .kib16), metadata: Sample.metadata(number, byteCount: 16_384),
                        for: CacheKey(url: Sample.url(number, .kib16) + "&new"))
                } else {
                    let key = keys[order[number % order.count]]
                    guard try store.lookup(key).flatMap({ try store.openBody(of: $0)?.data() }) != nil else {
                        throw CStore.Failure(description: "a miss")
                    }
                }
            }
        }
    }
}

/// Does the mixed work in C.
///
/// `@unchecked Sendable`: each thread uses only the handles with its own number.
final class MixedInC: @unchecked Sendable {
    private let readers: [CStore]
    private let writers: [CStore]
    private let texts: [String]
    private let order: [Int]
    private let putInterval: Int

    init(_ directory: URL, _ mix: Mix, entries: Int, threads: Int) throws {
        readers = try (0..<threads).map { _ in try CStore(directory, baseline_reads) }
        writers = try (0..<threads).map { _ in try CStore(directory, baseline_writes) }
        texts = try (0..<entries).map { try CacheKey(url: Sample.url($0)).text }
        order = mix.order(over: entries)
        putInterval = mix.putInterval
    }

    func run(_ range: Range<Int>) throws {
        let threads = readers.count
        try onThreads(threads) { [self] thread in
            for number in stride(from: range.lowerBound + thread, to: range.upperBound, by: threads) {
                if number / threads % putInterval == putInterval - 1 {
                    try writers[thread].put(
                        Sample.url(number, .kib16) + "&new", digest: Sample.digest(number), Sample.body(number, .kib16),
                        at: Int64(number))
                } else {
                    _ = try readers[thread].hit(texts[order[number % order.count]])
                }
            }
        }
    }
}
