import CacheStore
import Foundation
import Samples

/// Measures the typical operations of a cache against other caches, with 16 KiB bodies.
struct Peers {
    let place: Place
    let peers: [Peer]
    /// The divisor for the number of operations in a round.
    let divisor: Int

    private static let filled = 1000

    func plan() -> [PlannedWork] {
        [
            PlannedWork("peers: get, 16 KiB", make: get),
            PlannedWork("peers: put, 16 KiB", make: put),
            PlannedWork("peers: open, \(Self.filled) entries", make: open),
            PlannedWork("peers: evict half of \(Self.filled), per entry", make: evict),
        ]
    }

    private func get() throws -> Workload {
        let store = try filledStore("peers get")
        let ours = Workload.Side("ours") { range in
            for number in range {
                let key = try CacheKey(url: Sample.url(Reading.spread(number, over: Self.filled)))
                guard try store.lookup(key).flatMap({ try store.openBody(of: $0)?.data() }) != nil else {
                    throw CStore.Failure(description: "a miss")
                }
            }
        }
        var workload = try self.workload(ours, operations: 5_000, .get) { "get \($0.lowerBound) \($0.count) 16384" }
        workload.settle = { try await store.flush() }
        return workload
    }

    private func put() throws -> Workload {
        let store = try filledStore("peers put")
        let ours = Workload.Side("ours") { range in
            for number in range { try insert(number + Self.filled, into: store) }
        }
        return try workload(ours, operations: 1_000, .put) { "put \($0.lowerBound) \($0.count) 16384" }
    }

    private func open() throws -> Workload {
        let store = try filledStore("peers open")
        let directory = store.directory
        store.close()
        let ours = Workload.Side("ours") { for _ in $0 { try ResponseStore.unlimited(directory).close() } }
        return try workload(ours, operations: 20, .open) { "open \($0.count)" }
    }

    private func evict() throws -> Workload {
        let state = Held()
        let ours = Workload.Side(
            "ours",
            prepare: {
                // Close the store before its directory is removed.
                state.store = nil
                state.store = try filledStore("peers evict")
            }
        ) { _ in
            try state.store?.evict(.maxEntries(Self.filled / 2))
        }.eachCounting(Self.filled / 2)
        return try workload(ours, operations: 1, .evict) { _ in "evict \(Self.filled) 16384" }
    }

    private func workload(
        _ ours: Workload.Side, operations: Int, _ ability: Peer.Ability, _ command: @escaping (Range<Int>) -> String
    ) throws -> Workload {
        let sides = try peers.filter { $0.abilities.contains(ability) }.map { peer in
            let process = try peer.start(place.fresh("\(peer.name) \(ability)"))
            if ability != .evict { _ = try process.ask("fill \(Self.filled) 16384") }
            // Warms up, because the JVM compiles code that has run often. Skipped for peers that take milliseconds per
            // operation.
            if ability == .get, peer.maxOperations >= 1_000 { _ = try process.ask("get 0 20000 16384") }
            return Workload.Side(elsewhere: peer.name, aim: .ratio(1)) { range in
                let some = range.prefix(max(1, peer.maxOperations / divisor))
                return try process.ask(command(some)) * 1000
            }
        }
        return Workload(operations: operations, sides: [ours] + sides)
    }

    private func filledStore(_ name: String) throws -> ResponseStore {
        let store = try ResponseStore.unlimited(place.fresh(name))
        for number in 0..<Self.filled { try insert(number, into: store) }
        return store
    }

    private func insert(_ number: Int, into store: ResponseStore) throws {
        try store.insert(
            Sample.body(number, .kib16), metadata: Sample.metadata(number, byteCount: 16_384),
            for: CacheKey(url: Sample.url(number)))
    }

    private final class Held {
        var store: ResponseStore?
    }
}
