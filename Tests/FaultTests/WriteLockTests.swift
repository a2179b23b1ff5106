import FaultModel
import TestSupport

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

    /// Runs a process during `body`, then kills and always reaps it: a zombie would block an exit test of another
    /// suite.
    private func withProcess(
        _ mode: ScenarioOptions.Mode, in laboratory: Laboratory, _ body: (Child) async throws -> Void
    ) async throws {
        let child = try laboratory.start(laboratory.options(mode))
        do {
            try await body(child)
        } catch {
            child.kill()
            _ = await child.wait()
            throw error
        }
        child.kill()
        #expect(await child.wait() == .signal(9), "\(laboratory.output)")
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
            try await withProcess(.holdWriteLock, in: laboratory) { _ in
                try await wait { laboratory.notes.contains("taken") }
                #expect(!lock.take(within: .zero))
            }
            #expect(lock.take(within: .zero))
            lock.release()
            try laboratory.forget()
        }
    }

    @Test("a process that is stopped while it waits for the lock delays other processes only by milliseconds")
    func stoppedWaiter() async throws {
        let laboratory = try Laboratory()
        let store = try open(laboratory, busyTimeout: .seconds(300))
        let lock = try writeLock(laboratory)
        #expect(lock.take(within: .seconds(1)))
        try await withProcess(.holdWriteLock, in: laboratory) { child in
            var lockFile = LockFile(root: try FileDescriptor.openDirectory(atPath: laboratory.storePath))
            let opened = lockFile.open()
            let file = try #require(opened)
            try await wait { try file.isByteLocked(at: LockFile.turnstile) }
            child.send(SIGSTOP)
            lock.release()
            let start = ContinuousClock.now
            for number in 0..<10 { try insert("\(number)", into: store) }
            #expect(ContinuousClock.now - start < .seconds(200))
            #expect(laboratory.notes == [])
            child.send(SIGCONT)
            try await wait { laboratory.notes.contains("taken") }
        }
    }

    @Test("a process gets the lock within milliseconds while another retakes it all the time, and the other continues")
    func fairness() async throws {
        let laboratory = try Laboratory()
        _ = try open(laboratory)
        let lock = try writeLock(laboratory)
        try await withProcess(.retakeWriteLock, in: laboratory) { _ in
            try await wait { !laboratory.notes.isEmpty }
            var best = Duration.seconds(1_000)
            // Other tests occupy the processors: the median of one good round of three is enough.
            for _ in 1...3 where best >= .milliseconds(50) {
                let waits = await waits(for: lock).sorted()
                let (median, late) = (waits[waits.count / 2], waits[waits.count * 9 / 10])
                best = min(best, median)
                report("beside a process that retakes it the lock takes \(median) (p50), \(late) (p90)")
            }
            #expect(best < .milliseconds(50))
            let count = laboratory.acknowledged
            try await wait { laboratory.acknowledged > count }
        }
    }

    /// The times to get the lock: up to 200 within two seconds, measured on a separate thread.
    private func waits(for lock: WriteLock) async -> [Duration] {
        await withCheckedContinuation { caller in
            Thread.detachNewThread {
                var waits: [Duration] = []
                let end = ContinuousClock.now + .seconds(2)
                repeat {
                    usleep(.random(in: 0...4_000))
                    let start = ContinuousClock.now
                    if lock.take(within: .seconds(10)) { lock.release() }
                    waits.append(ContinuousClock.now - start)
                } while waits.count < 200 && ContinuousClock.now < end
                caller.resume(returning: waits)
            }
        }
    }
}
