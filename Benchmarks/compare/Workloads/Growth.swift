import CBaseline
import CacheStore
import Foundation
import Samples

/// Measures the same operations on stores of different sizes. Each entry has its own file.
struct Growth {
    let place: Place
    let sizes: [Int]

    func plan() -> [PlannedWork] {
        var plan: [PlannedWork] = []
        func add(_ name: String, _ line: String, _ size: Int, _ make: @escaping () throws -> Workload) {
            plan.append(PlannedWork(name, growth: Comparison.Growth(line: line, entries: size), make: make))
        }
        for size in sizes {
            add("lookup, hit, among \(Self.name(size))", "lookup", size) { try lookup(size) }
            add("hit, small files, among \(Self.name(size))", "hit", size) { try hit(size) }
        }
        for size in sizes.dropFirst() {
            add("open, \(Self.name(size)) entries", "open", size) { try opening(size) }
            add("statistics, \(Self.name(size)) entries", "statistics", size) { try statistics(size) }
        }
        for size in sizes {
            add("evict half of \(Self.name(size)), per entry", "evict", size) { try evict(size) }
        }
        return plan
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
        let store = try ResponseStore.unlimited(directory)
        let c = try CStore(directory, baseline_reads)
        let keys = try keys(size)
        let texts = keys.map(\.text)
        return Workload(
            operations: 50_000, settle: { try await store.flush() },
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
        let store = try ResponseStore.unlimited(directory)
        let c = try CStore(directory, baseline_reads)
        let keys = try keys(size)
        let texts = keys.map(\.text)
        return Workload(
            operations: 50_000, settle: { try await store.flush() },
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

    /// Measures work that takes constant time: a store of `size` entries against the smallest store.
    private func opening(_ size: Int) throws -> Workload {
        let (small, large) = try (place.files(sizes[0]), place.files(size))
        return Workload(
            operations: 50, singleOperations: 200,
            sides: [
                Workload.Side("ours") { for _ in $0 { try ResponseStore.unlimited(large).close() } },
                Workload.Side("ours, \(sizes[0]) entries", aim: .ratio(1.1)) {
                    for _ in $0 { try ResponseStore.unlimited(small).close() }
                },
            ])
    }

    private func statistics(_ size: Int) throws -> Workload {
        let small = try ResponseStore.unlimited(place.files(sizes[0]))
        let large = try ResponseStore.unlimited(place.files(size))
        return Workload(
            operations: 5_000, singleOperations: 5_000,
            sides: [
                Workload.Side("ours") { for _ in $0 { _ = try large.statistics() } },
                Workload.Side("ours, \(sizes[0]) entries", aim: .ratio(1.1)) {
                    for _ in $0 { _ = try small.statistics() }
                },
            ])
    }

    /// Measures nanoseconds per evicted entry.
    private func evict(_ size: Int) throws -> Workload {
        let original = try place.files(size)
        let place = place
        let state = Copies()
        return Workload(
            operations: 1,
            rounds: size > 100_000 ? 1 : 5,
            sides: [
                Workload.Side(
                    "ours",
                    prepare: {
                        state.store = nil
                        state.store = try ResponseStore.unlimited(place.copy(original, as: "evict"))
                    }
                ) { _ in
                    let report = try state.store?.evict(.maxEntries(size / 2))
                    guard report?.entries == size - size / 2 else { throw CStore.Failure(description: "not half") }
                }.eachCounting(size / 2),
                Workload.Side(
                    "C: the same DELETE + unlink", aim: .ratio(0.7),
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
