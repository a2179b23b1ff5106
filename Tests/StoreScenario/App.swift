import CacheStore
import FaultModel
import Foundation
import Synchronization

/// Works on a store as an app or its extension. Each thread stores and reads bodies under the lock of the body's key.
///
/// SIGUSR1 suspends the store, SIGUSR2 resumes it, and SIGTERM ends the work. Notes `ready`, `suspended`, `resumed`,
/// each stored key with the number of its step, and `busy` if another process kept the write lock for too long.
final class App: Sendable {
    private let work: AppWork
    private let store: ResponseStore
    private let journal: Journal
    private let isDone = Atomic(false)
    private let gate = SuspensionGate()

    private init(_ work: AppWork, _ options: ScenarioOptions, _ journal: Journal) throws {
        var configuration = options.configuration
        configuration.busyTimeout = .milliseconds(300)
        self.work = work
        store = try Self.open(options.directory, configuration)
        self.journal = journal
    }

    /// Opens the store. Tries again if other processes keep the write lock for long.
    private static func open(_ path: String, _ configuration: ResponseStore.Configuration) throws -> ResponseStore {
        while true {
            do throws(StoreError) {
                return try ResponseStore(directory: URL(filePath: path), configuration: configuration)
            } catch {
                guard case .busy = error else { throw error }
            }
        }
    }

    static func run(_ work: AppWork, _ options: ScenarioOptions, _ journal: Journal) throws {
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGUSR1, SIGUSR2, SIGTERM] { sigaddset(&signals, signal) }
        // All threads inherit the mask.
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let app = try App(work, options, journal)
        try app.streamLargeBody()
        app.start(signals)
    }

    private func start(_ signals: sigset_t) {
        let threads = DispatchGroup()
        for number in 0..<AppWork.threadCount {
            threads.enter()
            Thread.detachNewThread { [self] in
                perform(thread: number)
                threads.leave()
            }
        }
        journal.note("ready")
        obey(signals)
        isDone.store(true, ordering: .relaxed)
        threads.wait()
        store.close()
    }

    /// Suspends and resumes the store until SIGTERM.
    private func obey(_ signals: sigset_t) {
        var signals = signals
        var signal: Int32 = 0
        while sigwait(&signals, &signal) == 0, signal != SIGTERM {
            if signal == SIGUSR1 {
                gate.close()
                store.suspend()
                // A thread may still have to note a body that it stored earlier.
                gate.waitForThreads(AppWork.threadCount)
                journal.note("suspended")
            } else {
                do throws(StoreError) { try store.resume() } catch { fail(error) }
                gate.open()
                journal.note("resumed")
            }
        }
    }

    private func fail(_ error: any Error) -> Never {
        FileHandle.standardError.write(Data("\(work.name): \(error)\n".utf8))
        exit(1)
    }

    // MARK: Work

    private func perform(thread: Int) {
        var step: UInt64 = 1
        while !isDone.load(ordering: .relaxed) {
            do {
                let name = work.key(thread: thread, step: step)
                try put(name, AppWork.version(step: step))
                journal.note("\(name) \(step)")
                // The alarm kills only a store that hangs.
                alarm(120)
                try verify(name, AppWork.version(step: step))
            } catch {
                fail(error)
            }
            step += 1
        }
    }

    private func put(_ name: String, _ version: Version) throws {
        let key = try CacheKey(name: name)
        let metadata = EntryMetadata(etag: version.etag, requestedAt: Date(), receivedAt: Date())
        let bytes = version.bytes
        try whenOpen {
            guard let lock = try store.keyLocks.tryLock(key).lock else {
                throw Failure("another process has locked \(name)")
            }
            defer { lock.release() }
            let writer = store.makeBodyWriter()
            while writer.byteCount < bytes.count {
                // A body continues after a suspension.
                try whenOpen { try writer.write(bytes[Int(writer.byteCount)...].prefix(16_384)) }
            }
            try writer.commit(metadata, for: key)
        }
    }

    private func verify(_ name: String, _ version: Version) throws {
        try whenOpen {
            guard let entry = try store.lookup(CacheKey(name: name)) else { throw Failure("\(name) is lost") }
            let body = try store.openBody(of: entry)?.data()
            guard entry.metadata.etag == version.etag, body == version.bytes else {
                throw Failure("\(name) has other bytes")
            }
        }
    }

    /// Stores and reads a body that exceeds the memory.
    private func streamLargeBody() throws {
        let key = try CacheKey(name: work.largeKey)
        let writer = store.makeBodyWriter()
        for index in 0..<work.pieceCount { try writer.write(AppWork.piece(index).bytes) }
        let metadata = EntryMetadata(requestedAt: Date(), receivedAt: Date())
        let entry = try whenOpen { try writer.commit(metadata, for: key) }
        guard let body = try store.openBody(of: entry) else { throw Failure("no large body") }
        for index in 0..<work.pieceCount {
            let piece = AppWork.piece(index)
            let offset = Int64(index * AppWork.pieceByteCount)
            guard try body.bytes(at: offset, count: piece.byteCount) == piece.bytes else {
                throw Failure("piece \(index) has other bytes")
            }
        }
    }

    /// Repeats `body` once the store is open again, or while another process keeps the write lock.
    private func whenOpen<Value>(_ body: () throws -> Value) throws -> Value {
        while true {
            do {
                return try body()
            } catch StoreError.suspended {
                gate.wait()
            } catch StoreError.busy {
                journal.note("busy")
            }
        }
    }
}

/// Stops threads while the store is suspended.
private final class SuspensionGate: Sendable {
    private let condition = NSCondition()
    /// Whether the store is open. The condition guards this value and the next one.
    private nonisolated(unsafe) var isOpen = true
    private nonisolated(unsafe) var waiting = 0

    func close() { condition.withLock { isOpen = false } }

    func open() {
        condition.withLock {
            isOpen = true
            condition.broadcast()
        }
    }

    /// Waits until the store is open.
    func wait() {
        condition.withLock {
            waiting += 1
            condition.broadcast()
            while !isOpen { condition.wait() }
            waiting -= 1
        }
    }

    /// Waits until this many threads wait.
    func waitForThreads(_ count: Int) {
        condition.withLock { while waiting < count { condition.wait() } }
    }
}
