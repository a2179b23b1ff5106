import Logging
import TestSupport

@Suite("Recovery at opening")
struct RecoveryAtOpeningTests {
    let sandbox = Sandbox()

    private static let damages: [@Sendable (inout Data, Range<Int>) -> Void] = [
        { bytes, page in bytes.resetBytes(in: page) },
        { bytes, page in for index in page { bytes[index] = 0xA5 } },
        { bytes, page in for index in page.prefix(16) { bytes[index] ^= 0xFF } },
    ]

    @Test("a recovery of a sound index leaves the process counted once")
    func registration() throws {
        let store = try sandbox.open()
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        try store.writer.recover()
        try store.insert(Data("b".utf8), metadata: sandbox.metadata(), for: .path("b"))
        #expect(try store.writerCount() == 1)
        store.close()
        #expect(try RawIndex(sandbox.indexPath).value("SELECT writer_count FROM state") == "0")
    }

    @Test("a store with any single damaged page can be opened and used", arguments: 0..<3)
    func everyPage(_ damage: Int) async throws {
        let store = try sandbox.open()
        for number in 0..<20 {
            try await store.insert(
                Data("body \(number)".utf8), metadata: sandbox.metadata(), for: .path(number),
                options: EntryOptions(lifetime: number % 2 == 0 ? .session : nil, isPinned: number == 3, tags: ["t"]))
            _ = try store.lookup(.path(number))
        }
        store.close()
        let index = URL(filePath: sandbox.indexPath)
        let sound = try Data(contentsOf: index)
        #expect(sound.count >= 29 * 4_096)
        for start in stride(from: 0, to: sound.count, by: 4_096) {
            var bytes = sound
            Self.damages[damage](&bytes, start..<start + 4_096)
            for name in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sandbox.indexPath + name) }
            try bytes.write(to: index)
            let store = try sandbox.open()
            try await store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
            for number in 0..<20 {
                let body = try store.bytes(.path(number))
                #expect(body == nil || body == Data("body \(number)".utf8), "page \(start / 4_096)")
            }
            // The lookups or the sweeps have detected the damage, and have started a new index.
            try await store.sweep()
            try await store.insert(Data("newer".utf8), metadata: sandbox.metadata(), for: .path("newer"))
            #expect(try store.bytes(.path("newer")) == Data("newer".utf8), "page \(start / 4_096)")
            store.close()
        }
    }

    @Test("a sweep recovers from a damaged list of bodies", arguments: 0..<3)
    func sweep(_ damage: Int) throws {
        var store = try sandbox.open()
        for number in 0..<20 {
            try store.insert(Data("body \(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
        }
        store.close()
        let page = try RawIndex(sandbox.indexPath).value(
            "SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'blob'")
        let start = (try #require(page.flatMap { Int($0) }) - 1) * 4_096
        let index = URL(filePath: sandbox.indexPath)
        var bytes = try Data(contentsOf: index)
        Self.damages[damage](&bytes, start..<start + 4_096)
        for name in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: sandbox.indexPath + name) }
        try bytes.write(to: index)
        store = try sandbox.open()
        try store.sweep()
        try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
        #expect(try store.bytes(.path("new")) == Data("new".utf8))
        try store.sweep()
        #expect(try store.check(digests: true).problems == [])
    }

    @Test(
        "counters at their maximum, by edit or damage, stop neither opening, storing nor removing",
        arguments: [
            "UPDATE state SET session = \(Int64.max)", "UPDATE state SET generation = \(Int64.max)",
            "UPDATE state SET writer_count = \(Int64.max)", "UPDATE total SET last_id = \(Int64.max)",
            "UPDATE total SET unused_id = \(Int64.max)", "UPDATE state SET session = \(Int64.min)",
            "UPDATE state SET generation = \(Int64.min)", "UPDATE total SET last_id = \(Int64.min)",
            "UPDATE total SET last_id = (1 << 39) - 1",
        ])
    func counters(_ sql: String) throws {
        let store = try sandbox.open()
        for number in 0..<3 {
            try store.insert(
                Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number),
                options: EntryOptions(lifetime: .session))
        }
        try store.insert(Data("kept".utf8), metadata: sandbox.metadata(), for: .path("kept"))
        store.close()
        try RawIndex(sandbox.indexPath).execute(sql)
        for _ in 0..<2 {
            let store = try sandbox.open()
            let generation = try store.generation()
            #expect(try store.bytes(.path(0)) == nil)
            #expect(try store.bytes(.path("kept")) == Data("kept".utf8))
            try store.insert(Data("new".utf8), metadata: sandbox.metadata(), for: .path("new"))
            #expect(try store.remove(.path("new")))
            let writer = store.makeBodyWriter()
            try writer.write(Data("late".utf8))
            #expect(throws: StoreError.self) {
                try writer.commit(sandbox.metadata(), for: .path("new"), unlessRemovedSince: generation)
            }
            store.close()
        }
    }

    @Test("a store that closes or is suspended while a writer keeps the lock waits for 50 ms, not for its timeout")
    func closing() throws {
        for isSuspended in [false, true] {
            let store = try sandbox.open { $0.busyTimeout = .seconds(20) }
            try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
            _ = try store.lookup(.path("a"))
            let other = try RawIndex(sandbox.indexPath)
            try other.execute("BEGIN IMMEDIATE")
            let start = ContinuousClock.now
            if isSuspended { store.suspend() } else { store.close() }
            #expect(ContinuousClock.now - start < .seconds(15))
            try other.execute("ROLLBACK")
        }
    }

    @Test("a log handler may call its store", .timeLimit(.minutes(5)))
    func logHandlerCallsStore() async throws {
        let handler = StoreCallingHandler()
        let store = try sandbox.open {
            $0.limits = Limits(maxEntries: 5)
            $0.logsEviction = true
            $0.logger = Logger(label: "test") { _ in handler }
            $0.logger.logLevel = .debug
        }
        handler.shared.store.withLock { $0 = store }
        for number in 0..<30 {
            try await store.insert(Data("\(number)".utf8), metadata: sandbox.metadata(), for: .path(number))
        }
        store.observation.wait()
        #expect(handler.shared.calls.withLock { $0 } > 0)
        handler.shared.store.withLock { $0 = nil }
    }
}

/// Stores an entry for each message.
private struct StoreCallingHandler: LogHandler {
    final class Shared: Sendable {
        let store = Mutex<ResponseStore?>(nil)
        let calls = Mutex(0)
    }

    let shared = Shared()
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.debug

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        guard let store = shared.store.withLock({ $0 }) else { return }
        let now = Date()
        _ = try? store.insert(
            Data("logged".utf8), metadata: EntryMetadata(requestedAt: now, receivedAt: now), for: .path("logged"))
        shared.calls.withLock { $0 += 1 }
    }
}
