import FaultModel
import TestSupport

@Suite("Full disks")
struct FullDiskAvailabilityTests {
    /// Makes a run that skips all tests of full disks distinguishable from a run that passes them.
    @Test("Reports a run that cannot mount a small disk")
    func warning() {
        guard !SmallDisk.isPossible else { return }
        Issue.record("No test of full disks runs: this process may not mount a file system", severity: .warning)
    }
}

@Suite("A full disk", .enabled(if: SmallDisk.isPossible, "needs Linux, and the right to mount a file system"))
struct FullDiskTests {
    /// The ballast needs 8 MiB of free space.
    private static let diskBytes = 24 << 20

    private let disk: SmallDisk
    private var directory: URL { disk.url.appending(path: "store") }
    /// The file of another program.
    private var other: URL { disk.url.appending(path: "other") }

    init() throws { disk = try #require(try SmallDisk(byteCount: Self.diskBytes)) }

    private func put(_ number: Int, _ byteCount: Int, _ store: ResponseStore) throws(StoreError) {
        let version = Version(UInt64(number + 1), byteCount)
        try store.insert(
            version.bytes, metadata: EntryMetadata(etag: version.etag, requestedAt: Date(), receivedAt: Date()),
            for: CacheKey(name: "\(number)"))
    }

    /// A store with so many bodies, and its ballast.
    private func filled(_ count: Int, _ byteCount: Int = 4_000) async throws -> ResponseStore {
        let store = try ResponseStore(directory: directory)
        for number in 0..<count { try put(number, byteCount, store) }
        try await store.flush()
        return store
    }

    private func verify(_ numbers: Range<Int>, _ byteCount: Int, _ store: ResponseStore, mayMiss: Bool) throws {
        for number in numbers {
            let version = Version(UInt64(number + 1), byteCount)
            let entry = try store.peek(CacheKey(name: "\(number)"))
            let body = try entry.flatMap { try store.openBody(of: $0)?.data() }
            #expect(body == version.bytes || (mayMiss && body == nil), "\(number)")
        }
    }

    @Test(
        "a store that fills the disk evicts entries: puts and reads continue",
        arguments: [Repetitions.count(2_000, debug: 8_000), 300_000])
    func full(_ byteCount: Int) throws {
        let store = try ResponseStore(directory: directory)
        // A file takes whole pages.
        let count = 2 * Self.diskBytes / ((byteCount + 4_095) / 4_096 * 4_096)
        for number in 0..<count {
            try put(number, byteCount, store)
            try verify(number..<number + 1, byteCount, store, mayMiss: false)
        }
        try verify(0..<count, byteCount, store, mayMiss: true)
        let statistics = try store.statistics()
        #expect((6..<count).contains(statistics.entries))
        try store.evict(maxBytes: statistics.physicalBytes / 4)
        #expect(try store.statistics().physicalBytes <= statistics.physicalBytes / 4)
        try store.evict(maxBytes: 0)
        try put(count, byteCount, store)
        try store.sweep()
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("other files fill the disk: reads continue, a put evicts with the ballast's space", arguments: [500, 20_000])
    func fullOfOthers(_ byteCount: Int) async throws {
        let store = try await filled(100, byteCount)
        #expect(try ballast() == 1 << 20)
        try fillCompletely()
        for number in 100..<110 {
            try put(number, byteCount, store)
            try verify(number..<number + 1, byteCount, store, mayMiss: false)
        }
        try verify(0..<110, byteCount, store, mayMiss: true)
        try giveBack()
        try put(110, 300_000, store)
        try verify(110..<111, 300_000, store, mayMiss: false)
        try await store.sweep()
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a body larger than the space that an eviction can free is refused, and no other entry is lost")
    func tooLarge() async throws {
        let store = try await filled(10)
        try fillCompletely()
        do throws(StoreError) {
            try put(10, 4_000_000, store)
            Issue.record("a body of 4 MB found room")
        } catch {
            #expect(error.isFullDisk, "\(error)")
        }
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("an eviction and a removal on a full disk free space")
    func removals() async throws {
        let store = try await filled(200)
        try fillCompletely()
        #expect(try await store.remove(CacheKey(name: "0")))
        #expect(try await store.evict(.maxEntries(10)).entries == 189)
        try verify(190..<200, 4_000, store, mayMiss: false)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("the ballast is created again once the disk has free space")
    func ballastReturns() async throws {
        let store = try await filled(100)
        try fillCompletely()
        try put(100, 4_000, store)
        #expect(try ballast() == nil)
        try giveBack()
        store.close()
        let reopened = try ResponseStore(directory: directory)
        try await reopened.flush()
        #expect(try ballast() == 1 << 20)
        #expect(try await reopened.check(digests: true).foreignFiles == [])
    }

    @Test("a closed store opens on a full disk, and continues after a suspension", arguments: [false, true])
    func openedOnFullDisk(_ isSuspended: Bool) async throws {
        let first = try await filled(100)
        if isSuspended { first.suspend() } else { first.close() }
        try fillCompletely()
        if isSuspended { try first.resume() }
        let store = isSuspended ? first : try ResponseStore(directory: directory)
        // Evicts in the background, because it needed the ballast.
        try await store.flush()
        try put(100, 4_000, store)
        try verify(100..<101, 4_000, store, mayMiss: false)
        try verify(0..<100, 4_000, store, mayMiss: true)
        #expect(try store.statistics().entries > 50)
        #expect(try await store.check(digests: true).problems == [])
    }

    @Test("a small put evicts few entries", arguments: [(1_000, 0.7), (4_000, 0.8)])
    func little(_ byteCount: Int, _ share: Double) async throws {
        let store = try await filled(1_000, byteCount)
        try fillCompletely()
        for number in 1_000..<3_000 {
            try put(number, byteCount, store)
            let count = try store.statistics().entries
            guard count <= number else { continue }
            #expect(Double(count) > share * Double(number))
            break
        }
    }

    private func ballast() throws -> Int? {
        try? directory.appending(path: "ballast").resourceValues(forKeys: [.fileSizeKey]).fileSize
    }

    @Test("a transaction whose pages do not all fit on the disk does not commit, after any number of attempts")
    func spilledPages() throws {
        let path = disk.url.appending(path: "test.sqlite").path(percentEncoded: false)
        let connection = try Connection(path: path, role: .writer, busyTimeout: .seconds(1), creates: true)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = 10")
        try connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, round INTEGER, bytes BLOB)")
        try connection.execute("INSERT INTO item VALUES (0, 0, zeroblob(3000))")
        try fillCompletely()
        try connection.execute("BEGIN IMMEDIATE")
        var failures = 0
        for round in 0..<100 {
            // Alternates the direction, so that SQLite reads evicted pages again.
            for id in [round, round / 2, 0] {
                do {
                    try connection.execute("INSERT OR REPLACE INTO item VALUES (\(id), \(round), zeroblob(3000))")
                } catch {
                    failures += 1
                    #expect(error.sqlite?.code == 13 || error.sqlite?.code == 10, "\(error)")
                }
                guard connection.isInTransaction else { break }
            }
            guard connection.isInTransaction else { break }
        }
        if connection.isInTransaction { _ = try? connection.execute("COMMIT") }
        #expect(failures > 0)
        if connection.isInTransaction { try connection.execute("ROLLBACK") }
        try giveBack()
        try connection.execute("INSERT INTO item VALUES (1, 1, zeroblob(3000))")
        let found = try connection.prepare(
            "SELECT group_concat(id || ':' || round), (SELECT * FROM pragma_integrity_check) FROM item")
        defer { found.reset() }
        #expect(try found.step())
        #expect(found.text(0) == "0:0,1:1")
        #expect(found.text(1) == "ok")
    }

    /// Frees the bytes of that file. Truncates it before the removal, because a program started by another test may
    /// have it open.
    private func giveBack() throws {
        try #require(truncate(other.path(percentEncoded: false), 0) == 0)
        try FileManager.default.removeItem(at: other)
    }

    /// Writes a file that takes all free space.
    private func fillCompletely() throws {
        let file = open(other.path(percentEncoded: false), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(file, zeros, zeros.count) > 0 {}
        #expect(errno == ENOSPC)
    }
}

extension StoreError {
    fileprivate var isFullDisk: Bool {
        switch self {
        case .file(let error): error.errno == ENOSPC
        // SQLITE_FULL, or a write that SQLite reports as an I/O error on a full disk.
        case .index(let error): error.code == 13 || error.code == 10
        default: false
        }
    }
}
