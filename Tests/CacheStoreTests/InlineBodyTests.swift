import CacheStore
import Foundation
import TestSupport
import Testing

@Suite("Bodies in the index")
struct InlineBodyTests {
    let sandbox: Sandbox
    let body = Data.noise(1_000, seed: 1)
    var digest: ContentDigest { ContentDigest(of: body) }

    init() throws {
        sandbox = try Sandbox()
    }

    private func open(_ limit: Int = 4_096) throws -> ResponseStore {
        try sandbox.open { $0.inlineLimit = limit }
    }

    private var inlineCount: String? { get throws { try index("SELECT count(*) FROM inline_body") } }

    private func index(_ sql: String) throws -> String? {
        try RawIndex(sandbox.indexPath).value(sql)
    }

    // MARK: Where a body goes

    @Test(
        "up to the limit a body goes to the index, beyond it to a file",
        arguments: [
            (limit: 0, byteCount: 1, isInline: false), (-5, 1, false), (1, 1, true), (1, 2, false), (4_096, 0, false),
            (4_096, 4_096, true), (4_096, 4_097, false), (65_536, 65_536, true), (.max, 65_536, true),
            (.max, 65_537, false),
        ])
    func limits(_ limit: Int, _ byteCount: Int, _ isInline: Bool) throws {
        let store = try open(limit)
        let body = Data.noise(byteCount, seed: 2)
        let entry = try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        #expect(sandbox.files().count == (isInline || byteCount == 0 ? 0 : 1))
        #expect(try inlineCount == (isInline ? "1" : "0"))
        let opened = try #require(try store.openBody(of: entry))
        #expect((opened.fileURL == nil) == (isInline || byteCount == 0))
        #expect(opened.byteCount == Int64(byteCount) && opened.digest == entry.digest)
        #expect(try opened.data() == body)
        let statistics = try store.statistics()
        #expect(statistics.files == sandbox.files().count && statistics.inlineBodies == (isInline ? 1 : 0))
        #expect(statistics.inlineBytes == (isInline ? Int64(byteCount) : 0) && statistics.physicalBytes == byteCount)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("it is found whatever the limit is then, and read as any other", arguments: [0, 10, 4_096, 65_536])
    func otherLimits(_ limit: Int) throws {
        try open().insert(body, metadata: sandbox.metadata(), for: .path("index"))
        let large = Data.noise(3_000, seed: 2)
        try open(0).insert(large, metadata: sandbox.metadata(), for: .path("file"))
        for isReadOnly in [false, true] {
            let store = try sandbox.open {
                $0.inlineLimit = limit
                $0.isReadOnly = isReadOnly
            }
            #expect(try store.bytes(.path("index")) == body && store.bytes(.path("file")) == large)
            let entry = try #require(try store.peek(.path("index")))
            let opened = try #require(try store.openBody(of: entry))
            #expect(try opened.bytes(at: 10, count: 20) == body[10..<30])
            #expect(try opened.bytes(at: 990, count: 100) == body[990...])
            #expect(try opened.bytes(at: 1_000, count: 1).isEmpty && opened.bytes(at: 5_000, count: 1).isEmpty)
        }
    }

    @Test(
        "bytes that arrive in pieces, across the limit or not",
        arguments: [[1_000], [4_096], [4_000, 96], [4_000, 97], [4_096, 1, 1], [1, 70_000], [70_000, 1]])
    func pieces(_ counts: [Int]) throws {
        let store = try open()
        let writer = store.makeBodyWriter()
        var body = Data()
        for (number, count) in counts.enumerated() {
            let piece = Data.noise(count, seed: UInt64(number))
            try writer.write(piece)
            body += piece
            #expect(try writer.written().data() == body)
        }
        try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(try writer.written().data() == body)
        #expect(try store.bytes(.path("a")) == body)
        #expect(try inlineCount == (body.count <= 4_096 ? "1" : "0"))
        #expect(try store.check(digests: true).isSound)
    }

    @Test("nothing is left of a writer that is discarded")
    func discarded() throws {
        let store = try open()
        let writer = store.makeBodyWriter()
        try writer.write(body)
        writer.discard()
        #expect(throws: StoreError.closed) { try writer.written() }
        #expect(throws: StoreError.closed) { try writer.commit(sandbox.metadata(), for: .path("a")) }
        #expect(try inlineCount == "0")
    }

    @Test("what a removal has overtaken is not stored")
    func removedMeanwhile() throws {
        let store = try open()
        let generation = try store.generation()
        let writer = store.makeBodyWriter()
        try writer.write(body)
        try store.remove(.path("a"))
        #expect(throws: try StoreError.removedMeanwhile(.path("a"))) {
            try writer.commit(sandbox.metadata(), for: .path("a"), unlessRemovedSince: generation)
        }
        #expect(try inlineCount == "0")
        #expect(try store.check(digests: true).isSound)
    }

