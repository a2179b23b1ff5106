internal import CacheStore
internal import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A body on its way from the origin into the store, and to any number of readers.
///
/// A task of its own takes the chunks from the origin, at the pace of the fastest reader, and writes them to the file of
/// the store. The end is handed over only after the commit. When the store cannot go on, the readers do; when the origin
/// breaks off, or nobody wants the rest, what there is may be kept as a part.
final class SharedBody: Sendable {
    /// What becomes of the file at the end.
    struct Storing: Sendable {
        let writer: BodyWriter
        /// Makes the whole body an entry, unless that turns out to be needless.
        let commit: @Sendable (BodyWriter) async throws(StoreError) -> StoredEntry?
        /// Makes what has come so far an entry; `nil` when a part is of no use.
        let commitPart: (@Sendable (BodyWriter) async throws(StoreError) -> Void)?
    }

    /// What is true of all bodies of a cache.
    struct Limits: Sendable {
        /// The most bytes that a reader wants.
        let maxByteCount: Int64
        /// Once nobody reads, the rest is taken all the same if it is known to be no more than this.
        let finishesUpTo: Int64
    }

    private typealias Table = ReaderTable<CheckedContinuation<BodyPiece, Never>, CheckedContinuation<Void, Never>>

    private struct State {
        var table: Table
        var task: Task<Void, Never>?
        var isStopped = false
        var entry: StoredEntry?
    }

    let url: String
    private let source: TransportBody
    private let storing: Storing
    /// The length that was announced, of the whole file.
    private let expectedByteCount: Int64?
    private let limits: Limits
    private let log: CacheLog
    private let onStoreFailure: (@Sendable (StoreError) -> Void)?
    private let onEnd: @Sendable () -> Void

    /// Guards who has read how much. Continuations are resumed outside.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - onStoreFailure: Is told why the body, or what there is of it, could not be stored.
    ///   - onEnd: Is called once the body has been committed, or will not be.
    init(
        url: String, source: TransportBody, storing: Storing, expectedByteCount: Int64?, limits: Limits,
        log: CacheLog, onStoreFailure: (@Sendable (StoreError) -> Void)?, onEnd: @escaping @Sendable () -> Void
    ) {
        self.url = url
        self.source = source
        self.storing = storing
        self.expectedByteCount = expectedByteCount
        self.limits = limits
        self.log = log
        self.onStoreFailure = onStoreFailure
        self.onEnd = onEnd
        state = Mutex(State(table: Table(byteCount: storing.writer.byteCount)))
    }

    /// Begins to take chunks.
    func start() {
        let task = Task { await run() }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    // MARK: The origin's side

    private func run() async {
        let ending = await pump()
        if case .failed(let error) = ending { await keepPart(after: error) }
        let waiters = state.withLock { $0.table.end(ending) }
        onEnd()
        for waiter in waiters { waiter.resume(returning: ending) }
    }

    private func pump() async -> BodyPiece {
        do throws(LoadError) {
            while let chunk = try await receive() {
                deliver(chunk)
                // Nobody reads it, and nothing keeps it.
                guard state.withLock({ $0.table.isWanted || $0.table.isWhole }) else { return .failed(.cancelled) }
                await waitForReaders()
            }
        } catch {
            return .failed(error)
        }
        await commit()
        return .end
    }

    private func receive() async throws(LoadError) -> Data? {
        let chunk: Data?
        do throws(TransportError) {
            chunk = try await source.next()
        } catch {
            throw LoadError(error, url: url)
        }
        let (present, isStopped) = state.withLock { ($0.table.receivedByteCount, $0.isStopped) }
        // The source need not heed its cancellation. What others may have stored since is newer.
        guard !isStopped else { throw .cancelled }
        let received = present + Int64(chunk?.count ?? 0)
        guard received <= limits.maxByteCount else { throw .bodyTooLarge(url: url, limit: limits.maxByteCount) }
        try AnnouncedLength.check(received, of: expectedByteCount, isEnd: chunk == nil, url: url)
        return chunk
    }

    private func deliver(_ chunk: Data) {
        let isInFile = store(chunk)
        let waiters = state.withLock { state in
            isInFile ? state.table.appendToFile(chunk.count) : state.table.appendToMemory(chunk)
        }
        for waiter in waiters { waiter.resume(returning: .chunk(chunk, isInFile: isInFile)) }
    }

    private func store(_ chunk: Data) -> Bool {
        guard state.withLock({ $0.table.isWhole }) else { return false }
        do throws(StoreError) {
            try storing.writer.write(chunk)
            return true
        } catch {
            state.withLock { $0.table.closeFile() }
            noteNotStored(error)
            return false
        }
    }

    private func waitForReaders() async {
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            if state.withLock({ $0.table.mayGoOn(waiter) }) { waiter.resume() }
        }
    }

