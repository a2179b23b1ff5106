import TestSupport

@Suite("Damage")
struct DamageTests {
    let sandbox = Sandbox()

    enum Damage: CaseIterable, Sendable {
        case deleted, emptied, truncated, lengthened, altered
        case symbolicLink, danglingLink, pipe, socket, directory
        case shardDeleted, shardIsLink, shardIsFile
    }

    /// A store with one entry of 10,000 bytes whose file is damaged.
    struct Scene {
        let sandbox: Sandbox
        let key: CacheKey
        let body = Data.noise(10_000, seed: 42)
        let digest: ContentDigest
        /// The target of a planted link.
        let foreign: URL

        init() throws {
            sandbox = Sandbox()
            key = try CacheKey.path("a")
            digest = ContentDigest(of: body)
            foreign = sandbox.directory.url.appending(path: "foreign", directoryHint: .isDirectory)
            try FileManager.default.createDirectory(at: foreign, withIntermediateDirectories: true)
            try body.write(to: foreign.appending(path: file.lastPathComponent))
        }

        var file: URL { sandbox.file(of: digest) }

        func inflict(_ damage: Damage) throws {
            let manager = FileManager.default
            let shard = file.deletingLastPathComponent()
            switch damage {
            case .deleted: try manager.removeItem(at: file)
            case .emptied: try write { try $0.truncate(atOffset: 0) }
            case .truncated: try write { try $0.truncate(atOffset: 9_999) }
            case .lengthened: try write { try $0.truncate(atOffset: 10_001) }
            case .altered:
                try write { file in
                    try file.seek(toOffset: 5_000)
                    try file.write(contentsOf: [body[5_000] ^ 1])
                }
                try file.alteredLater()
            case .symbolicLink:
                try manager.removeItem(at: file)
                try manager.createSymbolicLink(
                    at: file, withDestinationURL: foreign.appending(path: file.lastPathComponent))
            case .danglingLink:
                try manager.removeItem(at: file)
                try manager.createSymbolicLink(at: file, withDestinationURL: foreign.appending(path: "nothing"))
            case .pipe:
                try manager.removeItem(at: file)
                #expect(mkfifo(file.path(percentEncoded: false), 0o600) == 0)
            case .socket:
                try manager.removeItem(at: file)
                try sandbox.makeSocket(at: file)
            case .directory:
                try manager.removeItem(at: file)
                try manager.createDirectory(at: file, withIntermediateDirectories: false)
            case .shardDeleted: try manager.removeItem(at: shard)
            case .shardIsLink:
                try manager.removeItem(at: shard)
                try manager.createSymbolicLink(at: shard, withDestinationURL: foreign)
            case .shardIsFile:
                try manager.removeItem(at: shard)
                try Data("in the way".utf8).write(to: shard)
            }
        }

        private func write(_ change: (FileHandle) throws -> Void) throws {
            let handle = try FileHandle(forUpdating: file)
            try change(handle)
            try handle.close()
        }

