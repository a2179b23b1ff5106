import CacheStore
import FaultModel
import Foundation
import TestSupport
import Testing

@Suite("A full disk", .enabled(if: SmallDisk.isPossible, "needs Linux, and the right to mount a file system"))
struct FullDiskTests {
    private static let diskBytes = 8 << 20

    private let disk: SmallDisk
    private var directory: URL { disk.url.appending(path: "store") }

    init() throws {
        disk = try #require(try SmallDisk(byteCount: Self.diskBytes))
    }

    private func put(_ number: Int, _ byteCount: Int, _ store: ResponseStore) throws(StoreError) {
        let version = Version(UInt64(number + 1), byteCount)
        try store.insert(
            version.bytes, metadata: EntryMetadata(etag: version.etag, requestedAt: Date(), receivedAt: Date()),
            for: CacheKey(name: "\(number)"))
    }

    private func verify(_ numbers: Range<Int>, _ byteCount: Int, _ store: ResponseStore, mayMiss: Bool) throws {
        for number in numbers {
            let version = Version(UInt64(number + 1), byteCount)
            let entry = try store.peek(CacheKey(name: "\(number)"))
            let body = try entry.flatMap { try store.openBody(of: $0)?.data() }
            #expect(body == version.bytes || (mayMiss && body == nil), "\(number)")
        }
    }

    @Test("a store that fills the disk by itself evicts: puts and reads go on", arguments: [2_000, 300_000])
    func full(_ byteCount: Int) throws {
        let store = try ResponseStore(directory: directory)
        // A small file takes a page, too.
        let count = 2 * Self.diskBytes / max(byteCount, 4_096)
        for number in 0..<count {
            try put(number, byteCount, store)
            try verify(number..<number + 1, byteCount, store, mayMiss: false)
        }
        try verify(0..<count, byteCount, store, mayMiss: true)
        let statistics = try store.statistics()
        #expect(statistics.entries > 5 && statistics.entries < count)
        try store.evict(maxBytes: statistics.physicalBytes / 4)
        #expect(try store.statistics().physicalBytes <= statistics.physicalBytes / 4)
        try store.evict(maxBytes: 0)
        try put(count, byteCount, store)
        try store.sweep()
        #expect(try store.check(digests: true).problems == [])
    }

    @Test(
        "others leave not a byte: reads go on, writes are refused, and all works as soon as there is room",
        arguments: [500, 20_000], [0, 65_536])
    func fullOfOthers(_ byteCount: Int, _ inlineLimit: Int) throws {
        var configuration = ResponseStore.Configuration()
        configuration.inlineLimit = inlineLimit
        let store = try ResponseStore(directory: directory, configuration: configuration)
        for number in 0..<100 { try put(number, byteCount, store) }
        let other = disk.url.appending(path: "other")
        try fillCompletely(other)
        do throws(StoreError) {
            try put(100, 300_000, store)
        } catch {
            #expect(error.isFullDisk, "\(error)")
        }
        try verify(0..<100, byteCount, store, mayMiss: true)
        // The log has to grow before a file can go, so this eviction may be refused too.
        do throws(StoreError) {
            try store.evict(maxEntries: 10)
        } catch {
            #expect(error.isFullDisk, "\(error)")
        }
        try verify(0..<100, byteCount, store, mayMiss: true)
        try giveBack(other)
        try store.evict(maxEntries: 10)
        #expect(try store.statistics().entries <= 10)
        try put(100, 300_000, store)
        try verify(100..<101, 300_000, store, mayMiss: false)
        try store.sweep()
        #expect(try store.check(digests: true).problems == [])
    }

    @Test("a log that can neither grow nor go to the index is made room for", arguments: [1_000, 4_000])
    func longLog(_ byteCount: Int) throws {
        let store = try ResponseStore(directory: directory)
        let reader = try makeLongLog(store, byteCount: byteCount)
        try reader.execute("ROLLBACK")
        // A use that is only noted counts, too.
        #expect(try store.lookup(CacheKey(name: "0")) != nil)
        for number in 100..<110 {
            try put(number, byteCount, store)
            try verify(number..<number + 1, byteCount, store, mayMiss: false)
        }
        try verify(0..<1, byteCount, store, mayMiss: false)
        try verify(0..<110, byteCount, store, mayMiss: true)
        #expect(try store.check(digests: true).problems == [])
    }

