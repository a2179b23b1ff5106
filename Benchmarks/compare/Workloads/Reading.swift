import CBaseline
import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import HTTPTypesFoundation
import Samples

/// Measures lookups and hits in a store without concurrent changes, and the same work in C.
///
/// The store writes accesses in the background. A turn begins only after the accesses of the previous turn are written.
struct Reading {
    let place: Place
    let entries: Int

    /// The number of keys that hot work repeats, fewer than any table of the store holds.
    private static let hotCount = 32
    /// The number of keys of requests and loads. Between two uses of a key come more keys than the store keeps.
    private var requestCount: Int { min(1_000, entries) }

    func plan() -> [PlannedWork] {
        var plan = [
            PlannedWork("lookup, hit") { try lookup(entries, aim: 1.3) },
            PlannedWork("lookup, hit, hot keys") { try lookup(Self.hotCount, aim: 0.15) },
            PlannedWork("lookup, miss", make: miss),
            PlannedWork("lookup that records the use") { try recency(isWritten: false) },
            PlannedWork("lookup that records the use, and writes it") { try recency(isWritten: true) },
        ]
        for size in Sample.Size.allCases {
            plan.append(PlannedWork("hit, \(size.name)") { try hit(size, aim: size == .kib16 ? 1.25 : nil) })
        }
        let (request, load) = ("request through HTTPCache, hit, 16 KiB", "load with ResourceLoader, hit, 16 KiB")
        plan += [
            PlannedWork("hit, 16 KiB, hot keys") { try hit(.kib16, Self.hotCount, aim: 0.5) },
            PlannedWork(request) { try cache(requestCount, aim: nil) },
            PlannedWork("\(request), hot keys") { try cache(Self.hotCount, aim: 0.9) },
            PlannedWork(load) { try loader(requestCount, aim: nil) },
            PlannedWork("\(load), hot keys") { try loader(Self.hotCount, aim: 1) },
            PlannedWork("memory-tier hit", make: memory),
        ]
        return plan
    }

    private func open() throws -> (ResponseStore, URL) {
        let directory = try place.bodies(entries: entries)
        return (try ResponseStore.unlimited(directory), directory)
    }

    /// Spreads the numbers of a round over the whole index.
    static func spread(_ number: Int, over count: Int) -> Int { number &* 7919 % count }

    private func lookup(_ count: Int, aim: Double) throws -> Workload {
        let (store, directory) = try open()
        let keys = try (0..<count).map { try CacheKey(url: Sample.url($0)) }
        let texts = keys.map(\.text)
        let c = try CStore(directory, baseline_reads)
        let grdb = try GRDBPeer(directory)
        return Workload(
            operations: 50_000, singleOperations: 50_000, settle: { try await store.flush() },
            sides: [
                Workload.Side("ours") { range in
                    for number in range where try store.lookup(keys[Self.spread(number, over: count)]) == nil {
                        throw CStore.Failure(description: "a miss")
                    }
                },
                Workload.Side("GRDB: the same SELECT") { range in
                    for number in range where try !grdb.lookup(texts[Self.spread(number, over: count)]) {
                        throw CStore.Failure(description: "a miss")
                    }
                },
                Workload.Side("C: the same SELECT", aim: .ratio(aim)) { range in
                    for number in range where c.lookup(texts[Self.spread(number, over: count)]).byte_count < 0 {
                        throw CStore.Failure(description: "a miss")
                    }
                },
            ])
    }

    private func miss() throws -> Workload {
        let (store, directory) = try open()
        let keys = try (0..<entries).map { try CacheKey(url: Sample.url($0) + "&no") }
        let texts = keys.map(\.text)
        let c = try CStore(directory, baseline_reads)
        return Workload(
            operations: 50_000, singleOperations: 50_000,
            sides: [
                Workload.Side("ours") { [entries] range in
                    for number in range where try store.lookup(keys[Self.spread(number, over: entries)]) != nil {
                        throw CStore.Failure(description: "a hit")
                    }
                },
                Workload.Side("C: the same SELECT") { [entries] range in
                    for number in range where c.lookup(texts[Self.spread(number, over: entries)]).byte_count >= 0 {
                        throw CStore.Failure(description: "a hit")
                    }
                },
            ])
    }