        /// Whether the files outside the store are unchanged.
        func foreignIsUntouched() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: foreign.path(percentEncoded: false)).count == 1
                && Data(contentsOf: foreign.appending(path: file.lastPathComponent)) == body
        }
    }

    @Test(
        "a damaged body is a miss, drops its entry, and can be stored again", .requirement("A7"),
        arguments: Damage.allCases,
        [ResponseStore.Configuration.Verification.firstRead, .everyRead])
    func miss(_ damage: Damage, verification: ResponseStore.Configuration.Verification) throws {
        let scene = try Scene()
        let store = try scene.sandbox.open { $0.verification = verification }
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: .path("same"))
        try store.insert(Data("other".utf8), metadata: scene.sandbox.metadata(), for: .path("other"))
        try scene.inflict(damage)
        let entry = try #require(try store.lookup(scene.key))
        #expect(try store.openBody(of: entry) == nil)
        #expect(try store.lookup(scene.key) == nil)
        // Another entry with the body is dropped at its next lookup.
        let twin = try #require(try store.lookup(.path("same")))
        #expect(try store.openBody(of: twin) == nil)
        #expect(try store.lookup(.path("same")) == nil)
        #expect(try store.bytes(.path("other")) == Data("other".utf8))
        #expect(try store.openBody(of: entry) == nil)

        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        #expect(try store.bytes(scene.key) == scene.body)
        #expect(try store.check(digests: true).problems == [])
        #expect(try scene.foreignIsUntouched())
    }

    @Test("a body stored over a damaged file is whole", arguments: Damage.allCases.filter { $0 != .altered })
    func storedOver(_ damage: Damage) throws {
        let scene = try Scene()
        let store = try scene.sandbox.open()
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        try scene.inflict(damage)
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        #expect(try store.bytes(scene.key) == scene.body)
        #expect(try scene.foreignIsUntouched())
    }

    @Test("a removal never deletes through a link", arguments: [Damage.symbolicLink, .shardIsLink, .shardIsFile])
    func removeThroughLink(_ damage: Damage) throws {
        let scene = try Scene()
        let store = try scene.sandbox.open()
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        try scene.inflict(damage)
        #expect(try store.remove(scene.key))
        #expect(try scene.foreignIsUntouched())
        #expect(try store.statistics().files == 0)
    }

    struct Case: Sendable {
        let verification: ResponseStore.Configuration.Verification
        /// Whether an alteration that keeps the length is detected before and after the first read.
        let notices: (before: Bool, after: Bool)
    }

    @Test(
        "detects an altered body according to the configuration",
        arguments: [
            Case(verification: .everyRead, notices: (true, true)),
            Case(verification: .firstRead, notices: (true, true)),
            Case(verification: .never, notices: (false, false)),
        ])
    func verification(_ c: Case) throws {
        for readsBefore in [false, true] {
            let scene = try Scene()
            let store = try scene.sandbox.open { $0.verification = c.verification }
            let entry = try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
            if readsBefore { #expect(try store.openBody(of: entry) != nil) }
            try scene.inflict(.altered)
            #expect(try (store.openBody(of: entry) == nil) == (readsBefore ? c.notices.after : c.notices.before))
        }
    }

    @Test("does not verify the digest of a body that the store has just written", arguments: [false, true])
    func writtenHere(isDurable: Bool) throws {
        let scene = try Scene()
        let store = try scene.sandbox.open { $0.durability = isDurable ? .durable : .relaxed }
        let entry = try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        guard case .open = try store.openBody(of: entry, verifyingUpTo: 0) else {
            Issue.record("the first read compares the body")
            return
        }
        let reopened = try scene.sandbox.open()
        guard case .unverified = try reopened.openBody(of: entry, verifyingUpTo: 0) else {
            Issue.record("a new process does not compare the body")
            return
        }
    }

    @Test(
        "each entry that shares a damaged body is dropped when opened; storing the body again serves the rest",
        .requirement("A7"),
        arguments: [Damage.deleted, .truncated, .altered])
    func sharedBody(_ damage: Damage) throws {
        let scene = try Scene()
        let store = try scene.sandbox.open()
        let entries = try ["a", "b", "c"].map { path in
            try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: .path(path))
        }
        try scene.inflict(damage)
        for number in 0..<2 {
            #expect(try store.openBody(of: entries[number]) == nil)
            #expect(try entries.map { try store.responses(for: $0.key).count } == [0, 1 - number, 1])
        }
        try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: .path("d"))
        #expect(try store.openBody(of: entries[2])?.data() == scene.body)
        try store.flush()
        #expect(try store.check(digests: true).isSound)
    }

    @Test("a damaged body is a miss even if the index is read-only", .requirement("A7"))
    func indexLocked() throws {
        let scene = try Scene()
        let store = try scene.sandbox.open { $0.busyTimeout = .zero }
        let entry = try store.insert(scene.body, metadata: scene.sandbox.metadata(), for: scene.key)
        try scene.inflict(.truncated)
        let other = try RawIndex(scene.sandbox.indexPath)
        try other.execute("BEGIN IMMEDIATE")
        #expect(try store.openBody(of: entry) == nil)
        try other.execute("ROLLBACK")
        #expect(try store.openBody(of: entry) == nil)
        #expect(try store.peek(scene.key) == nil)
    }

    @Test("with too many open files, the entry of an unreadable body stays")
    func tooManyOpenFiles() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try await Self.exhaustDescriptors(path, FreeDescriptors())
        }
        #expect(try sandbox.open().bytes(.path("a")) == Data("a".utf8))
    }

    private static func exhaustDescriptors(_ path: String, _ descriptors: FreeDescriptors) throws {
        let store = try ResponseStore(directory: URL(filePath: path))
        let entry = try store.insert(Data("a".utf8), metadata: .now, for: .path("a"))
        #expect(try store.peek(entry.key) == entry)
        let taken = descriptors.takeAll()
        let error = #expect(throws: StoreError.self) { try store.openBody(of: entry) }
        guard case .file(let cause) = error else { preconditionFailure("\(String(describing: error))") }
        #expect(cause.errno == EMFILE)
        #expect(throws: StoreError.self) { try store.insert(Data("b".utf8), metadata: entry.metadata, for: .path("b")) }
        descriptors.giveBack(taken)
        #expect(try store.openBody(of: entry)?.data() == Data("a".utf8))
        try store.insert(Data("b".utf8), metadata: entry.metadata, for: .path("b"))
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a process without free descriptors still keeps its WAL short")
    func logWithoutFiles() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try await Self.writeWithoutDescriptors(path, FreeDescriptors())
        }
        #expect(try await sandbox.open().check(digests: true).problems == [])
    }

    private static func writeWithoutDescriptors(_ path: String, _ descriptors: FreeDescriptors) throws {
        let configuration = ResponseStore.Configuration()
        let store = try ResponseStore(directory: URL(filePath: path), configuration: configuration)
        try store.insert(Data(), metadata: .now, for: .path(0))
        let log = try #require(FileHandle(forReadingAtPath: path + "/index.sqlite-wal"))
        descriptors.takeAll()
        for number in 1..<1_000 {
            // An empty body needs no file.
            try store.insert(Data(), metadata: .now, for: .path(number))
        }
        let byteCount = try log.seekToEnd()
        precondition(byteCount < 6_000 * (4_096 + 24))
    }

    /// Changes to the rows of two entries of 1,000 bytes, bypassing the constraints.
    static let scrambles = [
        "UPDATE entry SET body = NULL", "UPDATE entry SET byte_count = 0", "UPDATE entry SET byte_count = -1",
        "UPDATE entry SET byte_count = \(Int64.max)", "UPDATE entry SET byte_count = \(Int64.min)",
        "UPDATE entry SET byte_count = 999", "UPDATE entry SET body = x'0102'", "UPDATE entry SET body = zeroblob(32)",
        "UPDATE entry SET body = zeroblob(1000000)", "UPDATE entry SET kind = 7", "UPDATE entry SET kind = -1",
        "UPDATE entry SET status = \(Int64.max), is_body_decoded = 9",
        "UPDATE entry SET requested_at = \(Int64.min), received_at = \(Int64.max), created_at = \(Int64.min)",
        "UPDATE entry SET expires_at = \(Int64.max)", "UPDATE entry SET head = CAST(x'ff00fe' AS TEXT)",
        "UPDATE entry SET etag = CAST(x'ff00fe' AS TEXT), url = CAST(x'ff' AS TEXT), variant = CAST(x'c3' AS TEXT)",
        "UPDATE blob SET byte_count = \(Int64.max)", "UPDATE blob SET byte_count = -5",
        "UPDATE blob SET reference_count = 0", "UPDATE blob SET reference_count = \(Int64.max)",
        "UPDATE blob SET reference_count = -3", "DELETE FROM blob", "DELETE FROM access", "DELETE FROM total",
        "DELETE FROM state",
        "UPDATE total SET entry_count = \(Int64.max), logical_bytes = \(Int64.max), failure_count = \(Int64.min)",
        "UPDATE access SET accessed_at = \(Int64.max), hit_count = \(Int64.min)",
        "INSERT INTO failure VALUES ('', 'https://example.com/0', '', \(Int64.min), \(Int64.max), \(Int64.min))",
        "DROP TRIGGER entry_inserted", "DROP TABLE access", "DROP TABLE blob", "DROP TABLE entry",
        "DROP VIEW cache_stats",
    ]

    /// Passes typed errors only.
    private func tolerant(_ body: () throws -> Void) throws { do { try body() } catch is StoreError {} }

    @Test(
        "a scrambled row is a miss or a typed error, never a trap and never other bytes", .requirement("A7"),
        arguments: scrambles)
    func scrambled(_ sql: String) throws {
        let first = try sandbox.open()
        let bodies = (0..<2).map { Data.noise(1_000, seed: UInt64($0)) }
        for number in 0..<2 {
            try first.insert(bodies[number], metadata: sandbox.metadata(expiresIn: 60), for: .path(number))
        }
        first.close()
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("PRAGMA ignore_check_constraints = ON; \(sql)")

        let store = try sandbox.open()
        for number in 0..<2 {
            try tolerant {
                if let entry = try store.lookup(.path(number)), let body = try store.openBody(of: entry) {
                    #expect(try body.data() == bodies[number])
                }
            }
            try tolerant { _ = try store.contains(.path(number)) }
            try tolerant { _ = try store.responses(for: .path(number)) }
            try tolerant { _ = try store.failure(for: .path(number)) }
            try tolerant { try store.recordFailure(for: .path(number), status: 500) }
        }
        try tolerant { _ = try store.check(digests: true) }
        try tolerant { _ = try store.query("SELECT * FROM cache_entries, cache_stats, cache_errors, cache_hosts") }
        try tolerant { _ = try store.statistics() }
        try tolerant { try store.flush() }
        try tolerant { try store.insert(bodies[0], metadata: sandbox.metadata(), for: .path(0)) }
        try tolerant {
            let found = try store.bytes(.path(0))
            #expect(found == nil || found == bodies[0])
        }
        try tolerant { try store.evict(maxBytes: 500) }
        try tolerant { try store.remove(.path(0)) }
        try tolerant { try store.remove(.path(1)) }
        store.close()
        try tolerant { _ = try sandbox.open() }
    }

    @Test(
        "an entry whose row no longer parses is a miss, and the next insertion replaces it", .requirement("A7"),
        arguments: scrambles.prefix(9).filter { !$0.contains("\(Int64.min)") })
    func healed(_ sql: String) throws {
        let store = try sandbox.open()
        let body = Data.noise(1_000, seed: 1)
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        try RawIndex(sandbox.indexPath).execute("PRAGMA ignore_check_constraints = ON; \(sql)")
        #expect(try store.bytes(.path("a")) == nil)
        #expect(try !store.contains(.path("a")))
        try store.insert(body, metadata: sandbox.metadata(), for: .path("a"))
        #expect(try store.bytes(.path("a")) == body)
    }

    @Test("a randomly changed index neither traps nor answers wrongly", arguments: 0..<Repetitions.count(40, debug: 15))
    func flippedBytes(_: Int) throws {
        var generator = SeededGenerator()
        let first = try sandbox.open()
        let bodies = (0..<30).map { Data.noise(500, seed: UInt64($0)) }
        for number in 0..<30 {
            try first.insert(bodies[number], metadata: sandbox.metadata(expiresIn: 60), for: .path(number))
        }
        first.close()
        var bytes = try Data(contentsOf: URL(filePath: sandbox.indexPath))
        if Int.random(in: 0..<8, using: &generator) == 0 {
            bytes = bytes.prefix(Int.random(in: 1..<bytes.count, using: &generator))
        }
        for _ in 0..<Int.random(in: 1...60, using: &generator) {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        try bytes.write(to: URL(filePath: sandbox.indexPath))

        guard let store = try? sandbox.open() else { return }
        for number in 0..<30 {
            try tolerant {
                if let entry = try store.lookup(.path(number)), let body = try store.openBody(of: entry) {
                    // The body is empty if the row has lost its digest and length: such a row looks valid.
                    let data = try body.data()
                    #expect(data == bodies[number] || data.isEmpty, "\(generator)")
                }
            }
            if number % 5 == 0 {
                try tolerant { try store.insert(bodies[number], metadata: sandbox.metadata(), for: .path(number)) }
            }
            if number % 7 == 0 { try tolerant { try store.remove(.path(number)) } }
        }
        try tolerant { _ = try store.check(digests: true) }
        try tolerant { _ = try store.statistics() }
        try tolerant { try store.evict(maxBytes: 1_000) }
    }

    @Test("a disk that fills in the middle of a commit leaves the old entry, no new file, and a usable store")
    func fullDisk() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try Self.fillDisk(path)
        }
        let store = try sandbox.open()
        #expect(try store.bytes(.path("a")) == Data("old".utf8))
        #expect(try store.bytes(.path("after")) == Data("after".utf8))
        #expect(try await store.check(digests: true).problems == [])
    }

    /// Simulates a full disk by a limit on file sizes: first for the WAL, then for the bodies.
    private static func fillDisk(_ path: String) throws {
        signal(SIGXFSZ, SIG_IGN)
        let store = try ResponseStore(directory: URL(filePath: path))
        let metadata = EntryMetadata.now
        try store.insert(Data("old".utf8), metadata: metadata, for: .path("a"))
        try store.flush()
        _ = try store.lookup(.path("a"))
        let log = try FileManager.default.attributesOfItem(atPath: path + "/index.sqlite-wal")[.size] as? Int ?? 0

        var limit = rlimit()
        #expect(getrlimit(Resource.fileSize, &limit) == 0)
        let unlimited = limit
        limit.rlim_cur = rlim_t(log)
        #expect(setrlimit(Resource.fileSize, &limit) == 0)
        #expect(throws: StoreError.self) { try store.insert(Data("new".utf8), metadata: metadata, for: .path("a")) }
        #expect(throws: StoreError.self) { try store.insert(Data("other".utf8), metadata: metadata, for: .path("b")) }
        #expect(throws: StoreError.self) { try store.remove(.path("a")) }
        limit.rlim_cur = 1_000
        #expect(setrlimit(Resource.fileSize, &limit) == 0)
        let writer = store.makeBodyWriter()
        let error = #expect(throws: StoreError.self) { try writer.write(Data(repeating: 1, count: 5_000)) }
        guard case .file = error else { preconditionFailure("\(String(describing: error))") }
        #expect(throws: StoreError.closed) { try writer.commit(metadata, for: .path("b")) }
        limit = unlimited
        #expect(setrlimit(Resource.fileSize, &limit) == 0)

        #expect(try store.openBody(of: #require(try store.peek(.path("a"))))?.data() == Data("old".utf8))
        try store.insert(Data("after".utf8), metadata: metadata, for: .path("after"))
        #expect(try store.statistics().hits == 1)
        #expect(try store.check(digests: true).problems == [])
    }
}

/// `RLIMIT_…`, which is an enumeration in Glibc and a number elsewhere.
enum Resource {
    #if canImport(Glibc)
    static let fileSize = __rlimit_resource_t(1)
    static let fileCount = __rlimit_resource_t(7)
    #else
    static let fileSize = RLIMIT_FSIZE
    static let fileCount = RLIMIT_NOFILE
    #endif
}
