#if Curl && !canImport(Darwin)
internal import CCurl
internal import CacheFoundation
internal import HTTPCaching
internal import Synchronization

/// One exchange: its request, and the part of its response that has arrived. Connects libcurl, which pushes, to a
/// reader, which pulls. A callback of libcurl or the thread of the loop calls the methods of the section "The loop's
/// side".
final class CurlTransfer: Sendable {
    private typealias HeadWaiter = CheckedContinuation<Result<HTTPResponse, TransportError>, Never>
    private typealias ChunkWaiter = CheckedContinuation<Result<Data?, TransportError>, Never>

    private struct State {
        var reader: ResponseHeadReader
        var head: HTTPResponse?
        var headWaiter: HeadWaiter?
        /// The interim responses that have arrived since the last delivery.
        var interim: [HTTPResponse] = []
        var hasInterim = false
        /// The length of the body, if it is known before its end.
        var bodyLength: Int64?
        /// The bytes of the body that have arrived since the last delivery.
        var arrived = Data()
        var receivedByteCount: Int64 = 0
        var chunks = ChunkBuffer<ChunkWaiter>()
        /// Whether the reader waits for a chunk.
        var isReading = false
        /// Whether libcurl waits for the reader.
        var isReceivingPaused = false
        var content: CurlContent?
        /// Whether libcurl has a connection for the request.
        var isConnected = false
        /// The time of the last progress, or of the start of the wait for progress.
        var lastActivity = ContinuousClock.now
        /// The reason why a callback ended the transfer.
        var failure: TransportError?
        var ending: Result<Void, TransportError>?

        /// Whether libcurl waits although the reader has room.
        var canReceive: Bool { isReceivingPaused && !chunks.isPaused && ending == nil }
    }

    let request: CurlRequest
    private let loop: CurlLoop
    private let idleTimeout: Duration
    private let headDeadline: ContinuousClock.Instant?
    private let onInterimResponse: @Sendable (HTTPResponse) -> Void

    /// Guards the state. Continuations resume, and functions of the program run, outside of the lock.
    private let state: Mutex<State>

    init(
        _ request: CurlRequest, _ content: RequestContent?, _ configuration: CurlTransport.Configuration,
        _ loop: CurlLoop, onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) {
        self.request = request
        self.loop = loop
        self.onInterimResponse = onInterimResponse
        idleTimeout = configuration.idleTimeout
        headDeadline = configuration.headTimeout.map { .now + $0 }
        state = Mutex(
            State(
                reader: ResponseHeadReader(maxByteCount: configuration.maxHeadBytes),
                content: content.map { CurlContent($0) }))
    }

    // MARK: The reader's side

