import CBaseline
import CacheStore
import Foundation

/// The same questions to stores of different sizes, in which every entry has a file of its own.
struct Growth {
    let place: Place
    let sizes: [Int]

    func workloads() throws -> [Workload] {
        try sizes.flatMap { size in try [lookup(size), hit(size)] } + constant() + sizes.map(evict)
    }

    static func name(_ count: Int) -> String {
        switch count {
        case 1_000_000...: "\(count / 1_000_000) million"
        case 10_000...: "\(count / 1_000),000"
        default: "\(count)"
        }
    }

    private func keys(_ size: Int) throws -> [CacheKey] {
        try (0..<min(size, 50_000)).map { number in
            try CacheKey(url: Sample.url(Reading.spread(number, over: size)))
        }
    }

    private func lookup(_ size: Int) throws -> Workload {
        let directory = try place.files(size)
        let store = try ResponseStore(directory: directory)
        let c = try CStore(directory, baseline_reads)
        let keys = try keys(size)
        let texts = keys.map(\.text)
        return Workload(
            group: "growth", name: "lookup, hit, among \(Self.name(size))", operations: 50_000, entries: size,
            sides: [
                Workload.Side("ours") { range in
                    for number in range { _ = try store.lookup(keys[number % keys.count]) }
                },
                Workload.Side("C: the same SELECT", aim: .ratio(1.3)) { range in
                    for number in range { _ = c.lookup(texts[number % texts.count]) }
                },
            ])
    }

    private func hit(_ size: Int) throws -> Workload {
        let directory = try place.files(size)
        let store = try ResponseStore(directory: directory)
        let c = try CStore(directory, baseline_reads)
        let keys = try keys(size)
        let texts = keys.map(\.text)
        return Workload(
            group: "growth", name: "hit, small files, among \(Self.name(size))", operations: 50_000, entries: size,
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        _ = try store.lookup(keys[number % keys.count]).flatMap { try store.openBody(of: $0)?.data() }
                    }
                },
                Workload.Side("C: SELECT + open/fstat/read/close") { range in
                    for number in range { _ = try c.hit(texts[number % texts.count]) }
                },
            ])
    }

    /// What takes as long whatever the store holds: each size against the least.
    private func constant() throws -> [Workload] {
        guard let least = sizes.first else { return [] }
        let directory = try place.files(least)
        let store = try ResponseStore(directory: directory)
        return try sizes.dropFirst().flatMap { size in
            let large = try place.files(size)
            let largeStore = try ResponseStore(directory: large)
            return [
                Workload(
                    group: "growth", name: "open, \(Self.name(size)) entries", operations: 50, entries: size,
                    singleOperations: 100,
                    sides: [
                        Workload.Side("ours") { range in
                            for _ in range { try ResponseStore(directory: large).close() }
                        },
                        Workload.Side("ours, \(least) entries", aim: .ratio(1.5)) { range in
                            for _ in range { try ResponseStore(directory: directory).close() }
                        },
                    ]),
                Workload(
                    group: "growth", name: "statistics, \(Self.name(size)) entries", operations: 5_000, entries: size,
                    singleOperations: 5_000,
                    sides: [
                        Workload.Side("ours") { range in for _ in range { _ = try largeStore.statistics() } },
                        Workload.Side("ours, \(least) entries", aim: .ratio(1.5)) { range in
                            for _ in range { _ = try store.statistics() }
                        },
                    ]),
            ]
        }
    }

    /// Nanoseconds per entry that goes.
    private func evict(_ size: Int) throws -> Workload {
        let original = try place.files(size)
        let place = place
        let state = Copies()
        return Workload(
            group: "growth", name: "evict half of \(Self.name(size))", operations: 1, entries: size,
            rounds: size > 100_000 ? 1 : 5,
            sides: [
                Workload.Side(
                    "ours",
                    prepare: {
                        state.store = nil
                        state.store = try ResponseStore(directory: place.copy(original, as: "evict"))
                    }
                ) { _ in
                    let report = try state.store?.evict(maxEntries: size / 2)
                    guard report?.entries == size - size / 2 else { throw CStore.Failure(description: "not half") }
                }.eachCounting(size / 2),
                Workload.Side(
                    "C: the same DELETE + unlink", aim: .ratio(1.3),
                    prepare: {
                        state.c = nil
                        state.c = try CStore(place.copy(original, as: "evict C"), baseline_writes)
                    }
                ) { _ in
                    guard try state.c?.evict(keeping: size / 2) == size - size / 2 else {
                        throw CStore.Failure(description: "not half")
                    }
                }.eachCounting(size / 2),
            ])
    }

    private final class Copies {
        var store: ResponseStore?
        var c: CStore?
    }
}
