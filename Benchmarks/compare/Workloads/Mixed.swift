import CBaseline
import CacheStore
import Foundation
import Samples

/// Measures nine hits and a put in turn, by several threads or processes at once, in a filled store.
struct Mixed {
    let place: Place
    let entries: Int

    func plan() -> [PlannedWork] {
        let name = "90 % hits, 10 % puts, 16 KiB"
        var plan: [PlannedWork] = []
        for count in [1, 2, 8] {
            plan.append(PlannedWork("\(name), \(PlannedWork.threads(count))") { try threads(count) })
        }
        plan.append(PlannedWork("\(name), 2 processes", make: processes))
        return plan
    }

    private func threads(_ count: Int) throws -> Workload {
        let original = try place.bodies(entries: entries)
        let ours = try MixedStore(place.copy(original, as: "mixed \(count)"), entries: entries)
        let theirs = try MixedInC(place.copy(original, as: "mixed C \(count)"), entries: entries, threads: count)
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

    init(_ directory: URL, entries: Int) throws {
        store = try ResponseStore.unlimited(directory)
        keys = try (0..<entries).map { try CacheKey(url: Sample.url($0)) }
    }

    func run(_ range: Range<Int>, threads: Int) throws {
        let (store, keys) = (store, keys)
        try onThreads(threads) { thread in
            for number in stride(from: range.lowerBound + thread, to: range.upperBound, by: threads) {
                if number / threads % 10 == 9 {
                    try store.insert(
                        Sample.body(number, .kib16), metadata: Sample.metadata(number, byteCount: 16_384),
                        for: CacheKey(url: Sample.url(number, .kib16) + "&new"))
                } else {
                    let key = keys[Reading.spread(number, over: keys.count)]
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

    init(_ directory: URL, entries: Int, threads: Int) throws {
        readers = try (0..<threads).map { _ in try CStore(directory, baseline_reads) }
        writers = try (0..<threads).map { _ in try CStore(directory, baseline_writes) }
        texts = try (0..<entries).map { try CacheKey(url: Sample.url($0)).text }
    }

    func run(_ range: Range<Int>) throws {
        let threads = readers.count
        try onThreads(threads) { [self] thread in
            for number in stride(from: range.lowerBound + thread, to: range.upperBound, by: threads) {
                if number / threads % 10 == 9 {
                    try writers[thread].put(
                        Sample.url(number, .kib16) + "&new", digest: Sample.digest(number), Sample.body(number, .kib16),
                        at: Int64(number))
                } else {
                    _ = try readers[thread].hit(texts[Reading.spread(number, over: texts.count)])
                }
            }
        }
    }
}
