import FaultModel
import TestSupport

@Suite("Key locks of processes")
struct KeyLockTests {
    private func open(_ laboratory: Laboratory) throws -> ResponseStore {
        try ResponseStore(directory: laboratory.store)
    }

    /// Starts a process that locks `key`. Returns the process and its answer.
    private func start(
        _ laboratory: Laboratory, locking key: String
    ) async throws -> (child: Child, answer: String) {
        var options = laboratory.options(.lock(key))
        options.journal = laboratory.storePath + "-answer-" + UUID().uuidString
        #expect(mkfifo(options.journal, 0o600) == 0)
        let child = try laboratory.start(options)
        let answer = await answer(options.journal)
        return (child, answer)
    }

    /// Reads a line on a separate thread, which blocks until the process writes a line or ends.
    private func answer(_ path: String) async -> String {
        await withCheckedContinuation { caller in
            Thread.detachNewThread {
                let handle = FileHandle(forReadingAtPath: path)
                let answer = handle?.availableData ?? Data()
                try? handle?.close()
                caller.resume(returning: String(decoding: answer, as: UTF8.self))
            }
        }
    }

    @Test("another process cannot lock a locked key; SIGKILL of the holder releases the lock")
    func killed() async throws {
        let laboratory = try Laboratory()
        let store = try open(laboratory)
        let key = try CacheKey(name: "a")
        for _ in 1...3 {
            let (child, answer) = try await start(laboratory, locking: "a")
            #expect(answer == "locked\n", "\(laboratory.output)")
            #expect(try store.tryLock(key) == nil)
            #expect(try store.tryLock(CacheKey(name: "b")) != nil)
            child.kill()
            #expect(await child.wait() == .signal(9))
            let lock = try #require(try store.tryLock(key))
            lock.release()
        }
    }

    @Test("a child process does not inherit the lock")
    func inherited() async throws {
        let laboratory = try Laboratory()
        let (store, other) = (try open(laboratory), try open(laboratory))
        let lock = try #require(try store.tryLock(CacheKey(name: "a")))
        // The child outlives the locks of this process.
        let (child, answer) = try await start(laboratory, locking: "b")
        #expect(answer == "locked\n", "\(laboratory.output)")
        #expect(try other.tryLock(CacheKey(name: "a")) == nil)
        // Instead of `release()`: closing the store releases all locks.
        store.close()
        #expect(try other.tryLock(CacheKey(name: "a")) != nil)
        child.kill()
        #expect(await child.wait() == .signal(9))
        lock.release()
    }

    @Test("of several processes that miss the same keys, one loads each key")
    func share() async throws {
        let laboratory = try Laboratory()
        let keys = (0..<60).map { "key \($0)" }
        let children = try (0..<4).map { _ in try laboratory.start(laboratory.options(.load(keys))) }
        for child in children { #expect(await child.wait() == .exit(0), "\(laboratory.output)") }
        #expect(laboratory.notes.sorted() == keys.sorted())
        let store = try open(laboratory)
        #expect(try store.statistics().entries == keys.count)
        #expect(try await store.check(digests: true).problems == [])
    }
}
