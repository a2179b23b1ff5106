internal import CacheFoundation
internal import CacheStore
internal import Logging
internal import Synchronization

/// A body that streams from the origin to its readers, and into the store if it is kept. A separate task takes chunks
/// at the pace of the fastest reader, and writes them to the store's file. Readers receive the end only after the
/// commit. If the store fails, the readers continue. If the origin fails, or all readers leave, the received bytes may
/// be stored as a part. Part commits store them during the transfer. A body that is not kept has one reader. The task
/// takes each chunk only once that reader waits for it.
///
/// The folder `HTTPCache/Bodies/` has the bodies between origin, store and readers: arriving, stored in parts, combined
/// and verified. The folder may read and write bodies of the store, and read the body of a transport's response. The
/// folder sends no request and looks up no entry.
final class SharedBody: Sendable {
    /// The result of storing a complete body.
    enum Outcome: Sendable {
        case stored(StoredEntry)
        /// Storing was unnecessary.
        case unnecessary
        /// The body does not fit the stored parts. Its readers get this error at the end.
        case refused(LoadError)

        /// The outcome of a commit. `nil` means that the store has a later response.
        init(_ entry: StoredEntry?) {
            self = entry.map { .stored($0) } ?? .unnecessary
        }
    }

    /// The actions on the file at the end of the body.
    struct Storing: Sendable {
        let writer: BodyWriter
        /// Stores the complete body as an entry, in place of its last stored part.
        var commit: @Sendable (BodyWriter, _ part: StoredEntry?) async throws(StoreError) -> Outcome
        /// Stores the received bytes as a part, in place of the last stored part. `nil` when no later request could
        /// complete the part.
        let commitPart: (@Sendable (BodyWriter, _ part: StoredEntry?) async throws(StoreError) -> Void)?
        /// Stores parts during the transfer. `nil` when no later request could complete them.
        let partCommits: PartCommits?
        /// Counts this body until it is stored or given up.
        let underWay: ArrivingBodies
    }

    /// The limits of all bodies of a cache.
    struct Limits: Sendable {
        /// The maximum number of bytes that a reader accepts.
        let maxByteCount: Int64
        /// After the last reader has left, the body continues only if at most this many bytes are known to remain.
        let finishesUpTo: Int64
    }

    private typealias Table = ReaderTable<CheckedContinuation<BodyPiece, Never>, CheckedContinuation<Void, Never>>

    private struct State {
        var table: Table
        var task: Task<Void, Never>?
        var isStopped = false
        /// Whether no later load would complete the body: it exceeds a limit, or does not have its digest.
        var isUseless = false
        var isRefused = false
        var entry: StoredEntry?
    }

    let url: String
    private let storing: Storing?
    private let verification: BodyVerification?
    /// The announced length of the whole file.
    private let expectedByteCount: Int64?
    private let limits: Limits
    private let log: CacheLog
    private let onStoreFailure: (@Sendable (StoreError) -> Void)?
    private let onEnd: @Sendable () -> Void

    /// Guards the positions of the readers. Continuations resume outside the lock.
    private let state: Mutex<State>

    /// `storing` has the actions on the file, if the body is kept. `onStoreFailure` receives the error if the body or a
    /// part of it could not be stored. `onEnd` is called after the commit of the body, or once no commit will follow.
    init(
        url: String, storing: Storing?, verification: BodyVerification?, expectedByteCount: Int64?, limits: Limits,
        log: CacheLog, onStoreFailure: (@Sendable (StoreError) -> Void)? = nil,
        onEnd: @escaping @Sendable () -> Void = {}
    ) {
        self.url = url
        self.storing = storing
        self.verification = verification
        self.expectedByteCount = expectedByteCount
        self.limits = limits
        self.log = log
        self.onStoreFailure = onStoreFailure
        self.onEnd = onEnd
        state = Mutex(State(table: Table(byteCount: storing?.writer.byteCount ?? 0, hasFile: storing != nil)))
    }

    /// The limit of the cache that asked for the body.
    var maxByteCount: Int64 { limits.maxByteCount }

    /// Starts to receive the chunks of `source`. Only the started task retains the source, so the exchange ends with
    /// the task.
    func start(_ source: TransportBody) {
        storing?.underWay.begin()
        let task = Task { await run(source) }
        let isStopped = state.withLock { state in
            state.task = task
            return state.isStopped
        }
        if isStopped { task.cancel() }
    }

    // MARK: The origin's side

    private func run(_ source: TransportBody) async {
        let ending = await pump(source)
        if case .failed(let error) = ending { await keepPart(after: error) }
        if state.withLock({ $0.isUseless }) { await storing?.partCommits?.discard() }
        let waiters = state.withLock { $0.table.end(ending) }
        onEnd()
        storing?.underWay.end()
        for waiter in waiters { waiter.resume(returning: ending) }
    }

    private func pump(_ source: TransportBody) async -> BodyPiece {
        var verification = verification
        do throws(LoadError) {
            if storing == nil { try await waitForReaders() }
            while let chunk = try await receive(from: source) {
                let isInFile = deliver(chunk)
                verification?.update(chunk, isInFile: isInFile, storing?.writer)
                try await waitForReaders()
            }
            try verification?.finish(storing?.writer)
            try await commit()
            return .end
        } catch {
            return .failed(error)
        }
    }

