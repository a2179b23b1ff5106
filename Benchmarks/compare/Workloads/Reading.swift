import CBaseline
import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import HTTPTypesFoundation

/// Lookups and hits in a store that nobody writes to, each beside the same work in C.
struct Reading {
    let directory: URL
    let entries: Int
    let store: ResponseStore

    init(_ place: Place, entries: Int) throws {
        self.entries = entries
        directory = try place.bodies(entries: entries)
        store = try ResponseStore(directory: directory)
    }

    func workloads() throws -> [Workload] {
        try [lookup(), miss(), recency()] + Sample.Size.allCases.map(hit) + [cache(), loader(), memory()]
    }

    /// The numbers of a round, spread over the whole index.
    static func spread(_ number: Int, over count: Int) -> Int { number &* 7919 % count }

    private func lookup() throws -> Workload {
        let keys = try (0..<entries).map { try CacheKey(url: Sample.url($0)) }
        let texts = keys.map(\.text)
        let c = try CStore(directory, baseline_reads)
        return Workload(
            group: "reading", name: "lookup, hit", operations: 50_000, singleOperations: 50_000,
            sides: [
                Workload.Side("ours") { [store, entries] range in
                    for number in range where try store.lookup(keys[Self.spread(number, over: entries)]) == nil {
                        throw CStore.Failure(description: "a miss")
                    }
                },
                Workload.Side("C: the same SELECT", aim: .ratio(1.3)) { [entries] range in
                    for number in range where c.lookup(texts[Self.spread(number, over: entries)]).byte_count < 0 {
                        throw CStore.Failure(description: "a miss")
                    }
                },
            ])
    }

    private func miss() throws -> Workload {
        let keys = try (0..<entries).map { try CacheKey(url: Sample.url($0) + "&no") }
        let texts = keys.map(\.text)
        let c = try CStore(directory, baseline_reads)
        return Workload(
            group: "reading", name: "lookup, miss", operations: 50_000, singleOperations: 50_000,
            sides: [
                Workload.Side("ours") { [store, entries] range in
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

    private func recency() throws -> Workload {
        let keys = try (0..<entries).map { try CacheKey(url: Sample.url($0)) }
        return Workload(
            group: "reading", name: "lookup that records the use", operations: 50_000,
            sides: [
                Workload.Side("ours") { [store, entries] range in
                    for number in range { _ = try store.lookup(keys[Self.spread(number, over: entries)]) }
                },
                Workload.Side("ours, not recorded", aim: .ratio(1.05)) { [store, entries] range in
                    for number in range { _ = try store.peek(keys[Self.spread(number, over: entries)]) }
                },
            ])
    }

    private func hit(_ size: Sample.Size) throws -> Workload {
        // Spread over the index, but few files, each of which was verified in the first round.
        let step = size == .kib16 ? max(1, entries / size.bodyCount) : 1
        let count = size == .kib16 ? min(entries, size.bodyCount) : size.bodyCount
        let keys = try (0..<count).map { number in try CacheKey(url: Sample.url(number * step, size)) }
        for key in keys { _ = try store.lookup(key).flatMap { try store.openBody(of: $0) } }
        let texts = keys.map(\.text)
        let c = try CStore(directory, baseline_reads)
        return Workload(
            group: "reading", name: "hit, \(size.name)", operations: size.readCount, singleOperations: size.readCount,
            sides: [
                Workload.Side("ours") { [store] range in
                    var sum = 0
                    for number in range {
                        guard let entry = try store.lookup(keys[Self.spread(number, over: count)]),
                            let body = try store.openBody(of: entry)
                        else { throw CStore.Failure(description: "a miss") }
                        sum &+= pageSum(try body.data())
                    }
                    blackHole(sum)
                },
                Workload.Side(
                    "C: SELECT + open/fstat/read/close", aim: size == .kib16 ? .ratio(1.4) : nil
                ) { range in
                    var sum = 0
                    for number in range { sum &+= try c.hit(texts[Self.spread(number, over: count)]) }
                    blackHole(sum)
                },
            ])
    }

    // MARK: HTTP

    private func cHit() throws -> Workload.Side {
        let texts = try (0..<entries).map { try CacheKey(url: Sample.url($0)).text }
        let c = try CStore(directory, baseline_reads)
        return Workload.Side("C: SELECT + open/fstat/read/close") { [entries] range in
            for number in range { _ = try c.hit(texts[Self.spread(number, over: min(1000, entries))]) }
        }
    }

    private func cache() throws -> Workload {
        let cache = HTTPCache(store: store, transport: NoTransport())
        let requests = (0..<min(1000, entries)).compactMap { number in
            URL(string: Sample.url(number)).map { HTTPRequest(url: $0) }
        }
        return Workload(
            group: "HTTP", name: "request through HTTPCache, hit, 16 KiB", operations: 5_000, singleOperations: 5_000,
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        let response = try await cache.response(
                            for: requests[Self.spread(number, over: requests.count)])
                        guard response.source == .disk, try await response.data().count == 16_384 else {
                            throw CStore.Failure(description: "no hit: \(response.source)")
                        }
                    }
                }, try cHit(),
            ])
    }

    private func loader() throws -> Workload {
        let loader = ResourceLoader(store: store, transport: NoTransport())
        let urls = (0..<min(1000, entries)).map { Sample.url($0) }
        return Workload(
            group: "HTTP", name: "load with ResourceLoader, hit, 16 KiB", operations: 5_000, singleOperations: 5_000,
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        let resource = try await loader.load(urls[Self.spread(number, over: urls.count)])
                        guard resource.source == .disk else { throw CStore.Failure(description: "no hit") }
                    }
                }, try cHit(),
            ])
    }

    private func memory() throws -> Workload {
        var configuration = ResourceLoader.Configuration()
        configuration.memoryLimit = 256 << 20
        let loader = ResourceLoader(store: store, transport: NoTransport(), configuration: configuration)
        let requests = (0..<min(1000, entries)).map { ResourceRequest(Sample.url($0)) }
        return Workload(
            group: "HTTP", name: "memory-tier hit", operations: 50_000, singleOperations: 50_000,
            sides: [
                Workload.Side("ours", aim: .nanoseconds(1_000)) { range in
                    for number in range {
                        _ = try await loader.load(requests[Self.spread(number, over: requests.count)])
                    }
                }
            ])
    }
}
