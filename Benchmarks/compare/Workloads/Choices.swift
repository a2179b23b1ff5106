import CBaseline
import CacheStore
import Foundation

/// What was chosen, beside what was not: pages of another size, and bodies in rows.
struct Choices {
    let place: Place
    let entries: Int

    private static let pageSizes = [1, 2, 8, 16]
    private static let inlineSizes = [1, 4, 16, 64]
    private static let now = Int64(Date().timeIntervalSince1970 * 1000)

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
        for size in Self.inlineSizes {
            plan += [
                PlannedWork("C, body in the row: hit, \(size) KiB") { try hitInline(size << 10) },
                PlannedWork("C, body in the row: put, \(size) KiB") { try putInline(size << 10) },
            ]
        }
        return plan
    }

    // MARK: Pages

    private func repage(_ directory: URL, _ size: Int) throws {
        let path = directory.appending(path: "index.sqlite").path(percentEncoded: false)
        guard baseline_repage(path, Int32(size << 10)) == 0 else { throw CStore.Failure(description: "not repaged") }
    }

    /// A store with pages of a size in KiB, and one as it is made, filled in the same way.
    private func sides(
        _ size: Int, _ fill: (ResponseStore) throws -> Void = { _ in },
        run: @escaping (ResponseStore, Range<Int>) throws -> Void
    ) throws -> [Workload.Side] {
        let stores = try [size, nil].map { size in
            let directory = try place.fresh("pages of \(size ?? 0)")
            let store = try ResponseStore(directory: directory)
            try fill(store)
            store.close()
            if let size { try repage(directory, size) }
            return try ResponseStore(directory: directory)
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

    // MARK: Bodies in rows

    private static func body(_ number: Int, _ byteCount: Int) -> Data {
        Sample.body(number, .kib256).prefix(byteCount)
    }

    private func putInline(_ byteCount: Int) throws -> Workload {
        let (rows, files) = try bare()
        return Workload(
            operations: 1_000,
            sides: [
                Workload.Side("C") { range in
                    for number in range {
                        try rows.putInline(Sample.url(number), Self.body(number, byteCount), at: Self.now)
                    }
                },
                Workload.Side("C, body in a file") { range in
                    for number in range {
                        try files.put(
                            Sample.url(number), digest: Sample.digest(number), Self.body(number, byteCount),
                            at: Self.now)
                    }
                },
            ])
    }

    private func hitInline(_ byteCount: Int) throws -> Workload {
        let (rows, files) = try bare()
        let count = 1_000
        for number in 0..<count {
            let (url, body) = (Sample.url(number), Self.body(number, byteCount))
            try rows.putInline(url, body, at: Self.now)
            try files.put(url, digest: Sample.digest(number), body, at: Self.now)
        }
        let urls = (0..<count).map { Sample.url($0) }
        return Workload(
            operations: 10_000,
            sides: [
                Workload.Side("C") { range in
                    var sum = 0
                    for number in range {
                        sum &+= try rows.hitInline(urls[Reading.spread(number, over: count)], byteCount: byteCount)
                    }
                    blackHole(sum)
                },
                Workload.Side("C, body in a file") { range in
                    var sum = 0
                    for number in range { sum &+= try files.hit(urls[Reading.spread(number, over: count)]) }
                    blackHole(sum)
                },
            ])
    }

    private func bare() throws -> (rows: CStore, files: CStore) {
        (try CStore(place.fresh("rows"), baseline_bare), try CStore(place.fresh("row and file"), baseline_bare))
    }
}