    /// Makes a log that has no room in the index, and takes the rest of the disk.
    ///
    /// - Returns: The connection that has kept the log from beginning anew, and may still.
    private func makeLongLog(_ store: ResponseStore, byteCount: Int) throws -> Connection {
        try put(0, byteCount, store)
        // Who reads the index as it was keeps the log from beginning anew.
        let path = directory.appending(path: "index.sqlite").path(percentEncoded: false)
        let reader = try Connection(path: path, role: .reader, busyTimeout: .seconds(1))
        try reader.execute("BEGIN; SELECT * FROM entry")
        for number in 1..<100 { try put(number, byteCount, store) }
        try fillCompletely(disk.url.appending(path: "other"))
        return reader
    }

    @Test("who has written nothing yet makes room, too")
    func longLogOfOthers() throws {
        let stores = try (0..<2).map { _ in try ResponseStore(directory: directory) }
        try makeLongLog(stores[0], byteCount: 4_000).execute("ROLLBACK")
        try put(100, 4_000, stores[1])
        try verify(100..<101, 4_000, stores[0], mayMiss: false)
        try verify(0..<100, 4_000, stores[0], mayMiss: true)
        #expect(try stores[1].check(digests: true).problems == [])
    }

    /// Closes the store, and puts what a kill would have left of it elsewhere on the disk, which is full then.
    private func leaveAsKilled(_ store: ResponseStore, _ reader: inout Connection?) throws -> URL {
        // What a kill leaves: the log, and an index that knows of its user.
        let names = ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"]
        let left = try names.map { try Data(contentsOf: directory.appending(path: $0)) }
        try reader?.execute("ROLLBACK")
        reader = nil
        store.close()
        try giveBack(disk.url.appending(path: "other"))
        let killed = disk.url.appending(path: "killed")
        try FileManager.default.createDirectory(at: killed, withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: directory.appending(path: "blobs"), to: killed.appending(path: "blobs"))
        try FileManager.default.removeItem(at: directory)
        for (name, bytes) in zip(names, left) { try bytes.write(to: killed.appending(path: name)) }
        try fillCompletely(disk.url.appending(path: "other"))
        return killed
    }

    @Test("a log that goes to the index when an opening fails is room for the next try")
    func logThatNeedsNoRoom() throws {
        let filled = try ResponseStore(directory: directory)
        for number in 0..<100 { try put(number, 4_000, filled) }
        try filled.setOptions(EntryOptions(lifetime: .session), for: CacheKey(name: "0"))
        // Not by closing it, which would end the session.
        let path = directory.appending(path: "index.sqlite").path(percentEncoded: false)
        var reader: Connection? = try Connection(path: path, role: .reader, busyTimeout: .seconds(1))
        try reader?.execute("BEGIN; SELECT * FROM entry")
        // What is changed in place makes the log longer, and not the index.
        for round in 0..<100 {
            try filled.setOptions(EntryOptions(isPinned: round.isMultiple(of: 2)), for: CacheKey(name: "\(round % 10 + 1)"))
        }
        let killed = try leaveAsKilled(filled, &reader)
        let opened = try ResponseStore(directory: killed)
        #expect(try !opened.contains(CacheKey(name: "0")))
        try verify(1..<100, 4_000, opened, mayMiss: false)
    }

