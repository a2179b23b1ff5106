import TestSupport

@Suite("Key locks")
struct KeyLocksTests {
    let sandbox = Sandbox()
    let store: ResponseStore
    let other: ResponseStore

    init() throws { (store, other) = (try sandbox.open(), try sandbox.open()) }

    private var file: URL { sandbox.url.appending(path: "locks") }

    private func exists() -> Bool { FileManager.default.fileExists(atPath: file.path(percentEncoded: false)) }

    // MARK: Locking

    @Test("one of several stores locks a key until its release or the end of the last reference")
    func exclusive() throws {
        let key = try CacheKey.path("a")
        for isReleased in [true, false, true] {
            var lock = try store.tryLock(key)
            #expect(lock != nil)
            #expect(try store.tryLock(key) == nil)
            #expect(try other.tryLock(key) == nil)
            #expect(try other.tryLock(CacheKey(url: key.text, partition: "p")) != nil)
            #expect(try other.tryLock(.path("b")) != nil)
            if isReleased {
                lock?.release()
                // A second release does not release a later lock.
                let next = try #require(try other.tryLock(key))
                lock?.release()
                #expect(try store.tryLock(key) == nil)
                next.release()
            }
            lock = nil
            #expect(try other.tryLock(key) != nil)
        }
    }

    @Test("2,000 locked keys need one descriptor, and each lock is released separately")
    func manyKeys() throws {
        let keys = try (0..<2_000).map { try CacheKey.path($0) }
        var locks = try keys.map { try store.tryLock($0) }
        #expect(locks.allSatisfy { $0 != nil })
        #expect(try keys.allSatisfy { try other.tryLock($0) == nil })
        // One descriptor per store.
        #expect(try sandbox.descriptorCount(of: "locks") == 2)
        for number in stride(from: 0, to: 2_000, by: 2) { locks[number] = nil }
        for (number, key) in keys.enumerated() { #expect(try (other.tryLock(key) != nil) == number.isMultiple(of: 2)) }
    }

    @Test("keys with the same offset exclude each other, and no other keys", arguments: [0, 2, 62] as [Int64])
    func collisions(_ bits: Int64) throws {
        let root = try FileDescriptor.openDirectory(atPath: sandbox.path)
        let (here, there) = (
            KeyLocks(root: root, isReadOnly: false, offsetBits: bits),
            KeyLocks(root: root, isReadOnly: false, offsetBits: bits)
        )
        var waiting = try (0..<50).map { try CacheKey.path($0) }
        var rounds = 0
        while !waiting.isEmpty {
            // The two objects alternate; this round's locks end with it.
            let outcomes = try waiting.enumerated().map { try ($0.isMultiple(of: 2) ? here : there).tryLock($1) }
            let left = zip(waiting, outcomes).filter { if case .locked = $1 { false } else { true } }
            #expect(left.count < waiting.count)
            waiting = left.map(\.0)
            rounds += 1
        }
        #expect(bits == 0 ? rounds == 50 : bits == 62 ? rounds == 1 : (13...50).contains(rounds))
    }

    @Test("a read-only store respects the locks of other stores, and excludes none of them")
    func readOnly() throws {
        let reader = try sandbox.open { $0.isReadOnly = true }
        let mine = try #require(try reader.tryLock(.path("a")))
        #expect(!exists())
        #expect(try reader.tryLock(.path("a")) == nil)
        let lock = try #require(try store.tryLock(.path("a")))
        #expect(exists())
        mine.release()
        #expect(try reader.tryLock(.path("a")) == nil)
        lock.release()
        #expect(try reader.tryLock(.path("a")) != nil)
    }

    @Test("closing, suspending or releasing a store releases its locks; an earlier lock then releases nothing")
    func ended() throws {
        let before = try #require(try store.tryLock(.path("a")))
        store.suspend()
        #expect(throws: StoreError.suspended) { try store.tryLock(.path("a")) }
        try #require(try other.tryLock(.path("a"))).release()
        try store.resume()
        let after = try #require(try store.tryLock(.path("a")))
        before.release()
        #expect(try store.tryLock(.path("a")) == nil)
        #expect(try other.tryLock(.path("a")) == nil)
        store.suspend()
        store.close()
        try store.resume()
        #expect(throws: StoreError.closed) { try store.tryLock(.path("a")) }
        #expect(try other.tryLock(.path("a")) != nil)
        after.release()
        var third: ResponseStore? = try sandbox.open()
        let orphan = try #require(try third?.tryLock(.path("b")))
        #expect(try other.tryLock(.path("b")) == nil)
        third = nil
        #expect(try other.tryLock(.path("b")) != nil)
        orphan.release()
    }

    // MARK: The file

    @Test("a key lock creates an empty file only for its owner; check, sweep and snapshot ignore the file")
    func directory() async throws {
        #expect(!exists())
        let lock = try #require(try store.tryLock(.path("a")))
        #expect(try sandbox.modes()["locks"] == 0o600)
        try await store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("a"))
        let target = Sandbox()
        try await store.snapshot(to: target.url)
        #expect(try target.modes()["locks"] == nil)
        try await store.sweep()
        try await store.clear()
        try await store.repair(digests: true)
        let report = try await store.check(digests: true)
        #expect(report.isSound)
        #expect(report.foreignFiles == [])
        #expect(try Data(contentsOf: file) == Data())
        #expect(try sandbox.open().tryLock(.path("a")) == nil)
        lock.release()
    }