    /// Sends the request with `content`, and waits for the head of the final response.
    func head(_ content: RequestContent?) async throws(TransportError) -> HTTPResponse {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: HeadWaiter) in
                let ending = state.withLock { state in
                    if state.ending == nil { state.headWaiter = waiter }
                    return state.ending
                }
                if let ending { return waiter.resume(returning: ending.flatMap { .failure(Self.noHead) }) }
                if let content, !content.isRepeatable { produce(content) }
                loop.give(.start(self))
            }
        } onCancel: {
            cancel()
        }
        // The origin may have answered just before the cancellation; a cancelled exchange fails anyway.
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        return try result.get()
    }

    /// Waits for the next chunk. Returns `nil` after the last one.
    func nextChunk() async throws(TransportError) -> Data? {
        try await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: ChunkWaiter) in
                let (reading, resumes) = state.withLock { state in
                    let reading = state.chunks.read(waiter)
                    if case .wait = reading {
                        state.isReading = true
                        state.lastActivity = .now
                    }
                    return (reading, state.canReceive)
                }
                if resumes { loop.give(.resume(self)) }
                switch reading {
                case .chunk(let chunk, _): waiter.resume(returning: .success(chunk))
                case .complete: waiter.resume(returning: .success(nil))
                case .failed(let error): waiter.resume(returning: .failure(error))
                case .wait: break
                }
            }
        } onCancel: {
            cancel()
        }.get()
    }

    /// Ends the exchange without a complete response, and closes its connection.
    func cancel() {
        guard end(TransportError(.cancelled)) else { return }
        loop.give(.cancel(self))
    }

    /// Ends the exchange: complete, or with an error. Returns `false` if it had ended before.
    @discardableResult
    func end(_ error: TransportError?) -> Bool {
        let ended = state.withLock { state -> (HeadWaiter?, ChunkWaiter?, (@Sendable () -> Void)?)? in
            guard state.ending == nil else { return nil }
            state.ending = error.map { .failure($0) } ?? .success(())
            state.isReading = false
            return (state.headWaiter.take(), state.chunks.end(error), state.content?.end())
        }
        guard let (headWaiter, chunkWaiter, endContent) = ended else { return false }
        headWaiter?.resume(returning: .failure(error ?? Self.noHead))
        chunkWaiter?.resume(returning: error.map { .failure($0) } ?? .success(nil))
        endContent?()
        return true
    }

    // MARK: The content's side

    /// Produces the content of a stream, at the pace of libcurl.
    private func produce(_ content: RequestContent) {
        let producer = Task { [self] in
            do throws(TransportError) {
                while let chunk = try await content.next() {
                    guard await offer(chunk) else { return }
                }
                finishContent(nil)
            } catch {
                finishContent(error)
            }
        }
        let isLate = state.withLock { state in
            state.content?.producer = producer
            return state.ending != nil
        }
        if isLate { producer.cancel() }
    }

    /// Waits until libcurl has taken a chunk. Returns `false` if the exchange has ended.
    private func offer(_ chunk: Data) async -> Bool {
        await withCheckedContinuation { waiter in
            let (hasEnded, resumes) = state.withLock { state in
                guard state.ending == nil else { return (true, false) }
                state.lastActivity = .now
                return (false, state.content?.offer(chunk, waiter) ?? false)
            }
            if hasEnded { waiter.resume(returning: false) }
            if resumes { loop.give(.resume(self)) }
        }
    }

    private func finishContent(_ error: TransportError?) {
        let resumes = state.withLock { state in
            state.failure = state.failure ?? error
            guard state.ending == nil else { return false }
            state.lastActivity = .now
            return state.content?.finish() ?? false
        }
        if resumes { loop.give(.resume(self)) }
    }

    // MARK: The loop's side

    /// Takes a line of a head. Returns `false` to end the transfer.
    func receive(line: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            do throws(TransportError) {
                switch try state.reader.append(line) {
                case .none: return true
                case .interim(let response):
                    state.interim.append(response)
                    state.hasInterim = true
                case .final(let response):
                    state.head = response
                    state.bodyLength = request.hasBody(in: response) ? state.reader.contentLength : 0
                    state.arrived.reserveCapacity(min(Int(clamping: state.bodyLength ?? 0), Self.highWaterMark))
                }
                state.lastActivity = .now
                return true
            } catch {
                state.failure = error
                return false
            }
        }
    }

    /// Takes bytes of the body. Returns `false` to make libcurl wait for the reader.
    func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            // The reader has left: the loop ends the transfer next.
            guard state.ending == nil else { return true }
            guard !state.chunks.isPaused, state.arrived.count < Self.highWaterMark else {
                state.isReceivingPaused = true
                return false
            }
            // RFC 9112 §6.3: bytes past the declared length are not part of the body.
            let room = state.bodyLength.map { max($0 - state.receivedByteCount, 0) } ?? .max
            let count = Int(min(Int64(bytes.count), room))
            state.arrived.append(contentsOf: bytes[..<count])
            state.receivedByteCount += Int64(count)
            state.lastActivity = .now
            return true
        }
    }

    /// Copies bytes of the content to libcurl.
    func takeContent(into buffer: UnsafeMutableRawBufferPointer) -> CurlContent.Taking {
        let (taking, waiter) = state.withLock { state -> (CurlContent.Taking, CurlContent.Waiter?) in
            guard state.failure == nil else { return (.failed, nil) }
            state.lastActivity = .now
            return state.content?.take(into: buffer) ?? (.bytes(0), nil)
        }
        waiter?.resume(returning: true)
        return taking
    }

    /// Begins the content again. Returns `false` if it is a stream.
    func rewindContent() -> Bool {
        state.withLock { $0.content?.rewind() ?? true }
    }

    /// Hands the arrived parts over. Returns whether libcurl can continue, although it waits.
    func deliver() -> Bool {
        let (interim, head, chunk, resumes) = state.withLock { state in
            let interim = state.interim
            state.interim = []
            let head = state.head.flatMap { head in state.headWaiter.take().map { ($0, head) } }
            var chunk: (ChunkWaiter, Data)?
            if !state.arrived.isEmpty, state.ending == nil {
                let data = state.arrived
                state.arrived = Data()
                if case .deliver(let waiter) = state.chunks.append(data) {
                    state.isReading = false
                    chunk = (waiter, data)
                }
            }
            return (interim, head, chunk, state.canReceive)
        }
        interim.forEach(onInterimResponse)
        if let (waiter, head) = head { waiter.resume(returning: .success(head)) }
        if let (waiter, data) = chunk { waiter.resume(returning: .success(data)) }
        return resumes
    }

    /// The directions in which libcurl must still wait.
    func takePauses() -> Int32 {
        state.withLock { state in
            if !state.chunks.isPaused { state.isReceivingPaused = false }
            return (state.isReceivingPaused ? CURLPAUSE_RECV : 0)
                | (state.content?.isAwaited == true ? CURLPAUSE_SEND : 0)
        }
    }

    /// Whether the reader has left, or the transfer has ended.
    var hasEnded: Bool { state.withLock { $0.ending != nil } }

    /// Whether no other response may follow on the connection.
    var mustClose: Bool { state.withLock { $0.reader.mustClose } }

    /// Whether the body is complete, although libcurl does not know its length.
    var isCompleteBeforeItsEnd: Bool {
        state.withLock { $0.reader.hasHiddenLength && $0.bodyLength == $0.receivedByteCount }
    }

    /// Whether the request may be sent once more on a new connection (RFC 9110 §9.2.2). The method is safe, the content
    /// is in memory, and no part of a response was handed over.
    var isRepeatable: Bool {
        state.withLock { state in
            request.method.isSafe && state.content?.isRepeatable != false && state.head == nil && !state.hasInterim
                && state.failure == nil && state.ending == nil
        }
    }

    /// Begins to count the time without progress: libcurl is about to send the request on a connection.
    func beginAttempt() {
        state.withLock { state in
            state.isConnected = true
            state.lastActivity = .now
        }
    }

    /// Drops the part of a head that has arrived, and begins the content again.
    func restart() {
        state.withLock { state in
            state.reader = state.reader.emptied()
            state.isConnected = false
            _ = state.content?.rewind()
        }
    }

    /// The time at which the exchange times out without progress. `nil` while the exchange waits for the program, or,
    /// without a head timeout, for a connection. libcurl itself limits the time to connect.
    var deadline: ContinuousClock.Instant? {
        state.withLock { state in
            let isAwaited = (state.headWaiter != nil || state.isReading) && state.content?.isAwaited != true
            let idle = state.isConnected && isAwaited ? state.lastActivity + idleTimeout : nil
            guard state.headWaiter != nil, let headDeadline else { return idle }
            return min(idle ?? headDeadline, headDeadline)
        }
    }

    /// Returns the error of an exchange whose transfer has ended. A complete response has none. `failure` returns the
    /// error of libcurl, if there is one.
    func error(_ failure: (_ hasHead: Bool) -> TransportError?) -> TransportError? {
        state.withLock { state in
            if let failure = state.failure { return failure }
            guard state.head != nil else { return failure(false) ?? Self.noHead }
            guard let length = state.bodyLength else { return failure(true) }
            // The end of the connection says nothing about a complete body.
            if state.receivedByteCount >= length { return nil }
            return failure(true)
                ?? TransportError(.truncated, message: "the body is shorter than its declared length")
        }
    }

    private static var highWaterMark: Int { ChunkBuffer<ChunkWaiter>.highWaterMark }

    private static let noHead = TransportError(
        .connectionLost, message: "the connection was closed before the end of the response")
}

extension CurlRequest {
    /// Whether a response to this request has a body (RFC 9112 §6.3).
    fileprivate func hasBody(in head: HTTPResponse) -> Bool {
        method != .head && head.status != .noContent && head.status != .notModified
    }
}
#endif
