import Migrations
import TestSupport

@Suite("Quarantine of an index")
struct SettingAsideTests {
    let sandbox = Sandbox()
    private let log = EventLog()

    private var indexURL: URL { URL(filePath: sandbox.indexPath) }

    private func open() throws -> ResponseStore { try sandbox.open { $0.logger = log.logger } }

    /// A closed store with an entry.
    private func fill() throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        store.close()
    }

    /// The names of the quarantined indices in the store.
    private func setAside() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: sandbox.path)
            .filter { $0.hasPrefix("index.sqlite.quarantined-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            .sorted()
    }

    /// Expects an empty store that works and has logged one error.
    private func expectFreshStart(_ store: ResponseStore, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(try store.peek(.path("a")) == nil, sourceLocation: sourceLocation)
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(try store.bytes(.path("b")) == Data("b".utf8), sourceLocation: sourceLocation)
        try store.sweep()
        #expect(try store.check(digests: true).problems == [], sourceLocation: sourceLocation)
        store.observation.wait()
        #expect(log.errors.count == 1, "\(log.errors)", sourceLocation: sourceLocation)
    }

    @Test(
        "a garbage index is quarantined as a whole, under a dated name", .requirement("A7"),
        arguments: [15, 16, 99, 100, 4_096, 100_000])
    func garbage(_ count: Int) throws {
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        let bytes = Data.noise(count, seed: 1)
        try bytes.write(to: indexURL)
        try expectFreshStart(try open())
        // The clock of the sandbox stands at 1994-11-06T08:49:37Z.
        #expect(try setAside() == ["index.sqlite.quarantined-1994-11-06T084937Z"])
        #expect(try Data(contentsOf: sandbox.url.appending(path: setAside()[0])) == bytes)
    }

    @Test("an index of a newer schema is quarantined", arguments: [migrations.count + 1, 999, Int(Int32.max)])
    func newerSchema(_ version: Int) throws {
        try fill()
        try RawIndex(sandbox.indexPath).execute("PRAGMA user_version = \(version)")
        try expectFreshStart(try open())
        let kept = try RawIndex(sandbox.path + "/" + setAside()[0])
        #expect(try kept.value("PRAGMA user_version") == "\(version)")
        #expect(try kept.value("SELECT count(*) FROM entry") == "1")
    }

    @Test(
        "an index of an impossible version or without one of its tables is quarantined",
        arguments: ["0", "-1", "\(Int32.min)"].map { "PRAGMA user_version = \($0)" }
            + ["entry", "access", "blob", "total", "state", "removal", "request", "tag", "failure"]
            .map { "DROP TABLE \($0)" })
    func unusable(_ damage: String) throws {
        try fill()
        try RawIndex(sandbox.indexPath).execute(damage)
        try expectFreshStart(try open())
    }

    @Test("TRAPS 9: an index whose header forbids writing is quarantined")
    func writeVersion() throws {
        try fill()
        try alter { $0[18] = 7 }
        try expectFreshStart(try open())
    }

    @Test(
        "a directory, pipe or link in place of index or WAL is quarantined, and the target of a link is untouched",
        .requirement("A7"),
        arguments: ["", "-wal", "-shm"], ["directory", "pipe", "link", "dangling"])
    func notRegular(_ suffix: String, _ kind: String) throws {
        try fill()
        let manager = FileManager.default
        let place = URL(filePath: sandbox.indexPath + suffix)
        let foreign = sandbox.directory.url.appending(path: "foreign")
        try Data("foreign".utf8).write(to: foreign)
        try? manager.removeItem(at: place)
        switch kind {
        case "directory": try manager.createDirectory(at: place, withIntermediateDirectories: false)
        case "pipe": #expect(mkfifo(place.path(percentEncoded: false), 0o600) == 0)
        case "link": try manager.createSymbolicLink(at: place, withDestinationURL: foreign)
        default:
            let nothing = sandbox.directory.url.appending(path: "nothing")
            try manager.createSymbolicLink(at: place, withDestinationURL: nothing)
        }
        try expectFreshStart(try open())
        #expect(try Data(contentsOf: foreign) == Data("foreign".utf8))
        #expect(try manager.contentsOfDirectory(atPath: sandbox.directory.path).sorted() == ["foreign", "store"])
    }

    @Test("TRAPS 3: an index that looks damaged to only one connection stays")
    func falseAlarm() throws {
        try fill()
        let store = try open()
        let entry = try #require(try store.peek(.path("a")))
        try store.writer.recover()
        #expect(try store.peek(.path("a")) == entry)
        #expect(try setAside() == [])
        #expect(log.errors == [])
    }

    @Test(
        "if pages are damaged while the store is open, the next call that reads them starts a new index",
        .requirement("A7"))
    func damagedPages() throws {
        try fill()
        let store = try open()
        #expect(try store.lookup(.path("a")) != nil)
        try alter { bytes in
            for page in 1..<bytes.count / 4_096 {
                bytes.replaceSubrange(page * 4_096..<page * 4_096 + 64, with: repeatElement(0x5a, count: 64))
            }
        }
        try store.insert(Data("c".utf8), metadata: sandbox.metadata(), for: .path("c"))
        #expect(try store.bytes(.path("c")) == Data("c".utf8))
        // The new entry does not inherit the noted access of the old entry with its id.
        try store.flush()
        #expect(try store.statistics().hits == 0)
        try expectFreshStart(store)
        #expect(try setAside().count == 1)
    }

    @Test("the recovery of damage found by a background eviction does not wait for the store's own lock")
    func damagedOrder() async throws {
        let filled = try sandbox.open()
        for number in 0..<20 {
            try await filled.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
        }
        filled.close()
        let roots = try RawIndex(sandbox.indexPath).value(
            "SELECT group_concat(rootpage) FROM sqlite_schema WHERE tbl_name = 'access'")
        try alter { bytes in
            for page in try #require(roots).split(separator: ",").compactMap({ Int($0) }) {
                bytes.replaceSubrange((page - 1) * 4_096..<page * 4_096, with: repeatElement(0x5a, count: 4_096))
            }
        }
        let began = ContinuousClock.now
        let store = try sandbox.open {
            $0.logger = log.logger
            $0.limits = Limits(maxEntries: 5)
            $0.busyTimeout = .seconds(600)
        }
        try await store.flush()
        #expect(ContinuousClock.now - began < .seconds(300))
        #expect(try setAside().count == 1)
        try expectFreshStart(store)
    }

    @Test("another open store continues with the new index, and loses no entry that is stored afterwards")
    func others() throws {
        try fill()
        let first = try open()
        #expect(try first.contains(.path("a")))
        try alter { bytes in
            for page in 1..<bytes.count / 4_096 {
                bytes.replaceSubrange(page * 4_096..<page * 4_096 + 64, with: repeatElement(0x5a, count: 64))
            }
        }
        let second = try sandbox.open()
        try second.insert(Data("second".utf8), metadata: sandbox.metadata(), for: .path("second"))
        #expect(try setAside().count == 1)
        try first.insert(Data("first".utf8), metadata: sandbox.metadata(), for: .path("first"))
        #expect(try second.bytes(.path("first")) == Data("first".utf8))
        #expect(try first.bytes(.path("second")) == Data("second".utf8))
        #expect(try setAside().count == 1)
    }

    @Test("of concurrent openers of a garbage index, one quarantines it, and all continue with the same new one")
    func race() throws {
        try FileManager.default.createDirectory(at: sandbox.url, withIntermediateDirectories: true)
        try Data.noise(10_000, seed: 2).write(to: indexURL)
        let stores = Mutex<[ResponseStore]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            guard let store = try? open() else { return }
            _ = try? store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
            stores.withLock { $0.append(store) }
        }
        let opened = stores.withLock { $0 }
        #expect(opened.count == 8)
        for store in opened {
            for number in 0..<8 { #expect(try store.bytes(.path(number)) == Data("\(number)".utf8)) }
        }
        #expect(try setAside().count == 1)
        for store in opened { store.observation.wait() }
        #expect(log.errors.count == 1)
    }

    @Test("keeps the latest quarantined index, and clear() removes it")
    func latest() throws {
        for round in 0..<3 {
            try fill()
            try alter { $0.replaceSubrange(0..<16, with: repeatElement(UInt8(round), count: 16)) }
            sandbox.clock.advance(by: 60)
            try sandbox.open().close()
            #expect(try setAside().count == 1)
        }
        #expect(try setAside() == ["index.sqlite.quarantined-1994-11-06T085237Z"])
        try sandbox.open().clear()
        #expect(try setAside() == [])
    }

    @Test("opening the store sweeps the files of a quarantined index")
    func orphans() async throws {
        try fill()
        try alter { $0.replaceSubrange(0..<16, with: repeatElement(0, count: 16)) }
        let store = try open()
        try await store.flush()
        #expect(sandbox.files() == [])
    }

    @Test("a foreign, damaged or missing WAL never leads to wrong bytes", arguments: ["garbage", "foreign", "missing"])
    func logs(_ kind: String) async throws {
        let foreign = try Self.foreignLog()
        await #expect(processExitsWith: .signal(9)) { [path = sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            for number in 0..<40 {
                try store.insert(Data.noise(300, seed: UInt64(number)), metadata: .now, for: .path(number))
                if number == 20 { try RawIndex(path + "/index.sqlite").execute("PRAGMA wal_checkpoint(TRUNCATE)") }
            }
            kill(getpid(), SIGKILL)
        }
        try expectOnlyItsOwn(kind, foreign)
    }

    private static func foreignLog() throws -> Data {
        let other = Sandbox()
        let store = try other.open()
        for number in 100..<140 {
            try store.insert(
                Data.noise(300, seed: UInt64(number)), metadata: other.metadata(), for: .path(number - 100))
        }
        return try Data(contentsOf: URL(filePath: other.indexPath + "-wal"))
    }

    private func expectOnlyItsOwn(_ kind: String, _ foreign: Data) throws {
        let log = URL(filePath: sandbox.indexPath + "-wal")
        switch kind {
        case "garbage": try Data.noise(50_000, seed: 9).write(to: log)
        case "foreign": try foreign.write(to: log)
        default: try FileManager.default.removeItem(at: log)
        }
        let store = try open()
        for number in 0..<40 {
            let found = try store.bytes(.path(number))
            // Rows of the foreign WAL could also answer, but the files of their bodies are not in this store.
            #expect(found == nil || found == .noise(300, seed: UInt64(number)), "\(number)")
        }
        try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        #expect(try store.bytes(.path("new")) == Data("new".utf8))
        try store.repair(digests: true)
        #expect(try store.check(digests: true).problems == [])
    }

    /// Overwrites bytes of the index in place, as a failing disk does.
    private func alter(_ change: (inout Data) throws -> Void) throws {
        _ = try? RawIndex(sandbox.indexPath).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        var bytes = try Data(contentsOf: indexURL)
        try change(&bytes)
        let file = try FileHandle(forUpdating: indexURL)
        try file.write(contentsOf: bytes)
        try file.close()
    }
}
