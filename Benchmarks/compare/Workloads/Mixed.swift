import CBaseline
import CacheStore
import Foundation

/// Nine hits and a put, again and again, by several at once, in a store with entries.
struct Mixed {
    let place: Place
    let entries: Int

    func workloads() throws -> [Workload] {
        try [1, 2, 8].map(threads)
    }

    private func threads(_ count: Int) throws -> Workload {
        let original = try place.bodies(entries: entries)
        let ours = try MixedStore(place.copy(original, as: "mixed \(count)"), entries: entries)
        let theirs = try MixedInC(place.copy(original, as: "mixed C \(count)"), entries: entries, threads: count)
        return Workload(
            group: "mixed", name: "90 % hits, 10 % puts, 16 KiB, \(count) \(count == 1 ? "thread" : "threads")",
            operations: 10_000,
            sides: [
                Workload.Side("ours") { try ours.run($0, threads: count) },
                Workload.Side("C, a connection for each thread") { try theirs.run($0) },
            ])
    }
}

/// The mixed work with this package.
struct MixedStore {
    private let store: ResponseStore
    private let keys: [CacheKey]

    init(_ directory: URL, entries: Int) throws {
        store = try ResponseStore(directory: directory)
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

/// The mixed work in C.
///
/// `@unchecked Sendable`: each thread uses the handles of its own number only.
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
