import CBaseline
import CacheStore
import Foundation
import Samples

/// Compares design choices with their alternatives: other page sizes, and copied instead of mapped bodies.
struct Choices {
    let place: Place
    let entries: Int

    private static let pageSizes = [1, 2, 8, 16]
    /// The sizes around ``StoredBody/mappingThreshold``.
    private static let mappingSizes = [64, 256, 1024, 2048, 4096]

    func plan() -> [PlannedWork] {
        var plan: [PlannedWork] = []
        for size in Self.pageSizes {
            let pages = "with pages of \(size) KiB"
            plan += [
                PlannedWork("lookup, hit, \(pages)") { try lookup(size) },
                PlannedWork("put, new, 16 KiB, \(pages)") { try put(size) },
                PlannedWork("304 freshen, \(pages)") { try freshen(size) },
            ]
        }
        for size in Self.mappingSizes {
            plan.append(PlannedWork("body as Data: \(size) KiB") { try asData(size << 10) })
        }
        return plan
    }

    // MARK: Pages

    private func repage(_ directory: URL, _ size: Int) throws {
        let path = directory.appending(path: "index.sqlite").path(percentEncoded: false)
        guard baseline_repage(path, Int32(size << 10)) == 0 else { throw CStore.Failure(description: "not repaged") }
    }

    /// Returns a store with pages of `size` KiB and a store with the default size, with the same contents.
    private func sides(
        _ size: Int, _ fill: (ResponseStore) throws -> Void = { _ in },
        run: @escaping (ResponseStore, Range<Int>) throws -> Void
    ) throws -> [Workload.Side] {
        let stores = try [size, nil].map { size in
            let directory = try place.fresh("pages of \(size ?? 0)")
            let store = try ResponseStore.unlimited(directory)
            try fill(store)
            store.close()
            if let size { try repage(directory, size) }
            return try ResponseStore.unlimited(directory)
        }
        return [
            Workload.Side("ours") { try run(stores[0], $0) },
            Workload.Side("ours, pages of 4 KiB") { try run(stores[1], $0) },
        ]
    }

    private func lookup(_ size: Int) throws -> Workload {
        let keys = try (0..<entries).map { try CacheKey(url: Sample.url($0)) }
        let sides = try sides(size) { store in
            for (number, key) in keys.enumerated() {
                try store.insert(Data(), metadata: Sample.metadata(number, byteCount: 0), for: key)
            }
        } run: { [entries] store, range in
            for number in range { _ = try store.peek(keys[Reading.spread(number, over: entries)]) }
        }
        return Workload(operations: 50_000, sides: sides)
    }

    private func put(_ size: Int) throws -> Workload {
        let sides = try sides(size) { store, range in
            for number in range { try Writing.insert(store, Sample.url(number), number, .kib16) }
        }
        return Workload(operations: Sample.Size.kib16.writeCount, sides: sides)
    }

    private func freshen(_ size: Int) throws -> Workload {
        let keys = try (0..<1000).map { try CacheKey(url: Sample.url($0)) }
        let sides = try sides(size) { store in
            for number in keys.indices { try Writing.insert(store, Sample.url(number), number, .kib1) }
        } run: { store, range in
            for number in range {
                guard let entry = try store.peek(keys[number % keys.count]),
                    try store.freshen(entry, with: Sample.metadata(number, byteCount: 1024))
                else { throw CStore.Failure(description: "not freshened") }
            }
        }
        return Workload(operations: 2_000, sides: sides)
    }

    // MARK: Mapped or copied

    /// Measures the bytes of open bodies: from `data()`, mapped, and copied. Reads one byte of each page.
    private func asData(_ byteCount: Int) throws -> Workload {
        let store = try ResponseStore.unlimited(place.fresh("body as Data \(byteCount)"))
        // Opens all bodies before the first round, because opening compares a body with its digest.
        let bodies = try (0..<20).map { number in
            let key = try CacheKey(url: Sample.url(number))
            try store.insert(
                Sample.body(number, .mib4).prefix(byteCount),
                metadata: Sample.metadata(number, byteCount: byteCount), for: key)
            guard let entry = try store.peek(key), let body = try store.openBody(of: entry) else {
                throw CStore.Failure(description: "a miss")
            }
            return body
        }
        func side(_ name: String, _ bytes: @escaping (StoredBody) throws -> Data) -> Workload.Side {
            Workload.Side(name) { range in
                var sum = 0
                for number in range { sum &+= pageSum(try bytes(bodies[number % bodies.count])) }
                blackHole(sum)
            }
        }
        return Workload(
            operations: 2_000,
            sides: [
                side("ours") { try $0.data() },
                side("ours, mapped") { body in
                    try body.fileURL.map { try Data(contentsOf: $0, options: .alwaysMapped) } ?? Data()
                },
                side("ours, copied") { try $0.bytes(at: 0, count: byteCount) },
            ])
    }
}
