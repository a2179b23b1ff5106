import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("Limits of bodies, and of bodies on their way")
struct BodyLimitsTests {
    let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
    }

    func open(_ limits: Limits) throws -> ResponseStore {
        try sandbox.open { $0.limits = limits }
    }

    @Test("limits are what was given, within what they can be")
    func values() {
        #expect(Limits(maxBytes: 8_000).maxEntryBytes == 1_000)
        #expect(Limits(maxBytes: 8_000, maxEntryBytes: 9_000).maxEntryBytes == 9_000)
        #expect(Limits(maxEntries: 5).maxEntryBytes == nil)
        #expect(Limits(maxBytes: .max).maxEntryBytes == .max / 8)
        #expect(Limits(maxBytes: -1, maxEntries: -1).maxBytes == 0)
        #expect(Limits(maxBytes: -1, maxEntries: -1).maxEntries == 0)
        #expect(Limits(maxBytes: .min).maxEntryBytes == 0)
        #expect(Limits().lowWaterMark == 0.9)
        for (given, kept) in [(-1, 0), (2, 1), (.infinity, 1), (-.infinity, 0), (0.25, 0.25)] as [(Double, Double)] {
            #expect(Limits(lowWaterMark: given).lowWaterMark == kept)
        }
        #expect((0...1).contains(Limits(lowWaterMark: .nan).lowWaterMark))
    }

    @Test("J5: a body above its limit, in one piece or many, is refused and leaves nothing; the old entry stays")
    func bodyTooLarge() throws {
        let store = try open(Limits(maxBytes: 80_000))
        let old = try store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: .path("a"))
        #expect(throws: StoreError.bodyTooLarge(limit: 10_000)) {
            try store.insert(Data.noise(10_001, seed: 1), metadata: sandbox.metadata(), for: .path("a"))
        }
        do {
            let writer = store.makeBodyWriter()
            for _ in 0..<10 { try writer.write(Data(repeating: 1, count: 1_000)) }
            #expect(throws: StoreError.bodyTooLarge(limit: 10_000)) { try writer.write(Data([1])) }
            #expect(throws: StoreError.closed) { try writer.write(Data([1])) }
            #expect(throws: StoreError.closed) { try writer.commit(sandbox.metadata(), for: .path("a")) }
            #expect(try writer.written().data() == Data(repeating: 1, count: 10_000))
        }
        #expect(try store.peek(.path("a")) == old)
        #expect(sandbox.files().count == 1)
        try store.insert(Data.noise(10_000, seed: 1), metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.check(digests: true).isSound)
    }

    @Test(
        "limits of nothing, of everything, and sums that were edited",
        arguments: [
            (Limits(maxBytes: 0, maxEntryBytes: .max), 0), (Limits(maxEntries: 0), 0),
            (Limits(maxBytes: 0, maxEntries: 0, maxEntryBytes: 5, lowWaterMark: 0), 0),
            (Limits(maxBytes: .max, maxEntries: .max), 3),
            (Limits(maxBytes: .max, maxEntries: .max, maxEntryBytes: .max, lowWaterMark: 1), 3),
            (Limits(maxBytes: .max - 1, maxEntryBytes: .max, lowWaterMark: 0), 3),
        ])
    func extremes(_ limits: Limits, _ count: Int) async throws {
        let store = try open(limits)
        for number in 0..<3 {
            let body = Data(limits.maxBytes == 0 ? "".utf8 : "\(number)".utf8)
            try await store.insert(body, metadata: sandbox.metadata(), for: .path(number))
        }
        try await store.flush()
        #expect(try store.statistics().entries == (limits.maxBytes == 0 && limits.maxEntries == nil ? 3 : count))
        for sql in [
            "UPDATE total SET physical_bytes = \(Int64.max)",
            "UPDATE total SET physical_bytes = \(Int64.max), unreferenced_bytes = \(Int64.min)",
            "UPDATE total SET physical_bytes = \(Int64.min), entry_count = \(Int64.min)",
            "UPDATE total SET entry_count = \(Int64.max)",
        ] {
            try RawIndex(sandbox.indexPath).execute(sql)
            _ = try? await store.insert(Data("x".utf8), metadata: sandbox.metadata(), for: .path("x"))
            try? await store.flush()
            _ = try await store.repair()
            #expect(try await store.check(digests: true).isSound)
        }
    }

    @Test("bodies that are being written count: one for which there is no room is refused, until others have landed")
    func inFlight() throws {
        let store = try open(Limits(maxBytes: 100_000, maxEntryBytes: 60_000))
        var writers = (0..<3).map { _ in store.makeBodyWriter() }
        for (number, writer) in writers.enumerated() { try writer.write(Data.noise(30_000, seed: UInt64(number))) }
        let refused = store.makeBodyWriter()
        #expect(throws: StoreError.bodyTooLarge(limit: 100_000)) { try refused.write(Data.noise(30_000, seed: 9)) }
        refused.discard()
        writers[0].discard()
        let next = store.makeBodyWriter()
        try next.write(Data.noise(30_000, seed: 3))
        #expect(throws: StoreError.bodyTooLarge(limit: 100_000)) {
            try store.makeBodyWriter().write(Data.noise(30_000, seed: 9))
        }
        // One that is let go counts no longer, and neither does one that has been committed.
        writers.remove(at: 1)
        try next.commit(sandbox.metadata(), for: .path("next"))
        try writers[1].commit(sandbox.metadata(), for: .path("2"))
        for number in 0..<10 {
            sandbox.clock.advance(by: 1)
            try store.insert(
                Data.noise(50_000, seed: UInt64(10 + number)), metadata: sandbox.metadata(), for: .path("x"))
        }
        #expect(try store.peek(.path("x")) != nil)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("J5: what is stored makes room for what is on its way")
    func roomForInFlight() async throws {
        let limit: Int64 = 200_000
        let store = try open(Limits(maxBytes: limit, maxEntryBytes: 100_000))
        try LimitsTests.fill(sandbox, store, (0..<17).map { "\($0 + 10)" }, 10_000)
        #expect(try sandbox.names().count == 17)
        let writers = (0..<3).map { _ in store.makeBodyWriter() }
        for (number, writer) in writers.enumerated() {
            for part in 0..<5 { try writer.write(Data.noise(10_000, seed: UInt64(100 + number * 10 + part))) }
            try await store.flush()
            let onTheirWay = Int64(50_000 * (number + 1))
            #expect(try sandbox.size().bytes + onTheirWay <= limit)
        }
        for (number, writer) in writers.enumerated() {
            try await writer.commit(sandbox.metadata(), for: .path("large-\(number)"))
            let onTheirWay = Int64(50_000 * (2 - number))
            #expect(try sandbox.size().bytes + onTheirWay <= limit)
            sandbox.clock.advance(by: 1)
        }
        #expect(try sandbox.names().filter { $0.hasPrefix("large") }.count == 3)
        #expect(try await store.check(digests: true).isSound)
    }

    @Test("a shared body counts once, and goes with the last of its entries")
    func shared() async throws {
        let store = try open(Limits(maxBytes: 148_000, maxEntryBytes: 100_000, lowWaterMark: 1))
        for number in 0..<20 {
            try await store.insert(Data.noise(50_000, seed: 1), metadata: sandbox.metadata(), for: .path(number))
            sandbox.clock.advance(by: 1)
        }
        try await store.flush()
        #expect(try store.statistics().entries == 20)
        try await store.insert(Data.noise(99_999, seed: 2), metadata: sandbox.metadata(), for: .path("other"))
        try await store.flush()
        #expect(try sandbox.names() == ["other"])
        #expect(sandbox.files().count == 1)
    }
}