    // MARK: Shared, and gone

    @Test("entries and forms with the same bytes share them; they go with the last, in its transaction")
    func shared() throws {
        let store = try open()
        for number in 0..<3 { try store.insert(body, metadata: sandbox.metadata(), for: .path(number)) }
        let other = try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
        #expect(try store.insertDerived(body, name: "same", of: other))
        #expect(try store.insertDerived(Data("form".utf8), name: "own", of: other))
        #expect(try inlineCount == "3" && sandbox.files() == [])
        #expect(try store.openDerived(name: "same", of: other)?.data() == body)
        for number in 0..<3 { try store.remove(.path(number)) }
        #expect(try inlineCount == "3")
        try store.remove(.path("other"))
        #expect(try inlineCount == "0")
        #expect(try index("SELECT count(*) FROM blob") == "0")
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a body in place of another", arguments: [(10, 20), (10, 5_000), (5_000, 10), (10, 10), (10, 0), (0, 10)])
    func replaced(_ before: Int, _ after: Int) throws {
        let store = try open()
        for count in [before, after] {
            let body = Data.noise(count, seed: 3)
            try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
            #expect(try store.bytes(.path("a")) == body)
        }
        try store.flush()
        #expect(try inlineCount == ((1...4_096).contains(after) ? "1" : "0"))
        #expect(sandbox.files().count == (after > 4_096 ? 1 : 0))
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a body that is in the index stays there, whoever stores it again")
    func stays() throws {
        try open().insert(body, metadata: sandbox.metadata(), for: .path("a"))
        let store = try open(0)
        try store.insert(body, metadata: sandbox.metadata(), for: .path("b"))
        #expect(try inlineCount == "1" && sandbox.files() == [])
        #expect(try store.bytes(.path("b")) == body)
        #expect(try store.sweep().files == 0)
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a body that has a file keeps it, and one whose file is gone has it again", arguments: [false, true])
    func keepsFile(_ isGone: Bool) throws {
        try open(0).insert(body, metadata: sandbox.metadata(), for: .path("a"))
        if isGone { try FileManager.default.removeItem(at: sandbox.file(of: digest)) }
        for durability in [ResponseStore.Configuration.Durability.relaxed, .durable] {
            let store = try sandbox.open {
                $0.inlineLimit = 4_096
                $0.durability = durability
            }
            try store.insert(body, metadata: sandbox.metadata(), for: .path("\(durability)"))
            #expect(try store.bytes(.path("\(durability)")) == body && store.bytes(.path("a")) == body)
        }
        #expect(try inlineCount == "0" && sandbox.files().count == 1)
        #expect(try open().check(digests: true).isSound)
    }

    @Test("an entry that takes the place of another kind of entry with the same bytes has them", arguments: [0, 4_096])
    func replacing(_ limit: Int) async throws {
        let part = EntryMetadata(
            requestedAt: sandbox.clock.now, receivedAt: sandbox.clock.now,
            part: EntryPart(start: 0, completeLength: nil))
        let old = try await open().insert(body, metadata: part, for: .path("a"))
        let store = try open(limit)
        let writer = store.makeBodyWriter()
        try writer.write(body)
        try await writer.commit(sandbox.metadata(), for: .path("a"), replacing: [old])
        #expect(try store.bytes(.path("a")) == body)
        #expect(try store.responses(for: .path("a")).count == 1)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("an entry whose new body was a form of the old one has it")
    func becomesForm() throws {
        let store = try open()
        let entry = try store.insert(Data("old".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try store.insertDerived(body, name: "form", of: entry)
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == body)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test(
        "bytes stored over those that are missing or too short are there again, and stay", arguments: [0, 4_096],
        ["DELETE FROM inline_body", "UPDATE inline_body SET bytes = x'00'", "UPDATE blob SET inline_id = 7"])
    func storedOver(_ limit: Int, _ sql: String) throws {
        try open().insert(body, metadata: sandbox.metadata(), for: .path("a"))
        try RawIndex(sandbox.indexPath).execute(sql)
        let store = try open(limit)
        for name in ["a", "b"] { try store.insert(body, metadata: sandbox.metadata(), for: .path(name)) }
        try store.sweep()
        #expect(try store.bytes(.path("a")) == body && store.bytes(.path("b")) == body)
        if sql.hasPrefix("UPDATE blob") { try store.repair() }
        #expect(try store.check(digests: true).problems == [])
        try store.evict(maxBytes: 0)
        #expect(sandbox.files() == [])
    }

    @Test("what is stored after all is evicted again does not wait for a file that never was")
    func again() throws {
        let store = try open()
        for _ in 0..<3 {
            try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
            #expect(try inlineCount == "1")
            #expect(try store.evict(maxBytes: 0).bytes == 1_000)
            #expect(try store.statistics().unreferencedBytes == 0)
            #expect(try inlineCount == "0")
        }
    }

    // MARK: Limits

    @Test("they count once, in bodies and not in the index, and an eviction frees what it has to")
    func limitedBytes() throws {
        let (files, rows) = (try Sandbox(), try Sandbox())
        let stores = try [files.open(), rows.open { $0.inlineLimit = 4_096 }]
        for store in stores {
            for number in 0..<1_000 {
                let body = Data.noise(3_000, seed: UInt64(number))
                try store.insert(body, metadata: sandbox.metadata(), for: .path(number))
            }
        }
        let (inFiles, inRows) = (try stores[0].statistics(), try stores[1].statistics())
        #expect(inRows.inlineBytes == 3_000_000 && inFiles.inlineBytes == 0)
        #expect(inRows.physicalBytes == inFiles.physicalBytes)
        // Pages are not filled to the brim.
        #expect((inFiles.limitedBytes...inFiles.limitedBytes * 3 / 2).contains(inRows.limitedBytes))
        for store in stores {
            try store.evict(maxBytes: 2_000_000)
            let left = try store.statistics()
            #expect(left.limitedBytes <= 2_000_000)
            #expect((350...640).contains(left.entries), "\(left)")
            #expect(try store.check(digests: true).isSound)
        }
    }

    @Test("a store keeps itself below its limits with them")
    func keepsLimits() throws {
        let store = try sandbox.open {
            $0.inlineLimit = 4_096
            $0.limits = Limits(maxBytes: 500_000)
        }
        for number in 0..<500 {
            try store.insert(Data.noise(3_000, seed: UInt64(number)), metadata: sandbox.metadata(), for: .path(number))
        }
        let statistics = try store.statistics()
        #expect(statistics.limitedBytes <= 500_000 && statistics.entries > 60)
        #expect(try store.check(digests: true).isSound)
    }

    // MARK: Damage

    @Test(
        "a damaged body is a miss, its entries go, and it can be stored again",
        arguments: [
            "UPDATE inline_body SET bytes = zeroblob(1000)", "UPDATE inline_body SET bytes = x'00'",
            "UPDATE inline_body SET bytes = zeroblob(0)", "DELETE FROM inline_body",
            "UPDATE inline_body SET id = 99", "UPDATE inline_body SET digest = zeroblob(32)",
            "UPDATE blob SET inline_id = 99", "UPDATE blob SET inline_id = NULL",
            "DELETE FROM inline_body; UPDATE total SET inline_count = -7",
        ])
    func damaged(_ sql: String) throws {
        for limit in [0, 4_096] {
            let sandbox = try Sandbox()
            let store = try sandbox.open { $0.inlineLimit = 4_096 }
            let entry = try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
            try store.insert(body, metadata: sandbox.metadata(), for: .path("b"))
            try RawIndex(sandbox.indexPath).execute(sql)
            #expect(try store.openBody(of: entry) == nil)
            #expect(try !store.contains(.path("a")) && !store.contains(.path("b")))
            #expect(try store.statistics().damagedBodies == 1)
            let other = try sandbox.open { $0.inlineLimit = limit }
            try other.insert(body, metadata: sandbox.metadata(), for: .path("c"))
            #expect(try other.bytes(.path("c")) == body && store.bytes(.path("c")) == body)
            try store.repair(digests: true)
            #expect(try store.check(digests: true).problems == [])
            #expect(try store.bytes(.path("c")) == body)
        }
    }

    @Test("it is compared with its digest before the first read in a process, or before every one")
    func verified() throws {
        let entry = try open().insert(body, metadata: sandbox.metadata(), for: .path("a"))
        let stores = try [ResponseStore.Configuration.Verification.firstRead, .everyRead].map { verification in
            try sandbox.open { $0.verification = verification }
        }
        for store in stores { #expect(try store.openBody(of: entry)?.data() == body) }
        try RawIndex(sandbox.indexPath).execute("UPDATE inline_body SET bytes = zeroblob(1000)")
        #expect(try stores[0].openBody(of: entry)?.data() == Data(count: 1_000))
        #expect(try stores[1].openBody(of: entry) == nil)
    }

    @Test("who trusts the disk looks at the length only")
    func unverified() throws {
        let entry = try open().insert(body, metadata: sandbox.metadata(), for: .path("a"))
        let store = try sandbox.open { $0.verification = .never }
        try RawIndex(sandbox.indexPath).execute("UPDATE inline_body SET bytes = zeroblob(1000)")
        #expect(try store.openBody(of: entry)?.data() == Data(count: 1_000))
        try RawIndex(sandbox.indexPath).execute("UPDATE inline_body SET bytes = zeroblob(999)")
        #expect(try store.openBody(of: entry) == nil)
    }

    @Test(
        "A7: a check finds what is wrong with them, and a repair mends it",
        arguments: [
            ("UPDATE inline_body SET bytes = zeroblob(1000) WHERE byte_count = 1000", true),
            ("UPDATE inline_body SET bytes = x'00' WHERE byte_count = 1000", false),
            ("UPDATE inline_body SET byte_count = 7 WHERE byte_count = 1000", false),
            ("DELETE FROM inline_body WHERE byte_count = 1000", false),
            (
                "UPDATE inline_body SET bytes = zeroblob(9000000), byte_count = 9000000; UPDATE blob SET byte_count = 9000000",
                false
            ), ("UPDATE total SET inline_count = 9", false), ("UPDATE total SET inline_bytes = -1", false),
            ("INSERT INTO inline_body VALUES (99, zeroblob(32), 3, x'010203')", false),
            ("UPDATE blob SET inline_id = 1", false),
            ("UPDATE inline_body SET digest = zeroblob(32)", false), ("UPDATE blob SET inline_id = 99", false),
            ("UPDATE blob SET inline_id = NULL", false),
            ("DELETE FROM blob WHERE byte_count = 1000", false), ("UPDATE blob SET reference_count = 5", false),
            ("UPDATE blob SET reference_count = 0 WHERE byte_count = 1000", false),
        ])
    func checked(_ sql: String, _ needsDigests: Bool) throws {
        let store = try open()
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        try store.insert(Data("other".utf8), metadata: sandbox.metadata(), for: .path("other"))
        try RawIndex(sandbox.indexPath).execute(sql)
        #expect(try store.check().isSound == needsDigests)
        #expect(try !store.check(digests: true).isSound)
        #expect(try !store.repair(digests: true).isSound)
        #expect(try store.check(digests: true).problems == [])
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == body)
        #expect(try store.check().inlineBodies + sandbox.files().count == store.statistics().entries)
        try store.evict(maxBytes: 0)
        #expect(try inlineCount == "0" && sandbox.files() == [])
    }

    @Test("the problem is told by the digest")
    func problem() throws {
        let store = try open()
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        try RawIndex(sandbox.indexPath).execute("UPDATE inline_body SET bytes = zeroblob(1000)")
        #expect(try store.check(digests: true).problems == [.alteredInlineBody(digest)])
    }

    // MARK: Seen from outside

    @Test("the views say that there is no file, and how many there are")
    func views() throws {
        let store = try open()
        let entry = try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        try store.insertDerived(Data("form".utf8), name: "form", of: entry)
        try store.insert(Data.noise(5_000, seed: 2), metadata: sandbox.metadata(), for: .path("b"))
        #expect(
            try store.query("SELECT sha256, file_path IS NULL FROM cache_entries ORDER BY key").rows.map(\.[1])
                == [.integer(1), .integer(0)])
        #expect(try store.query("SELECT file_path FROM cache_derived").rows == [[.null]])
        #expect(
            try store.query("SELECT files, inline_bodies, inline_bytes, physical_bytes FROM cache_stats").rows
                == [[.integer(1), .integer(2), .integer(1_004), .integer(6_004)]])
    }

    @Test("what is deleted securely leaves no bytes in the index")
    func deletedSecurely() throws {
        let store = try sandbox.open {
            $0.inlineLimit = 4_096
            $0.secureDelete = true
        }
        let secret = Data("a secret that nobody may find".utf8)
        func isThere() -> Bool {
            ["", "-wal"].contains { suffix in
                let bytes = try? Data(contentsOf: URL(filePath: sandbox.indexPath + suffix))
                return bytes?.firstRange(of: secret) != nil
            }
        }
        try store.insert(secret, metadata: sandbox.metadata(), for: .path("a"))
        #expect(isThere())
        try store.remove(.path("a"))
        #expect(!isThere())
    }

    @Test("in several threads, with two limits, each body is whole and is kept once")
    func concurrently() throws {
        let stores = try [open(), open(0)]
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                for round in 0..<60 {
                    let (number, store) = ((thread + round) % 12, stores[thread % 2])
                    let body = Data.noise(200 + number, seed: UInt64(number))
                    let key = try CacheKey.path("\(thread % 4)/\(number)")
                    try store.insert(body, metadata: sandbox.metadata(), for: key)
                    if let found = try store.bytes(key) { #expect(found == body) }
                    if round % 7 == 0 { try store.remove(.path("\((thread + 1) % 4)/\(number)")) }
                    if round % 20 == 19 { try store.evict(maxBytes: 1_500) }
                }
            } catch {
                Issue.record(error)
            }
        }
        try stores[0].flush()
        #expect(try stores[0].check(digests: true).problems == [])
        #expect(try stores[0].statistics().damagedBodies == 0)
    }
}
