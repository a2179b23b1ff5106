import CacheStore
import FaultModel
import Foundation
import TestSupport
import Testing

@Suite("Write lock of processes")
struct WriteLockTests {
    private func open(_ laboratory: Laboratory, busyTimeout: Duration = .seconds(5)) throws -> ResponseStore {
        var configuration = ResponseStore.Configuration()
        configuration.busyTimeout = busyTimeout
        return try ResponseStore(directory: laboratory.store, configuration: configuration)
    }

    private func insert(_ name: String, into store: ResponseStore) throws {
        let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
        try store.insert(Data(name.utf8), metadata: metadata, for: CacheKey(name: name))
    }

    private func writeLock(_ laboratory: Laboratory) throws -> WriteLock {
        WriteLock(root: try FileDescriptor.openDirectory(atPath: laboratory.storePath))
    }

    /// Starts a process that takes the write lock.
    private func startHolder(_ laboratory: Laboratory) throws -> Child {
        try laboratory.start(laboratory.options(.holdWriteLock))
    }

    private func wait(until isTrue: () throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(300)
        while try !isTrue() {
            try #require(ContinuousClock.now < end)
            await Task.yield()
        }
    }

    @Test("the kernel releases the lock of a killed process")
    func killed() async throws {
        let laboratory = try Laboratory()
        _ = try open(laboratory)
        let lock = try writeLock(laboratory)
        for _ in 1...3 {
            let child = try startHolder(laboratory)
            try await wait { laboratory.notes.contains("taken") }
            #expect(!lock.take(within: .zero))
            child.kill()
            #expect(await child.wait() == .signal(9))
            #expect(lock.take(within: .zero))
            lock.release()
            try laboratory.forget()
        }
    }

    @Test("a stopped process that holds the lock makes a write throw busy after the timeout, and not later")
    func stoppedHolder() async throws {
        let laboratory = try Laboratory()
        let store = try open(laboratory, busyTimeout: .milliseconds(300))
        try insert("before", into: store)
        let child = try startHolder(laboratory)
        try await wait { laboratory.notes.contains("taken") }
        child.send(SIGSTOP)
        let start = ContinuousClock.now
        #expect(throws: StoreError.busy(path: laboratory.storePath + "/index.sqlite")) {
            try insert("during", into: store)
        }
        let duration = ContinuousClock.now - start
        #expect(duration >= .milliseconds(300) && duration < .seconds(3))
        child.kill()
        #expect(await child.wait() == .signal(9))
        try insert("after", into: store)
    }

    @Test("a process that is stopped while it waits for the lock delays the others by milliseconds only")
    func stoppedWaiter() async throws {
        let laboratory = try Laboratory()
        let store = try open(laboratory, busyTimeout: .seconds(20))
        let lock = try writeLock(laboratory)
        #expect(lock.take(within: .seconds(1)))
        let child = try startHolder(laboratory)
        var lockFile = LockFile(root: try FileDescriptor.openDirectory(atPath: laboratory.storePath))
        let opened = lockFile.open()
        let file = try #require(opened)
        try await wait { try file.isByteLocked(at: LockFile.turnstile) }
        child.send(SIGSTOP)
        lock.release()
        let start = ContinuousClock.now
        for number in 0..<10 { try insert("\(number)", into: store) }
        #expect(ContinuousClock.now - start < .seconds(5))
        #expect(laboratory.notes == [])
        child.send(SIGCONT)
        try await wait { laboratory.notes.contains("taken") }
        child.kill()
        #expect(await child.wait() == .signal(9))
    }

    @Test(
        "a process that writes now and then gets its turn beside one that writes without a pause, and the other goes on"
    )
    func fairness() async throws {
        var best = Duration.seconds(1_000)
        // The other tests keep the processors busy: one good round of three is enough.
        for _ in 1...3 where best >= .milliseconds(50) {
            let laboratory = try Laboratory()
            var fill = laboratory.options(.fill(seconds: 2))
            fill.journal += "-fill"
            let filling = try laboratory.start(fill)
            let putting = try laboratory.start(laboratory.options(.put(count: 200)))
            #expect(await putting.wait() == .exit(0), "\(laboratory.output)")
            #expect(await filling.wait() == .exit(0), "\(laboratory.output)")
            let waits = laboratory.notes.compactMap { Int($0) }.sorted()
            try #require(waits.count == 200)
            let filled = try String(contentsOfFile: fill.journal, encoding: .utf8).split(separator: "\n").first
            #expect(filled.flatMap { Int($0) } ?? 0 > 50)
            best = min(best, .microseconds(waits[197]))
            report("beside a busy writer a put takes \(waits[100]) µs (p50), \(waits[197]) µs (p99)")
            #expect(try await open(laboratory).check(digests: true).problems == [])
        }
        #expect(best < .milliseconds(50))
    }
}