    private func receive(from source: TransportBody) async throws(LoadError) -> Data? {
        let chunk: Data?
        do throws(TransportError) {
            chunk = try await source.next()
        } catch {
            throw LoadError(error, url: url)
        }
        let (present, isStopped) = state.withLock { ($0.table.receivedByteCount, $0.isStopped) }
        // The source may ignore its cancellation, and other tasks may have stored a newer response since.
        guard !isStopped else { throw .cancelled }
        let received = present + Int64(chunk?.count ?? 0)
        guard received <= limits.maxByteCount else { throw .bodyTooLarge(url: url, limit: limits.maxByteCount) }
        // RFC 9111 §3.3, RFC 9112 §8: a transport checks the length of its message, but not of the range in the
        // message. Some transports do not check the message either.
        if let expectedByteCount, received > expectedByteCount {
            throw .transport(TransportError(.malformedResponse, message: "the body is longer than announced"), url: url)
        }
        if let expectedByteCount, chunk == nil, received < expectedByteCount {
            throw .transport(TransportError(.truncated), url: url)
        }
        return chunk
    }

    /// Writes a chunk to the file and gives it to the readers. Returns whether the file took the chunk.
    private func deliver(_ chunk: Data) -> Bool {
        let isInFile = store(chunk)
        let waiters = state.withLock { state in
            isInFile ? state.table.appendToFile(chunk) : state.table.appendToMemory(chunk)
        }
        for waiter in waiters { waiter.resume(returning: .chunk(chunk, isInFile: isInFile)) }
        // The commit of a complete body follows immediately, so a complete body needs no part commit.
        if isInFile, let storing, storing.writer.byteCount != expectedByteCount { storing.partCommits?.bodyGrew() }
        return isInFile
    }

    private func store(_ chunk: Data) -> Bool {
        guard let storing, state.withLock({ $0.table.isWhole }) else { return false }
        do throws(StoreError) {
            try storing.writer.write(chunk)
            return true
        } catch {
            state.withLock { $0.table.closeFile(after: .store(error)) }
            noteRefused(error)
            return false
        }
    }

    /// Waits until the readers need the next chunk. Throws if the body has no reader, and no complete file so far.
    private func waitForReaders() async throws(LoadError) {
        await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
            if state.withLock({ $0.table.mayGoOn(waiter) }) { waiter.resume() }
        }
        guard state.withLock({ $0.table.isWanted || $0.table.isWhole }) else { throw .cancelled }
    }

    /// The entry of the complete body, or `nil` before the commit.
    var entry: StoredEntry? { state.withLock { $0.entry } }

    /// Whether the store refused the body, so that it answers only its current readers.
    var isRefused: Bool { state.withLock { $0.isRefused } }

    /// Stores the complete body. Throws if it does not fit the stored parts, but not if the store fails.
    private func commit() async throws(LoadError) {
        let part = await storing?.partCommits?.finish()
        guard let storing, state.withLock({ $0.table.isWhole }) else { return }
        let outcome: Outcome
        do throws(StoreError) {
            outcome = try await storing.commit(storing.writer, part)
        } catch {
            return noteRefused(error)
        }
        switch outcome {
        case .stored(let entry): state.withLock { $0.entry = entry }
        case .unnecessary: break
        case .refused(let error): throw error
        }
    }

    private func keepPart(after error: LoadError) async {
        let part = await storing?.partCommits?.finish()
        switch error {
        // A later load would exceed the limit again, or complete wrong bytes.
        case .bodyTooLarge, .digestMismatch: return state.withLock { $0.isUseless = true }
        default: break
        }
        guard let storing, let commitPart = storing.commitPart, storing.writer.byteCount > 0,
            state.withLock({ $0.table.isWhole })
        else { return }
        do throws(StoreError) {
            try await commitPart(storing.writer, part)
        } catch {
            noteNotStored(error)
        }
    }

    /// Records that the store refused the body of the origin.
    private func noteRefused(_ error: StoreError) {
        // After the removal of its key, the next response may be stored.
        if case .removedMeanwhile = error {} else { state.withLock { $0.isRefused = true } }
        noteNotStored(error)
    }

    private func noteNotStored(_ error: StoreError) {
        switch error {
        case .bodyTooLarge, .exceedsLimits: state.withLock { $0.isUseless = true }
        default: break
        }
        let level: Logger.Level =
            switch error {
            // Expected: the body is too large, its key was removed during the transfer, or the store is suspended or
            // read-only.
            case .bodyTooLarge, .removedMeanwhile, .suspended, .readOnly: .debug
            default: .warning
            }
        log(
            .errors, level, "did not store a response", ["url": "\(LoggedURL(url))", "error": "\(error.logged)"])
        switch error {
        // These errors are not failures of the store.
        case .bodyTooLarge, .removedMeanwhile: break
        default: onStoreFailure?(error)
        }
    }

    // MARK: The readers' side

    /// Returns a reader at the first byte, or `nil` when a new reader could no longer get all bytes.
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

    /// Whether the file has all received bytes.
    var isInFile: Bool { state.withLock { $0.table.isWhole } }

    /// Returns the bytes in the file; none without a file.
    func written() throws(LoadError) -> StoredBody {
        try LoadError.wrapping { () throws(StoreError) in try storing?.writer.written() ?? StoredBody() }
    }
}
