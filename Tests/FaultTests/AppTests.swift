#if os(Linux)
import FaultModel
import TestSupport

/// An app and its extension share a store. The largest body exceeds the memory limit of each.
@Suite(
    "An app and its extension",
    .enabled(if: Laboratory.canBreak && FileManager.default.isReadableFile(atPath: "/proc/self/fdinfo")))
struct AppTests {
    private static let rounds = Repetitions.count(10, debug: 3)

    private func start(_ laboratory: Laboratory) throws -> (app: AppProcess, extension: AppProcess) {
        let app = try AppProcess("app", memoryLimit: 32 << 20, laboratory)
        do {
            return (app, try AppProcess("extension", memoryLimit: 20 << 20, laboratory))
        } catch {
            app.child.kill()
            throw error
        }
    }

    /// Runs both processes during `body`, then examines the store. Always reaps the processes.
    private func withProcesses(_ body: (Laboratory, _ app: AppProcess, _ extension: AppProcess) async throws -> Void)
        async throws
    {
        let laboratory = try Laboratory()
        let processes = try start(laboratory)
        do {
            for process in [processes.app, processes.extension] { try await process.wait { $0.contains("ready") } }
            try await body(laboratory, processes.app, processes.extension)
        } catch {
            for process in [processes.app, processes.extension] {
                process.child.kill()
                _ = await process.child.wait()
            }
            Issue.record("\(laboratory.output)")
            throw error
        }
        try await expectSound(laboratory, [processes.app, processes.extension])
    }

    /// Whether the store has every acknowledged body, or a later one of its key.
    private func expectSound(_ laboratory: Laboratory, _ processes: [AppProcess]) async throws {
        let store = try ResponseStore(directory: laboratory.store)
        try await store.sweep()
        try await store.flush()
        let report = try await store.check(digests: true)
        #expect(report.problems == [])
        #expect(report.foreignFiles == [])
        for process in processes {
            let stored = process.stored
            #expect(!stored.isEmpty)
            for (name, step) in stored {
                let entry = try #require(try store.peek(CacheKey(name: name)), "\(name)")
                let found = Self.step(of: entry)
                #expect(found >= step, "\(name)")
                #expect(try store.openBody(of: entry)?.data() == AppWork.version(step: found).bytes, "\(name)")
            }
            #expect(try store.contains(CacheKey(name: process.work.largeKey)))
        }
    }

    /// The step that stored an entry; 0 without an entry.
    private static func step(of entry: StoredEntry?) -> UInt64 {
        UInt64(entry?.metadata.etag?.filter(\.isNumber) ?? "") ?? 0
    }

    @Test("a process that suspends its store during writes holds no lock; the other continues, and no change is lost")
    func suspended() async throws {
        try await withProcesses { laboratory, app, other in
            for (process, beside) in Array(repeating: [(app, other), (other, app)], count: Self.rounds).joined() {
                try await process.wait { !$0.locks.isEmpty }
                try await process.goesOn()
                try await process.suspend()
                #expect(process.locks == [])
                let notes = process.notes
                try await beside.goesOn()
                #expect(process.notes == notes)
                #expect(process.locks == [])
                try await process.resume()
                try await process.goesOn()
            }
            for process in [app, other] { #expect(await process.terminate() == .exit(0), "\(laboratory.output)") }
        }
    }

    @Test("another process may sweep while a process is suspended during a write: no body is lost")
    func sweptWhileSuspended() async throws {
        try await withProcesses { laboratory, app, other in
            var configuration = ResponseStore.Configuration()
            configuration.busyTimeout = .seconds(60)
            let sweeper = try ResponseStore(directory: laboratory.store, configuration: configuration)
            var rounds = 0
            var swept = 0
            // On Darwin's code paths, waits until a sweep deletes the file of a body that the suspended process writes.
            while rounds < Self.rounds || DarwinPaths.areForced && swept == 0 && rounds < 200 {
                for (process, beside) in [(app, other), (other, app)] {
                    try await process.goesOn()
                    try await process.suspend()
                    swept += try await sweeper.sweep().stagedFiles
                    #expect(process.locks == [])
                    try await beside.goesOn()
                    try await process.resume()
                    try await process.goesOn()
                }
                rounds += 1
            }
            #expect(swept > 0 || !DarwinPaths.areForced)
            for process in [app, other] { #expect(await process.terminate() == .exit(0), "\(laboratory.output)") }
        }
    }

    @Test("killing a process with a suspended store loses no change; the other continues")
    func killedWhileSuspended() async throws {
        try await withProcesses { laboratory, app, other in
            try await app.goesOn()
            try await app.suspend()
            app.child.kill()
            #expect(await app.child.wait() == .signal(9))
            try await other.goesOn()
            #expect(await other.terminate() == .exit(0), "\(laboratory.output)")
        }
    }

    @Test("both suspended: a third process finds the store free, and both continue after it")
    func bothSuspended() async throws {
        try await withProcesses { laboratory, app, other in
            for process in [app, other] { try await process.suspend() }
            let directory = try FileDescriptor.openDirectory(atPath: laboratory.storePath)
            var locks = LockFile(root: directory)
            let opened = locks.open()
            #expect(try opened?.isByteLocked(at: LockFile.write) == false)
            let store = try ResponseStore(directory: laboratory.store)
            #expect(try await store.check(digests: true).problems == [])
            for (name, step) in app.stored { #expect(try Self.step(of: store.peek(CacheKey(name: name))) >= step) }
            store.close()
            for process in [app, other] { try await process.resume() }
            for process in [app, other] { try await process.goesOn() }
            for process in [app, other] { #expect(await process.terminate() == .exit(0), "\(laboratory.output)") }
        }
    }

    @Test("a stopped process with an open store only delays writes; after SIGCONT or SIGKILL no change is lost")
    func stopped() async throws {
        try await withProcesses { laboratory, app, other in
            for _ in 1...Self.rounds {
                app.child.send(SIGSTOP)
                let busy = other.notes.count { $0 == "busy" }
                let count = other.notes.count
                try await other.wait { $0.notes.count > count + 4 || $0.notes.count { $0 == "busy" } > busy }
                app.child.send(SIGCONT)
                try await app.goesOn()
                try await other.goesOn()
            }
            app.child.send(SIGSTOP)
            app.child.kill()
            #expect(await app.child.wait() == .signal(9))
            try await other.goesOn()
            #expect(await other.terminate() == .exit(0), "\(laboratory.output)")
        }
    }
}
#endif
