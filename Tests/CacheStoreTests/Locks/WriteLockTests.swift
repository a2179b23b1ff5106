import TestSupport

@Suite("Write lock")
struct WriteLockTests {
    let sandbox = Sandbox()
    private let store: ResponseStore

    init() throws {
        store = try sandbox.open { $0.busyTimeout = .milliseconds(50) }
    }

    private var file: URL { sandbox.url.appending(path: "locks") }

    private func makeLock() throws -> WriteLock {
        WriteLock(root: try FileDescriptor.openDirectory(atPath: sandbox.path))
    }

    /// The lock file, opened for inspection.
    private func openFile() throws -> FileDescriptor {
        var file = LockFile(root: try FileDescriptor.openDirectory(atPath: sandbox.path))
        let descriptor = file.open()
        return try #require(descriptor)
    }

    private func inode() throws -> UInt64 {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path(percentEncoded: false))
        return try #require((attributes[.systemFileNumber] as? NSNumber)?.uint64Value)
    }

    private func insert(_ name: String) throws {
        try store.insert(Data(name.utf8), metadata: sandbox.metadata(), for: .path(name))
    }

    /// Takes `lock` on a separate thread. Returns the result and the elapsed time.
    private func takeOnThread(_ lock: WriteLock, within timeout: Duration) -> Task<
        (isTaken: Bool, duration: Duration), Never
    > {
        Task {
            await withCheckedContinuation { caller in
                Thread.detachNewThread {
                    let start = ContinuousClock.now
                    let isTaken = lock.take(within: timeout)
                    caller.resume(returning: (isTaken, ContinuousClock.now - start))
                }
            }
        }
    }

    private func waitUntil(_ isTrue: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try !isTrue() {
            try #require(ContinuousClock.now < end)
            await Task.yield()
        }
    }

    // MARK: Exclusion and order

    @Test("8 threads with separate locks: one holds the lock at a time, and each gets it")
    func exclusion() throws {
        let locks = try (0..<8).map { _ in try makeLock() }
        let holders = Atomic(0)
        let takes = Mutex([Int](repeating: 0, count: 8))
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<100 {
                guard locks[thread].take(within: .seconds(60)) else { continue }
                #expect(holders.add(1, ordering: .sequentiallyConsistent).newValue == 1)
                takes.withLock { $0[thread] += 1 }
                usleep(100)
                holders.subtract(1, ordering: .sequentiallyConsistent)
                locks[thread].release()
            }
        }
        #expect(takes.withLock { $0 } == [Int](repeating: 100, count: 8))
    }

    @Test("a holder that releases the lock cannot take it again before the waiter at the turnstile")
    func order() async throws {
        let (busy, waiter) = (try makeLock(), try makeLock())
        let file = try openFile()
        for _ in 0..<20 {
            #expect(!busy.isAwaited)
            #expect(busy.take(within: .seconds(60)))
            #expect(!busy.isAwaited)
            let waiting = takeOnThread(waiter, within: .seconds(60))
            try await waitUntil { try file.isByteLocked(at: LockFile.turnstile) }
            #expect(busy.isAwaited)
            busy.release()
            #expect(!busy.take(within: .zero))
            #expect(await waiting.value.isTaken)
            #expect(!busy.take(within: .zero))
            waiter.release()
        }
        #expect(try !file.isByteLocked(at: LockFile.turnstile))
        #expect(try !file.isByteLocked(at: LockFile.write))
    }

    @Test("a free lock can be taken even if the holder of the turnstile stalls")
    func stuckTurnstile() throws {
        let (lock, file) = (try makeLock(), try openFile())
        #expect(try file.tryLockByte(at: LockFile.turnstile))
        #expect(!lock.take(within: .zero))
        #expect(lock.take(within: .seconds(60)))
        #expect(try file.isByteLocked(at: LockFile.write))
        lock.release()
        #expect(try file.tryLockByte(at: LockFile.write))
        #expect(!lock.take(within: .milliseconds(20)))
        file.unlockByte(at: LockFile.write)
        file.unlockByte(at: LockFile.turnstile)
        #expect(lock.take(within: .zero))
        lock.release()
    }

    // MARK: Timeouts

    @Test("a wait ends after its timeout, leaves nothing locked, and can be repeated")
    func timeout() async throws {
        let (holder, lock) = (try makeLock(), try makeLock())
        let file = try openFile()
        #expect(holder.take(within: .zero))
        #expect(!lock.take(within: .zero))
        #expect(!lock.take(within: .seconds(-1)))
        let (isTaken, duration) = await takeOnThread(lock, within: .milliseconds(40)).value
        #expect(!isTaken)
        #expect((Duration.milliseconds(40)..<Duration.seconds(10)).contains(duration))
        #expect(try !file.isByteLocked(at: LockFile.turnstile))
        holder.release()
        holder.release()
        #expect(lock.take(within: .zero))
        lock.release()
    }

    @Test("a limit ends current waits and shortens later ones, until it is removed")
    func limit() async throws {
        let (holder, lock) = (try makeLock(), try makeLock())
        let file = try openFile()
        #expect(holder.take(within: .zero))
        let waiting = takeOnThread(lock, within: .seconds(300))
        try await waitUntil { try file.isByteLocked(at: LockFile.turnstile) }
        lock.limitWaits(to: .milliseconds(50))
        let first = await waiting.value
        #expect(!first.isTaken)
        #expect(first.duration < .seconds(200))
        let second = await takeOnThread(lock, within: .seconds(300)).value
        #expect(!second.isTaken)
        #expect((Duration.milliseconds(50)..<Duration.seconds(200)).contains(second.duration))
        lock.limitWaits(to: nil)
        let unlimited = takeOnThread(lock, within: .seconds(300))
        try await waitUntil { try file.isByteLocked(at: LockFile.turnstile) }
        holder.release()
        #expect(await unlimited.value.isTaken)
        lock.release()
    }

    // MARK: The file

    @Test(
        "deleting or replacing a locked lock file does not block the next holder",
        arguments: [false, true])
    func deleted(isReplaced: Bool) throws {
        let (first, second) = (try makeLock(), try makeLock())
        #expect(first.take(within: .zero))
        let before = try inode()
        if isReplaced {
            // Replaces the file without deleting it first: the file system may reuse the inode.
            let other = sandbox.directory.path + "/other"
            #expect(FileManager.default.createFile(atPath: other, contents: nil))
            #expect(rename(other, file.path(percentEncoded: false)) == 0)
        } else {
            try FileManager.default.removeItem(at: file)
        }
        #expect(second.take(within: .zero))
        #expect(
            isReplaced || FileManager.default.fileExists(atPath: file.path(percentEncoded: false)))
        #expect(try inode() != before)
        first.release()
        #expect(!first.take(within: .zero))
        second.release()
        #expect(first.take(within: .zero))
        #expect(!second.take(within: .zero))
        first.release()
    }

    enum Obstacle: String, CaseIterable, CustomTestStringConvertible {
        case directory, fifo, link, loop

        var testDescription: String { rawValue }
    }

    @Test("without the file, SQLite's lock alone serializes writes", arguments: Obstacle.allCases)
    func obstacles(_ obstacle: Obstacle) throws {
        let (path, elsewhere) = (file.path(percentEncoded: false), sandbox.directory.path + "/elsewhere")
        switch obstacle {
        case .directory: #expect(mkdir(path, 0o700) == 0)
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .link: #expect(symlink(elsewhere, path) == 0)
        case .loop: #expect(symlink(path, path) == 0)
        }
        let (lock, other) = (try makeLock(), try makeLock())
        #expect(lock.take(within: .zero))
        #expect(other.take(within: .zero))
        try insert("a")
        for lock in [lock, other] { lock.release() }
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
        try FileManager.default.removeItem(at: file)
        #expect(lock.take(within: .zero))
        #expect(!other.take(within: .zero))
        lock.release()
    }

    @Test("in a directory that is not writable, the lock works without a file")
    func readOnlyDirectory() async throws {
        await #expect(processExitsWith: .success) { [path = sandbox.path as String] in
            try Unprivileged.become(ownerOf: path)
            let root = try FileDescriptor.openDirectory(atPath: path)
            for _ in 0..<2 {
                let lock = WriteLock(root: root)
                #expect(lock.take(within: .zero))
            }
            #expect(!FileManager.default.fileExists(atPath: path + "/locks"))
        }
        Unprivileged.restore(sandbox.path)
    }

    @Test("the file is empty and for its owner only; a closed lock has no descriptor, and can be taken again")
    func descriptors() throws {
        let lock = try makeLock()
        #expect(lock.take(within: .zero))
        #expect(try sandbox.modes()["locks"] == 0o600)
        #expect(try Data(contentsOf: file) == Data())
        lock.release()
        lock.close()
        #expect(try sandbox.descriptorCount(of: "locks") == 0)
        #expect(lock.take(within: .zero))
        #expect(try !makeLock().take(within: .zero))
        lock.release()
    }

    @Test("locked keys and the write lock do not exclude each other")
    func keyLocks() throws {
        let lock = try makeLock()
        // With no bits for the offset, all keys share the first byte; with 62, they spread over all.
        let root = try FileDescriptor.openDirectory(atPath: sandbox.path)
        let locks = [0, 62].map { KeyLocks(root: root, isReadOnly: false, offsetBits: $0) }
        var held: [KeyLocks.Outcome] = []
        for number in 0..<500 { held += try locks.map { try $0.tryLock(.path(number)) } }
        #expect(lock.take(within: .zero))
        let key = try #require(try store.tryLock(.path("a")))
        key.release()
        lock.release()
        withExtendedLifetime(held) {}
    }

    // MARK: Transactions

    @Test("a store takes the lock for each transaction, and throws busy while another process holds it")
    func transactions() throws {
        try insert("before")
        let lock = try makeLock()
        #expect(lock.take(within: .zero))
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("BEGIN IMMEDIATE")
        #expect(throws: StoreError.busy(path: sandbox.indexPath)) { try insert("during") }
        try index.execute("ROLLBACK")
        lock.release()
        try insert("after")
        #expect(try store.contains(.path("before")))
        #expect(try store.contains(.path("after")))
        #expect(try !store.contains(.path("during")))
        #expect(lock.take(within: .zero))
        lock.release()
    }

    /// Like the child of a process that called fork(2) during a write.
    @Test("a process that holds the lock without writing delays one write, and fails none")
    func stuckLock() throws {
        let lock = try makeLock()
        #expect(lock.take(within: .zero))
        let store = try sandbox.open { $0.busyTimeout = .milliseconds(300) }
        try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("first"))
        let time = try ContinuousClock().measure {
            for number in 0..<4 {
                try store.insert(Data("a".utf8), metadata: sandbox.metadata(), for: .path("\(number)"))
            }
        }
        // Each write after the first waits for 20 ms.
        #expect(time < .seconds(1))
        #expect(try store.statistics().entries == 5)
        lock.release()
    }

    @Test("a waiting write precedes the next write of the process that holds the lock")
    func writesTakeTurns() async throws {
        let patient = try sandbox.open { $0.busyTimeout = .seconds(60) }
        let (busy, file, metadata) = (try makeLock(), try openFile(), sandbox.metadata())
        var turns = 0
        for number in 0..<20 {
            try await patient.insert(Data("a".utf8), metadata: metadata, for: .path("before"))
            #expect(busy.take(within: .seconds(60)))
            let key = try CacheKey.path(number)
            let waiting = Task { try await patient.insert(Data("a".utf8), metadata: metadata, for: key) }
            try await waitUntil { try file.isByteLocked(at: LockFile.turnstile) }
            busy.release()
            #expect(busy.take(within: .seconds(60)))
            if try patient.contains(key) { turns += 1 }
            busy.release()
            _ = try await waiting.value
        }
        // A waiter that loses the processor for some milliseconds loses its turn. An unfair lock would give it no turn.
        #expect(turns >= 3)
    }

    @Test("a failed transaction, and one that SQLite refuses to begin, release the lock")
    func failures() throws {
        try insert("before")
        let (lock, index) = (try makeLock(), try RawIndex(sandbox.indexPath))
        try index.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON entry BEGIN SELECT RAISE(ABORT, 'refused'); END")
        #expect(throws: StoreError.self) { try insert("refused") }
        #expect(lock.take(within: .zero))
        lock.release()
        try index.execute("DROP TRIGGER refuse; BEGIN IMMEDIATE")
        #expect(throws: StoreError.busy(path: sandbox.indexPath)) { try insert("busy") }
        #expect(lock.take(within: .zero))
        lock.release()
        try index.execute("ROLLBACK")
        try insert("after")
    }

    @Test("a transaction that SQLite refuses to begin within the timeout leaves the lock free")
    func refusedByOtherProgram() throws {
        let (lock, other) = (try makeLock(), try makeLock())
        let index = try RawIndex(sandbox.indexPath)
        let connection = try Connection(path: sandbox.indexPath, role: .writer, busyTimeout: .seconds(60))
        try index.execute("BEGIN IMMEDIATE")
        let start = ContinuousClock.now
        #expect(throws: StoreError.self) { try lock.begin(connection, within: .milliseconds(50)) }
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(other.take(within: .zero))
        other.release()
        try index.execute("ROLLBACK")
        try lock.begin(connection, within: .milliseconds(50))
        #expect(connection.isInTransaction)
        #expect(!other.take(within: .zero))
        try connection.execute("ROLLBACK")
        lock.release()
    }

    @Test(
        "suspending or closing the store ends a write that waits for another program",
        arguments: [false, true])
    func waiting(_ closes: Bool) throws {
        let waiting = try sandbox.open { $0.busyTimeout = .seconds(600) }
        let index = try RawIndex(sandbox.indexPath)
        try index.execute("BEGIN IMMEDIATE")
        let failure = Mutex<StoreError?>(nil)
        let ended = DispatchSemaphore(value: 0)
        let (metadata, key) = (sandbox.metadata(), try CacheKey.path("a"))
        Thread.detachNewThread {
            do throws(StoreError) {
                try waiting.insert(Data("a".utf8), metadata: metadata, for: key)
            } catch {
                failure.withLock { $0 = error }
            }
            ended.signal()
        }
        // The thread holds the store's lock and waits for SQLite's.
        let lock = try makeLock()
        try spinWhile {
            guard lock.take(within: .zero) else { return false }
            lock.release()
            return true
        }
        if closes { waiting.close() } else { waiting.suspend() }
        try ended.waitForSignal()
        #expect(failure.withLock { $0 } == (closes ? .closed : .suspended))
    }

    @Test("a suspended or closed store has neither the lock nor the file", arguments: [false, true])
    func ended(_ closes: Bool) throws {
        try insert("a")
        if closes { store.close() } else { store.suspend() }
        #expect(try sandbox.descriptorCount(of: "locks") == 0)
        let lock = try makeLock()
        #expect(lock.take(within: .zero))
        lock.release()
        if closes { return }
        try store.resume()
        try insert("b")
    }
}
