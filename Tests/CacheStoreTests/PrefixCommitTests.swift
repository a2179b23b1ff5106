import TestSupport

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("BodyWriter: stored prefixes of a growing body")
struct PrefixCommitTests {
    let sandbox = Sandbox()
    let body = Data.noise(900_000, seed: 7)

    /// Metadata of the beginning of a body.
    private var part: EntryMetadata {
        var metadata = sandbox.metadata(etag: "\"1\"")
        metadata.part = EntryPart(start: 0, completeLength: 900_000)
        return metadata
    }

    private func write(_ range: Range<Int>, to writer: BodyWriter) throws { try writer.write(body[range]) }

    /// A writer, and the entry of the bytes that it has written.
    private func begin(_ store: ResponseStore, upTo end: Int = 300_000) throws -> (writer: BodyWriter, StoredEntry) {
        let writer = store.makeBodyWriter()
        try write(0..<end, to: writer)
        return (writer, try writer.commitPrefix(part, for: .path("a"), replacing: nil))
    }

    private func stored(_ store: ResponseStore, _ path: String = "a") throws -> [Data?] {
        try store.responses(for: .path(path)).map { try store.openBody(of: $0)?.data() }
    }

    private func inode(of file: URL) throws -> UInt64? {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
        return (attributes[.systemFileNumber] as? NSNumber)?.uint64Value
    }

    @Test("the entry keeps the bytes of its commit while the file grows", arguments: [false, true])
    func growing(isDurable: Bool) throws {
        let store = try sandbox.open {
            $0.durability = isDurable ? .durable : .relaxed
            $0.verification = .everyRead
        }
        let writer = store.makeBodyWriter()
        var prefix: StoredEntry?
        for end in [300_000, 600_000] {
            try write(Int(writer.byteCount)..<end, to: writer)
            prefix = try writer.commitPrefix(part, for: .path("a"), replacing: prefix)
            try write(end..<(end + 50_000), to: writer)
            #expect(try stored(store) == [body.prefix(end)])
            #expect(try store.check(digests: true).problems == [])
        }
        try write(Int(writer.byteCount)..<900_000, to: writer)
        try store.sweep()
        #expect(try stored(store) == [body.prefix(600_000)])
        try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == body)
        #expect(try stored(store).count == 2)
        let files = [body.prefix(600_000), body].map { sandbox.file(of: ContentDigest(of: $0)) }
        #expect(try inode(of: files[0]) == inode(of: files[1]), "no bytes are copied")
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a whole body that equals a prefix keeps its bytes while the other file grows", arguments: [false, true])
    func wholeEqualToPrefix(isDurable: Bool) throws {
        let store = try sandbox.open { $0.durability = isDurable ? .durable : .relaxed }
        let beginning = body.prefix(300_000)
        let (writer, prefix) = try begin(store)
        let whole = try store.insert(Data(beginning), metadata: sandbox.metadata(), for: .path("b"))
        try write(300_000..<600_000, to: writer)
        #expect(try store.openBody(of: whole)?.data() == beginning)
        #expect(try stored(store) == [beginning])
        try writer.commitPrefix(part, for: .path("a"), replacing: prefix)
        try write(600_000..<900_000, to: writer)
        let last = try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(try store.openBody(of: last)?.data() == body)
        #expect(try store.openBody(of: whole)?.data() == beginning)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a body of known length keeps its file when an equal body follows; only a growing one is replaced")
    func equalWholes() throws {
        let store = try sandbox.open()
        let writer = try begin(store).writer
        defer { withExtendedLifetime(writer) {} }
        let file = sandbox.file(of: ContentDigest(of: body.prefix(300_000)))
        let growing = try inode(of: file)
        var inodes: [UInt64?] = []
        for path in ["b", "c"] {
            try store.insert(Data(body.prefix(300_000)), metadata: sandbox.metadata(), for: .path(path))
            inodes.append(try inode(of: file))
        }
        #expect(inodes[0] != growing)
        #expect(inodes[0] == inodes[1])
    }

    @Test("the whole keeps options that were set while its prefix was stored")
    func options() async throws {
        let store = try sandbox.open()
        let options = EntryOptions(isPinned: true, tags: ["news"])
        let (writer, first) = try begin(store)
        var prefix = first
        #expect(try await store.setOptions(options, for: .path("a")))
        try write(300_000..<600_000, to: writer)
        prefix = try #require(try await writer.commitPrefix(part, for: .path("a"), replacing: prefix))
        try write(600_000..<900_000, to: writer)
        let whole = try #require(
            try await writer.commit(sandbox.metadata(), for: .path("a"), replacing: [prefix]))
        try #require(try store.responses(for: .path("a")).map(\.id) == [whole.id])
        #expect(try await store.evict(.maxEntries(0)).entries == 0, "it is pinned")
        #expect(try await store.removeAll(.tag("news")).entries == 1)
    }