    @Test("a store that was killed when its log had no room is opened", arguments: [false, true])
    func longLogOfTheKilled(_ leavesSession: Bool) throws {
        let store = try ResponseStore(directory: directory)
        if leavesSession {
            try put(200, 4_000, store)
            try store.setOptions(EntryOptions(lifetime: .session), for: CacheKey(name: "200"))
        }
        var reader: Connection? = try makeLongLog(store, byteCount: 4_000)
        let killed = try leaveAsKilled(store, &reader)
        let opened = try ResponseStore(directory: killed)
        // Where the end of the session is to be written, bodies go first.
        try verify(0..<100, 4_000, opened, mayMiss: leavesSession)
        #expect(try !opened.contains(CacheKey(name: "200")))
        try put(100, 4_000, opened)
        try verify(100..<101, 4_000, opened, mayMiss: false)
        if !leavesSession { #expect(try opened.check(digests: true).problems == []) }
    }

    @Test("a store that was closed is opened, and evicts a little", arguments: [false, true], [false, true])
    func closed(_ leavesSession: Bool, _ choosesPolicy: Bool) async throws {
        let filled = try ResponseStore(directory: directory)
        // By their value the large ones would go first.
        for number in 0..<100 { try put(number, number < 50 ? 20_000 : 30_000, filled) }
        if leavesSession { try await filled.setOptions(EntryOptions(lifetime: .session), for: CacheKey(name: "99")) }
        filled.close()
        try fillCompletely(disk.url.appending(path: "other"))
        var configuration = ResponseStore.Configuration()
        if choosesPolicy { configuration.evictionPolicy = .valueAware }
        let store = try ResponseStore(directory: directory, configuration: configuration)
        #expect(try store.contains(CacheKey(name: "99")) == !leavesSession)
        try await store.flush()
        try verify(20..<50, 20_000, store, mayMiss: false)
        try verify(50..<99, 30_000, store, mayMiss: false)
        #expect(try await store.check(digests: true).problems == [])
        #expect(try store.statistics().entries < 99)
        try put(100, 20_000, store)
        try verify(100..<101, 20_000, store, mayMiss: false)
    }

    @Test("a store that was suspended goes on, and evicts a little")
    func suspended() async throws {
        let store = try ResponseStore(directory: directory)
        for number in 0..<100 { try put(number, 20_000, store) }
        store.suspend()
        try fillCompletely(disk.url.appending(path: "other"))
        try store.resume()
        try verify(20..<100, 20_000, store, mayMiss: false)
        try await store.flush()
        #expect(try await store.check(digests: true).problems == [])
        #expect(try store.statistics().entries < 100)
    }

    @Test("what was deleted in vain before, or is in the index, is no room", arguments: [false, true])
    func deletedInVain(_ isInline: Bool) async throws {
        var configuration = ResponseStore.Configuration()
        if isInline { configuration.inlineLimit = 65_536 }
        var store = try ResponseStore(directory: directory, configuration: configuration)
        for number in 0..<30 { try put(number, 20_000, store) }
        store.close()
        store = try ResponseStore(directory: directory)
        for number in 30..<100 { try put(number, 20_000, store) }
        if !isInline {
            for row in try store.query("SELECT file_path FROM cache_entries ORDER BY accessed_at, id LIMIT 30") {
                let path = try #require(row["file_path"]?.text)
                try FileManager.default.removeItem(at: directory.appending(path: path))
            }
        }
        store.close()
        try fillCompletely(disk.url.appending(path: "other"))
        store = try ResponseStore(directory: directory)
        try verify(60..<100, 20_000, store, mayMiss: false)
        try await store.flush()
        #expect(try store.statistics().entries <= 70)
        try put(100, 20_000, store)
        try verify(100..<101, 20_000, store, mayMiss: false)
    }

    @Test("a store that has no body in a file is not opened, and loses nothing")
    func nothingToDelete() throws {
        var configuration = ResponseStore.Configuration()
        configuration.inlineLimit = 65_536
        let filled = try ResponseStore(directory: directory, configuration: configuration)
        for number in 0..<100 { try put(number, 2_000, filled) }
        filled.close()
        let other = disk.url.appending(path: "other")
        try fillCompletely(other)
        #expect(throws: StoreError.self) { try ResponseStore(directory: directory) }
        try giveBack(other)
        let store = try ResponseStore(directory: directory)
        try verify(0..<100, 2_000, store, mayMiss: false)
    }

    @Test("a reader that stays keeps nobody from writing for long")
    func longLogThatIsRead() throws {
        let store = try ResponseStore(directory: directory)
        let reader = try makeLongLog(store, byteCount: 4_000)
        defer { _ = try? reader.execute("ROLLBACK") }
        let began = ContinuousClock.now
        do throws(StoreError) {
            try put(100, 4_000, store)
        } catch {
            #expect(error.isFullDisk, "\(error)")
        }
        // Each wait for the reader would take the busy timeout, five seconds.
        #expect(ContinuousClock.now - began < .seconds(4))
        try verify(0..<100, 4_000, store, mayMiss: true)
    }

    @Test("what no entry needs any more is room, too")
    func replaced() throws {
        let store = try ResponseStore(directory: directory)
        try put(0, 3_000_000, store)
        try put(0, 3_000_001, store)
        let version = Version(UInt64(2), 3_000_000)
        let writer = store.makeBodyWriter()
        for start in stride(from: 0, to: version.bytes.count, by: 65_536) {
            try writer.write(version.bytes[start..<min(start + 65_536, version.bytes.count)])
        }
        try writer.commit(
            EntryMetadata(etag: version.etag, requestedAt: Date(), receivedAt: Date()),
            for: CacheKey(name: "1"))
        try verify(1..<2, 3_000_000, store, mayMiss: false)
    }

    @Test("little is evicted for little", arguments: [(300, 0.65), (1_000, 0.7), (4_000, 0.8)])
    func little(_ byteCount: Int, _ share: Double) throws {
        let filled = try ResponseStore(directory: directory)
        for number in 0..<1_000 { try put(number, byteCount, filled) }
        // With a log that the index has all of.
        filled.close()
        let store = try ResponseStore(directory: directory)
        try fillCompletely(disk.url.appending(path: "other"))
        for number in 1_000... {
            try put(number, byteCount, store)
            let count = try store.statistics().entries
            guard count <= number else { continue }
            #expect(Double(count) > share * Double(number))
            break
        }
    }

    @Test("a transaction some of whose pages found no room does not commit, however often it is tried")
    func spilledPages() throws {
        let path = disk.url.appending(path: "test.sqlite").path(percentEncoded: false)
        let connection = try Connection(path: path, role: .writer, busyTimeout: .seconds(1))
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA cache_size = 10")
        try connection.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, round INTEGER, bytes BLOB)")
        try connection.execute("INSERT INTO item VALUES (0, 0, zeroblob(3000))")
        let other = disk.url.appending(path: "other")
        try fillCompletely(other)
        try connection.execute("BEGIN IMMEDIATE")
        var failures = 0
        for round in 0..<100 {
            // Back and forth, so that pages which have left the cache are read again.
            for id in [round, round / 2, 0] {
                do {
                    try connection.execute("INSERT OR REPLACE INTO item VALUES (\(id), \(round), zeroblob(3000))")
                } catch {
                    failures += 1
                    #expect(error.code == 13 || error.code == 10, "\(error)")
                }
                guard connection.isInTransaction else { break }
            }
            guard connection.isInTransaction else { break }
        }
        if connection.isInTransaction { _ = try? connection.execute("COMMIT") }
        #expect(failures > 0)
        if connection.isInTransaction { try connection.execute("ROLLBACK") }
        try giveBack(other)
        try connection.execute("INSERT INTO item VALUES (1, 1, zeroblob(3000))")
        let found = try connection.prepare(
            "SELECT group_concat(id || ':' || round), (SELECT * FROM pragma_integrity_check) FROM item")
        defer { found.reset() }
        #expect(try found.step())
        #expect(found.text(0) == "0:0,1:1")
        #expect(found.text(1) == "ok")
    }

    /// Gives the bytes of such a file back. By cutting it: a program that another test is just starting may have it open, too.
    private func giveBack(_ url: URL) throws {
        try #require(truncate(url.path(percentEncoded: false), 0) == 0)
        try FileManager.default.removeItem(at: url)
    }

    /// Writes a file that takes every byte that is left.
    private func fillCompletely(_ url: URL) throws {
        let file = open(url.path(percentEncoded: false), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
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
        // SQLITE_FULL; or one of the writes that SQLite calls an I/O error when the disk is full.
        case .index(let error): error.code == 13 || error.code == 10
        default: false
        }
    }
}