    @Test("a deleted file is created again: it holds new locks, and old locks stay in their store")
    func deleted() throws {
        let old = try #require(try store.tryLock(.path("old")))
        #expect(try other.tryLock(.path("old")) == nil)
        try FileManager.default.removeItem(at: file)
        let new = try #require(try other.tryLock(.path("new")))
        #expect(try store.tryLock(.path("new")) == nil)
        #expect(try store.tryLock(.path("old")) == nil)
        #expect(try other.tryLock(.path("old")) != nil)
        for lock in [old, new] { lock.release() }
        #expect(try store.tryLock(.path("old")) != nil)
        #expect(try store.tryLock(.path("new")) != nil)
    }

    enum Obstacle: String, CaseIterable, CustomTestStringConvertible {
        case directory, fifo, link, loop

        var testDescription: String { rawValue }
    }

    @Test("without the file, key locks work only within one store", arguments: Obstacle.allCases)
    func obstacles(_ obstacle: Obstacle) throws {
        let reader = try sandbox.open { $0.isReadOnly = true }
        let (path, elsewhere) = (file.path(percentEncoded: false), sandbox.directory.path + "/elsewhere")
        switch obstacle {
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .link: #expect(symlink(elsewhere, path) == 0)
        case .loop: #expect(symlink(path, path) == 0)
        }
        for store in [store, other, reader] {
            let lock = try #require(try store.tryLock(.path("a")))
            #expect(try store.tryLock(.path("a")) == nil)
            lock.release()
            #expect(try store.tryLock(.path("a")) != nil)
        }
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
        try FileManager.default.removeItem(at: file)
        let lock = try #require(try store.tryLock(.path("a")))
        #expect(try other.tryLock(.path("a")) == nil)
        #expect(try reader.tryLock(.path("a")) == nil)
        lock.release()
    }

    @Test("a key can be locked without free descriptors, and without a directory")
    func tooManyOpenFiles() async throws {
        let sandbox = Sandbox()
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            let store = try ResponseStore(directory: URL(filePath: path))
            let descriptors = try await FreeDescriptors()
            let taken = descriptors.takeAll()
            let lock = try #require(try store.tryLock(.path("a")))
            #expect(try store.tryLock(.path("a")) == nil)
            descriptors.giveBack(taken)
            let other = try ResponseStore(directory: URL(filePath: path))
            #expect(try other.tryLock(.path("a")) != nil)
            let shared = try #require(try store.tryLock(.path("b")))
            #expect(try other.tryLock(.path("b")) == nil)
            // Stores that were just opened may still create their ballast in the background.
            while FileManager.default.fileExists(atPath: path) { try? FileManager.default.removeItem(atPath: path) }
            let last = try #require(try other.tryLock(.path("b")))
            for lock in [lock, shared, last] { lock.release() }
        }
    }

    // MARK: Waiting

    @Test("a waiter tries again after 5 ms, then twice as long each time, up to 100 ms; after the limit it gets nil")
    func pauses() async throws {
        let lock = try #require(try other.tryLock(.path("a")))
        var pauses: [Duration] = []
        let waited = try await store.lock(.path("a"), within: .milliseconds(400)) { pauses.append($0) }.lock
        #expect(waited == nil)
        #expect(pauses == [5, 10, 20, 40, 80, 100, 100, 45].map { Duration.milliseconds($0) })
        #expect(try await store.lock(.path("a"), within: .zero) { pauses.append($0) }.lock == nil)
        #expect(try await store.lock(.path("a"), within: .seconds(-1)) { pauses.append($0) }.lock == nil)
        #expect(pauses.count == 8)
        lock.release()
        #expect(try await store.lock(.path("a"), within: .zero) { pauses.append($0) }.lock != nil)
    }

    @Test("a lock that another store releases during a pause is taken after the pause")
    func released() async throws {
        let lock = try #require(try other.tryLock(.path("a")))
        var count = 0
        let waited = try await store.lock(.path("a"), within: .seconds(60)) { _ in
            count += 1
            if count == 3 { lock.release() }
        }
        #expect(waited.lock != nil)
        #expect(count == 3)
        #expect(try other.tryLock(.path("a")) == nil)
    }

    @Test("a waiter gets nil immediately if the same store holds the lock")
    func heldHere() async throws {
        let lock = try #require(try store.tryLock(.path("a")))
        let waited = try await store.lock(.path("a"), within: .seconds(60)) { _ in Issue.record("a pause") }
        #expect(waited.lock == nil)
        lock.release()
    }

    @Test("a cancelled waiter gets nil")
    func cancelled() async throws {
        let lock = try #require(try other.tryLock(.path("a")))
        let asleep = Gate()
        let task = Task { try await store.lock(.path("a"), within: .seconds(60)) { _ in await asleep.wait() } }
        await asleep.reached(1)
        task.cancel()
        #expect(try await task.value.lock == nil)
        lock.release()
        #expect(try store.tryLock(.path("a")) != nil)
    }

    @Test("suspending or closing the store makes a waiter throw", arguments: [StoreError.suspended, .closed])
    func endedWhileWaiting(_ error: StoreError) async throws {
        let lock = try #require(try other.tryLock(.path("a")))
        await #expect(throws: error) {
            try await store.lock(.path("a"), within: .seconds(60)) { _ in
                if error == .closed { store.close() } else { store.suspend() }
            }
        }
        lock.release()
    }
}