    /// - Parameter isWritten: Whether a turn ends only when its accesses are in the index.
    private func recency(isWritten: Bool) throws -> Workload {
        let (store, _) = try open()
        let keys = try (0..<entries).map { try CacheKey(url: Sample.url($0)) }
        return Workload(
            operations: 50_000, settle: { try await store.flush() },
            sides: [
                Workload.Side("ours") { [entries] range in
                    for number in range { _ = try store.lookup(keys[Self.spread(number, over: entries)]) }
                    if isWritten { try await store.flush() }
                },
                Workload.Side("ours, not recorded", aim: isWritten ? nil : .ratio(1.05)) { [entries] range in
                    for number in range { _ = try store.peek(keys[Self.spread(number, over: entries)]) }
                },
            ])
    }

    private func hit(_ size: Sample.Size, _ keyCount: Int = .max, aim: Double?) throws -> Workload {
        let (store, directory) = try open()
        // The keys are spread over the index but share few files. Each file is verified before the first round.
        let step = size == .kib16 ? max(1, entries / size.bodyCount) : 1
        let count = min(keyCount, size == .kib16 ? min(entries, size.bodyCount) : size.bodyCount)
        let keys = try (0..<count).map { number in try CacheKey(url: Sample.url(number * step, size)) }
        for key in keys { _ = try store.lookup(key).flatMap { try store.openBody(of: $0) } }
        let texts = keys.map(\.text)
        let c = try CStore(directory, baseline_reads)
        return Workload(
            operations: size.readCount, singleOperations: size.readCount, settle: { try await store.flush() },
            sides: [
                Workload.Side("ours") { range in
                    var sum = 0
                    for number in range {
                        guard let entry = try store.lookup(keys[Self.spread(number, over: count)]),
                            let body = try store.openBody(of: entry)
                        else { throw CStore.Failure(description: "a miss") }
                        sum &+= pageSum(try body.data())
                    }
                    blackHole(sum)
                },
                Workload.Side("C: SELECT + open/fstat/read/close", aim: aim.map { .ratio($0) }) { range in
                    var sum = 0
                    for number in range { sum &+= try c.hit(texts[Self.spread(number, over: count)]) }
                    blackHole(sum)
                },
            ])
    }

    // MARK: HTTP

    private func cHit(_ count: Int, aim: Double?) throws -> Workload.Side {
        let texts = try (0..<count).map { try CacheKey(url: Sample.url($0)).text }
        let c = try CStore(place.bodies(entries: entries), baseline_reads)
        return Workload.Side("C: SELECT + open/fstat/read/close", aim: aim.map { .ratio($0) }) { range in
            for number in range { _ = try c.hit(texts[Self.spread(number, over: count)]) }
        }
    }

    private func cache(_ count: Int, aim: Double?) throws -> Workload {
        let (store, _) = try open()
        let cache = HTTPCache(store: store, transport: NoTransport())
        let requests = (0..<count).compactMap { number in
            URL(string: Sample.url(number)).map { HTTPRequest(url: $0) }
        }
        return Workload(
            operations: 5_000, singleOperations: 5_000, settle: { try await store.flush() },
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        let response = try await cache.response(
                            for: requests[Self.spread(number, over: requests.count)])
                        guard response.source == .disk, try await response.data().count == 16_384 else {
                            throw CStore.Failure(description: "no hit: \(response.source)")
                        }
                    }
                }, try cHit(count, aim: aim),
            ])
    }

    private func loader(_ count: Int, aim: Double?) throws -> Workload {
        let (store, _) = try open()
        let loader = ResourceLoader(store: store, transport: NoTransport())
        let urls = (0..<count).map { Sample.url($0) }
        return Workload(
            operations: 5_000, singleOperations: 5_000, settle: { try await store.flush() },
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        let resource = try await loader.load(urls[Self.spread(number, over: urls.count)])
                        guard resource.source == .disk else { throw CStore.Failure(description: "no hit") }
                    }
                }, try cHit(count, aim: aim),
            ])
    }

    private func memory() throws -> Workload {
        let (store, _) = try open()
        var configuration = ResourceLoader.Configuration()
        configuration.memoryLimit = 256 << 20
        let loader = ResourceLoader(store: store, transport: NoTransport(), configuration: configuration)
        let requests = (0..<min(1000, entries)).map { ResourceRequest(Sample.url($0)) }
        return Workload(
            operations: 50_000, singleOperations: 50_000,
            sides: [
                Workload.Side("ours", aim: .nanoseconds(400)) { range in
                    for number in range {
                        _ = try await loader.load(requests[Self.spread(number, over: requests.count)])
                    }
                }
            ])
    }
}