    /// What the whole body was stored as, once it was.
    var entry: StoredEntry? { state.withLock { $0.entry } }

    private func commit() async {
        guard state.withLock({ $0.table.isWhole }) else { return }
        do throws(StoreError) {
            let entry = try await storing.commit(storing.writer)
            state.withLock { $0.entry = entry }
        } catch {
            noteNotStored(error)
        }
    }

    private func keepPart(after error: LoadError) async {
        // One that is too large would be so again.
        if case .bodyTooLarge = error { return }
        guard let commitPart = storing.commitPart, storing.writer.byteCount > 0,
            state.withLock({ $0.table.isWhole })
        else { return }
        do throws(StoreError) {
            try await commitPart(storing.writer)
        } catch {
            noteNotStored(error)
        }
    }

    private func noteNotStored(_ error: StoreError) {
        let level: Logger.Level =
            switch error {
            // As it should be: it is too large, or was removed in the meantime, or the program has put the store away.
            case .bodyTooLarge, .removedMeanwhile, .suspended, .readOnly: .debug
            default: .warning
            }
        log(
            .errors, level, "did not store a response", ["url": "\(LoggedURL(url))", "error": "\(error.logged)"])
        switch error {
        // Then the store has done what it should.
        case .bodyTooLarge, .removedMeanwhile: break
        default: onStoreFailure?(error)
        }
    }

    // MARK: The readers' side

    /// A reader that begins with the first byte; `nil` if it is too late for that.
    func makeReader() -> SharedBodyReader? {
        state.withLock { $0.isStopped ? nil : $0.table.attach() }.map { SharedBodyReader(self, $0) }
    }

    func read(_ id: UInt64, limit: Int64) async -> BodyPiece {
        await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<BodyPiece, Never>) in
                let (piece, pump) = state.withLock { state in
                    switch state.table.read(id, limit: limit, waiter) {
                    case .piece(let piece, let pump): (piece as BodyPiece?, pump)
                    case .wait(let pump): (nil, pump)
                    case .gone: (.failed(.cancelled), nil)
                    }
                }
                pump?.resume()
                if let piece { waiter.resume(returning: piece) }
            }
        } onCancel: {
            leave(id)
        }
    }

    func leave(_ id: UInt64) {
        let (waiter, pump, stop) = state.withLock { state in
            let (waiter, pump) = state.table.detach(id)
            guard !state.table.isWanted, !state.table.isWhole || !finishesAlone(state.table.receivedByteCount) else {
                return (waiter, pump, nil as Task<Void, Never>?)
            }
            state.isStopped = true
            return (waiter, pump ?? state.table.takePump(), state.task)
        }
        stop?.cancel()
        pump?.resume()
        waiter?.resume(returning: .failed(.cancelled))
    }

    private func finishesAlone(_ received: Int64) -> Bool {
        if limits.finishesUpTo == .max { return true }
        guard let expectedByteCount else { return false }
        return expectedByteCount - received <= limits.finishesUpTo
    }

    /// What is in the file.
    func written() throws(LoadError) -> StoredBody {
        do throws(StoreError) {
            return try storing.writer.written()
        } catch {
            throw .store(error)
        }
    }
}

/// Reads a body that is still arriving. One that is let go wants no more.
final class SharedBodyReader: Sendable {
    private let body: SharedBody
    private let id: UInt64

    init(_ body: SharedBody, _ id: UInt64) {
        self.body = body
        self.id = id
    }

    deinit {
        body.leave(id)
    }

    /// The next chunk; `nil` once the body is complete and, if it could be, stored.
    func next() async throws(LoadError) -> Data? {
        switch await body.read(id, limit: Int64(ResponseBody.chunkByteCount)) {
        case .file(let range): return try read(range)
        case .chunk(let chunk, _): return chunk
        case .end: return nil
        case .failed(let error): throw error
        }
    }

    private func read(_ range: Range<Int64>) throws(LoadError) -> Data {
        let file = try body.written()
        do throws(StoreError) {
            return try file.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
        } catch {
            throw .store(error)
        }
    }

    /// The whole body. What is in the file takes no memory of its own until the end, and none then if it is large enough to
    /// be mapped.
    ///
    /// - Parameter progress: Is told how many bytes are there.
    func collect(progress: (Int64) -> Void) async throws(LoadError) -> Data {
        var rest = Data()
        var received: Int64 = 0
        while true {
            switch await body.read(id, limit: .max) {
            case .file(let range): received = range.upperBound
            case .chunk(let chunk, let isInFile):
                received += Int64(chunk.count)
                if !isInFile { rest += chunk }
            case .failed(let error): throw error
            case .end:
                let file = try body.written()
                do throws(StoreError) {
                    return rest.isEmpty ? try file.data() : try file.data() + rest
                } catch {
                    throw .store(error)
                }
            }
            progress(received)
        }
    }
}