    @Test("a commit removes the prefix that it replaces, with its file")
    func replacing() async throws {
        let store = try sandbox.open()
        let (writer, prefix) = try begin(store, upTo: 500_000)
        try write(500_000..<900_000, to: writer)
        try await writer.commit(sandbox.metadata(), for: .path("a"), replacing: [prefix])
        try await store.flush()
        #expect(try stored(store) == [body])
        #expect(sandbox.files().count == 1)
        #expect(try store.statistics().physicalBytes == 900_000)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a killed process leaves the prefix of its last commit, and no other file")
    func killed() async throws {
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String] in
            let test = PrefixCommitTests()
            let store = try ResponseStore(directory: URL(filePath: path))
            let writer = store.makeBodyWriter()
            var prefix: StoredEntry?
            for end in [300_000, 600_000, 800_000] {
                try test.write(Int(writer.byteCount)..<end, to: writer)
                if end < 800_000 { prefix = try writer.commitPrefix(test.part, for: .path("a"), replacing: prefix) }
            }
            kill(getpid(), SIGKILL)
        }
        let store = try sandbox.open { $0.verification = .everyRead }
        try await store.flush()
        #expect(try stored(store) == [body.prefix(600_000)])
        #expect(try await store.check(digests: true).problems == [])
        #expect(sandbox.files().count == 1)
        let repaired = try await store.repair(digests: true)
        #expect(repaired.isSound)
        #expect(try stored(store) == [body.prefix(600_000)])
    }

    @Test("the file of a part may be longer, but not shorter or altered", arguments: ["longer", "shorter", "altered"])
    func damaged(_ damage: String) throws {
        let store = try sandbox.open { $0.verification = .everyRead }
        let writer = try begin(store, upTo: 900_000).writer
        defer { withExtendedLifetime(writer) {} }
        let digest = ContentDigest(of: body)
        let handle = try FileHandle(forWritingTo: sandbox.file(of: digest))
        switch damage {
        case "longer": try handle.truncate(atOffset: 900_001)
        case "shorter": try handle.truncate(atOffset: 899_999)
        default:
            try handle.seek(toOffset: 5)
            try handle.write(contentsOf: Data([body[5] ^ 1]))
        }
        let problems = try store.check(digests: true).problems
        switch damage {
        case "longer":
            #expect(problems == [])
            #expect(try stored(store) == [body])
        default:
            #expect(problems == [damage == "shorter" ? .missingFile(digest) : .alteredFile(digest)])
            #expect(try stored(store) == [nil])
            #expect(try stored(store) == [])
        }
    }

    @Test("the body continues after the eviction of its prefixes", arguments: 0...3)
    func evicted(count: Int) throws {
        let store = try sandbox.open()
        let (writer, first) = try begin(store)
        var prefix = first
        for round in 0..<count {
            try store.evict(maxBytes: 0)
            #expect(try stored(store) == [])
            let end = 400_000 + round * 100_000
            try write(Int(writer.byteCount)..<end, to: writer)
            do {
                prefix = try writer.commitPrefix(part, for: .path("a"), replacing: prefix)
                #expect(try stored(store) == [body.prefix(end)])
            } catch StoreError.file {
                // On systems that stage files without a name, a writer copies its file once.
                #expect(round > 0)
            }
        }
        try store.evict(maxBytes: 0)
        try write(Int(writer.byteCount)..<900_000, to: writer)
        try writer.commit(sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == body)
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("writers of equal bytes share the file of a prefix, and continue separately", arguments: [false, true])
    func sameBytes(isDurable: Bool) throws {
        let store = try sandbox.open {
            $0.durability = isDurable ? .durable : .relaxed
            $0.verification = .everyRead
        }
        let writers = [store.makeBodyWriter(), store.makeBodyWriter()]
        var prefixes: [StoredEntry] = []
        for (number, writer) in writers.enumerated() {
            try write(0..<400_000, to: writer)
            prefixes.append(try writer.commitPrefix(part, for: .path(number), replacing: nil))
            try writer.write(Data.noise(10, seed: UInt64(number)))
        }
        for number in 0..<2 { #expect(try stored(store, "\(number)") == [body.prefix(400_000)]) }
        for (number, writer) in writers.enumerated() {
            try writer.commit(sandbox.metadata(), for: .path(number))
            #expect(try store.bytes(.path(number)) == body.prefix(400_000) + Data.noise(10, seed: UInt64(number)))
            #expect(try store.openBody(of: prefixes[number])?.data() == body.prefix(400_000))
        }
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a prefix that equals a whole body of another entry leaves that body its file", arguments: [false, true])
    func bytesOfAWhole(isDurable: Bool) async throws {
        let store = try sandbox.open { $0.durability = isDurable ? .durable : .relaxed }
        try await store.insert(body.prefix(300_000), metadata: sandbox.metadata(), for: .path("whole"))
        let (writer, prefix) = try begin(store)
        try write(300_000..<600_000, to: writer)
        #expect(try store.bytes(.path("whole")) == body.prefix(300_000))
        #expect(try stored(store) == [body.prefix(300_000)])
        let longer = try #require(try await writer.commitPrefix(part, for: .path("a"), replacing: prefix))
        try write(600_000..<900_000, to: writer)
        #expect(try stored(store) == [body.prefix(600_000)])
        try await writer.commit(sandbox.metadata(), for: .path("a"), replacing: [longer])
        #expect(try stored(store) == [body])
        #expect(try store.bytes(.path("whole")) == body.prefix(300_000))
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a prefix of a removed key is not stored")
    func removed() async throws {
        let store = try sandbox.open()
        let generation = try store.generation()
        let writer = store.makeBodyWriter()
        try write(0..<300_000, to: writer)
        let key = try CacheKey.path("a")
        try await writer.commitPrefix(part, for: key, replacing: nil, unlessRemovedSince: generation)
        try await store.remove(key)
        try write(300_000..<600_000, to: writer)
        await #expect(throws: StoreError.removedMeanwhile(key)) {
            try await writer.commitPrefix(part, for: key, replacing: nil, unlessRemovedSince: generation)
        }
        #expect(try stored(store) == [])
        try await store.flush()
        #expect(sandbox.files() == [])
    }

    @Test(
        "RFC 9111 §4: the response to an earlier request replaces no later one, unless the clock was set back",
        .requirement("V07"))
    func outdated() async throws {
        let store = try sandbox.open()
        let key = try CacheKey.path("a")
        let (part, whole) = (part, sandbox.metadata())
        let (writer, prefix) = try begin(store)
        sandbox.clock.advance(by: 5)
        let new = Data("new".utf8)
        try await store.insert(new, metadata: sandbox.metadata(), for: key)
        try write(300_000..<600_000, to: writer)
        #expect(try await writer.commitPrefix(part, for: key, replacing: prefix) == nil)
        #expect(try stored(store) == [new])
        #expect(try await writer.commit(whole, for: key, replacing: [prefix]) == nil)
        #expect(try stored(store) == [new])
        try await store.flush()
        #expect(sandbox.files().count == 1)
        // A program may replace a later response.
        let own = Data("own".utf8)
        try await store.insert(own, metadata: whole, for: key)
        #expect(try stored(store) == [own])
        try await store.insert(new, metadata: sandbox.metadata(), for: key)
        sandbox.clock.advance(by: -3_600)
        let next = store.makeBodyWriter()
        try next.write(own)
        #expect(try await next.commit(sandbox.metadata(), for: key, replacing: []) != nil)
        #expect(try stored(store) == [own])
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a growing body counts once, and evicts nothing that fits together with the whole")
    func limits() async throws {
        let store = try sandbox.open { $0.limits = Limits(maxBytes: 40 << 20, maxEntryBytes: 16 << 20) }
        let names = (0..<18).map { "other-\($0)" }
        try sandbox.fill(store, names, byteCount: 1 << 20)
        let writer = store.makeBodyWriter()
        let mebibyte = Data.noise(1 << 20, seed: 3)
        var prefix: StoredEntry?
        for count in 1...12 {
            try writer.write(mebibyte)
            guard count % 4 == 0 else { continue }
            prefix = try await writer.commitPrefix(part, for: .path("a"), replacing: prefix)
            #expect(try store.statistics().physicalBytes == Int64(18 + count) << 20)
        }
        try writer.write(mebibyte)
        let last = try #require(prefix)
        try await writer.commit(sandbox.metadata(), for: .path("a"), replacing: [last])
        #expect(try names.allSatisfy { try store.contains(.path($0)) })
    }

    @Test("a snapshot of a store with a growing body has the prefix", arguments: [false, true])
    func snapshot(isGrowing: Bool) throws {
        let store = try sandbox.open()
        let writer = try begin(store).writer
        if isGrowing { try write(300_000..<600_000, to: writer) }
        let target = Sandbox()
        #expect(try store.snapshot(to: target.url).entriesLeftOut == 0)
        if !isGrowing { try write(300_000..<600_000, to: writer) }
        let copy = try target.open { $0.verification = .everyRead }
        #expect(try stored(copy) == [body.prefix(300_000)])
        #expect(try copy.check(digests: true).problems == [])
    }
}
