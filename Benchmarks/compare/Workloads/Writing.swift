import CBaseline
import CacheStore
import Foundation
import Samples

/// Measures stored bodies and freshened rows, and the same work in C.
///
/// C works with the tables, indices and triggers of the store, and with a bare table. The bare table has the same
/// columns, only the index of its key, and no triggers.
struct Writing {
    let place: Place

    private static let now = Int64(Date().timeIntervalSince1970 * 1000)
    private static let schema = "C: create/write/rename + row, the store's schema"
    private static let bare = "C: create/write/rename + row, bare table"

    func plan() -> [PlannedWork] {
        var plan: [PlannedWork] = []
        for size in Sample.Size.allCases { plan.append(PlannedWork("put, new, \(size.name)") { try new(size) }) }
        for size in Sample.Size.allCases {
            plan.append(PlannedWork("put, replacing, \(size.name)") { try replace(size) })
        }
        for size in Sample.Size.allCases {
            plan.append(PlannedWork("put, duplicate content, \(size.name)") { try duplicate(size) })
        }
        for count in [2, 8] {
            plan.append(
                PlannedWork("put, new, 16 KiB, \(PlannedWork.threads(count))") { try writers(count) })
        }
        plan.append(PlannedWork("304 freshen", make: freshen))
        return plan
    }

    /// Returns a store and its equivalents in C, each in its own empty directory.
    private func sides(
        _ name: String, aim: Double?, _ ours: @escaping (ResponseStore, Range<Int>) throws -> Void,
        _ theirs: @escaping (CStore, Range<Int>) throws -> Void
    ) throws -> [Workload.Side] {
        let store = try ResponseStore.unlimited(place.fresh(name))
        let inSchema = try CStore(place.freshStore(name + " C"), baseline_writes)
        let bare = try CStore(place.fresh(name + " bare"), baseline_bare)
        return [
            Workload.Side("ours") { try ours(store, $0) },
            Workload.Side(Self.schema) { try theirs(inSchema, $0) },
            Workload.Side(Self.bare, aim: aim.map(Comparison.Aim.ratio)) { try theirs(bare, $0) },
        ]
    }

    static func insert(_ store: ResponseStore, _ url: String, _ number: Int, _ size: Sample.Size) throws {
        try store.insert(
            Sample.body(number, size), metadata: Sample.metadata(number, byteCount: size.rawValue),
            for: CacheKey(url: url))
    }

    private func new(_ size: Sample.Size) throws -> Workload {
        let sides = try sides("put \(size.name)", aim: [.kib16: 1.15, .kib256: 1.4][size]) { store, range in
            for number in range { try Self.insert(store, Sample.url(number, size), number, size) }
        } _: { c, range in
            for number in range {
                try c.put(
                    Sample.url(number, size), digest: Sample.digest(number), Sample.body(number, size), at: Self.now)
            }
        }
        return Workload(
            operations: size.writeCount,
            singleOperations: size == .mib4 ? 40 : size.writeCount, sides: sides)
    }

    /// Stores new bodies under the same hundred keys in turn.
    private func replace(_ size: Sample.Size) throws -> Workload {
        let sides = try sides("replace \(size.name)", aim: nil) { store, range in
            for number in range { try Self.insert(store, Sample.url(number % 100, size), number, size) }
        } _: { c, range in
            for number in range {
                try c.put(
                    Sample.url(number % 100, size), digest: Sample.digest(number), Sample.body(number, size),
                    at: Self.now)
                // The first hundred puts replace no body.
                try? c.unlink(Sample.digest(number - 100))
            }
        }
        return Workload(
            operations: size.writeCount,
            singleOperations: size.writeCount, sides: sides)
    }

    /// Stores the same body under many keys.
    private func duplicate(_ size: Sample.Size) throws -> Workload {
        let sides = try sides("duplicate \(size.name)", aim: nil) { store, range in
            let body = Sample.body(0, size)
            for number in range {
                try store.insert(
                    body, metadata: Sample.metadata(number, byteCount: size.rawValue),
                    for: CacheKey(url: Sample.url(number)))
            }
        } _: { c, range in
            let (body, digest) = (Sample.body(0, size), Sample.digest(0))
            for number in range { try c.put(Sample.url(number), digest: digest, body, at: Self.now) }
        }
        return Workload(
            operations: size.writeCount,
            singleOperations: size.writeCount, sides: sides)
    }

    /// Compares several storing threads with one, in nanoseconds per body.
    private func writers(_ count: Int) throws -> Workload {
        let several = try ResponseStore.unlimited(place.fresh("writers \(count)"))
        let one = try ResponseStore.unlimited(place.fresh("writers \(count) one"))
        return Workload(
            operations: 2_000,
            sides: [
                Workload.Side("ours") { range in
                    try onThreads(count) { thread in
                        for number in stride(from: range.lowerBound + thread, to: range.upperBound, by: count) {
                            try Self.insert(several, Sample.url(number), number, .kib16)
                        }
                    }
                },
                Workload.Side("ours, one writer", aim: count == 8 ? .ratio(0.55) : nil) { range in
                    for number in range { try Self.insert(one, Sample.url(number), number, .kib16) }
                },
            ])
    }

    private func freshen() throws -> Workload {
        let count = 1000
        let directory = try place.freshStore("freshen C")
        let store = try ResponseStore.unlimited(place.fresh("freshen"))
        let twin = try ResponseStore.unlimited(directory)
        for number in 0..<count {
            try Self.insert(store, Sample.url(number), number, .kib1)
            try Self.insert(twin, Sample.url(number), number, .kib1)
        }
        twin.close()
        let entries = try (0..<count).compactMap { try store.peek(CacheKey(url: Sample.url($0))) }
        let reader = try CStore(directory, baseline_reads)
        let rows = (0..<count).map { reader.lookup(Sample.url($0)) }
        let writer = try CStore(directory, baseline_writes)
        return Workload(
            operations: 2_000, singleOperations: 2_000,
            sides: [
                Workload.Side("ours") { range in
                    for number in range {
                        let metadata = Sample.metadata(number, byteCount: 1024)
                        guard try store.freshen(entries[number % count], with: metadata) else {
                            throw CStore.Failure(description: "not freshened")
                        }
                    }
                },
                Workload.Side("C: the same UPDATE") { range in
                    for number in range {
                        try writer.freshen(
                            Sample.url(number % count), rows[number % count], at: Self.now + Int64(number))
                    }
                },
            ])
    }
}
