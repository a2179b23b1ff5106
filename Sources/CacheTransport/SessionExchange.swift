#if canImport(Darwin)
internal import Foundation
internal import Synchronization

/// One request and its response on `URLSession`. Connects the delegate, which pushes, to the reader, which pulls.
final class SessionExchange: Sendable {
    private typealias HeadWaiter = CheckedContinuation<Result<HTTPURLResponse, TransportError>, Never>
    private typealias ChunkWaiter = CheckedContinuation<Result<Data?, TransportError>, Never>

    private struct State {
        var head: Result<HTTPURLResponse, TransportError>?
        var headWaiter: HeadWaiter?
        var chunks = ChunkBuffer<ChunkWaiter>()
        /// The declared length of the bytes that arrive here, if the head declares one.
        var expectedByteCount: Int64?
        var receivedByteCount: Int64 = 0
    }

    let task: URLSessionDataTask
    private let method: HTTPRequest.Method
    private let spooled: SpooledContent?

    /// Guards the received data and the waiters. Continuations resume outside the lock.
    private let state = Mutex(State())

    /// The task sends the file `spooled`, which is kept alive during the exchange.
    init(task: URLSessionDataTask, method: HTTPRequest.Method, spooled: SpooledContent?) {
        self.task = task
        self.method = method
        self.spooled = spooled
    }

    // MARK: The reader's side

    /// Sends the request and waits for the head.
    func start() async throws(TransportError) -> TransportResponse {
        task.resume()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: HeadWaiter) in
                let known = state.withLock { state in
                    if state.head == nil { state.headWaiter = waiter }
                    return state.head
                }
                if let known { waiter.resume(returning: known) }
            }
        } onCancel: {
            cancel()
        }
        let (head, isBodyDecoded) = try Self.head(of: result.get())
        let reader = Reader(exchange: self)
        return TransportResponse(
            head: head,
            body: TransportBody { () async throws(TransportError) in try await reader.next() },
            isBodyDecoded: isBodyDecoded)
    }

    /// Reads the body. Releasing the reader cancels the exchange.
    private final class Reader: Sendable {
        private let exchange: SessionExchange

        init(exchange: SessionExchange) {
            self.exchange = exchange
        }

        deinit {
            exchange.cancel()
        }

        func next() async throws(TransportError) -> Data? {
            try await exchange.nextChunk()
        }
    }

    private func nextChunk() async throws(TransportError) -> Data? {
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: ChunkWaiter) in
                let reading = state.withLock { state in
                    let reading = state.chunks.read(waiter)
                    if case .chunk(_, resume: true) = reading { setPaused(false) }
                    return reading
                }
                switch reading {
                case .chunk(let chunk, _):
                    waiter.resume(returning: .success(chunk))
                case .complete: waiter.resume(returning: .success(nil))
                case .failed(let error): waiter.resume(returning: .failure(error))
                case .wait: break
                }
            }
        } onCancel: {
            cancel()
        }
        return try result.get()
    }

    /// Ends the exchange immediately; the reader does not wait for the session to react.
    private func cancel() {
        finish(TransportError(.cancelled))
        task.cancel()
    }

    /// Suspends or resumes the sender. Runs under the lock: if a resume ran before the
    /// pause that it ends, the task would stay suspended forever.
    private func setPaused(_ isPaused: Bool) {
        if isPaused { task.suspend() } else { task.resume() }
    }

    // MARK: The delegate's side

    func receive(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else {
            return finish(TransportError(.malformedResponse, message: "the response is not HTTP"))
        }
        // RFC 9110 §15.2: an interim response is not final.
        guard !(100..<200).contains(response.statusCode) || response.statusCode == 101 else { return }
        let (isFirst, waiter) = state.withLock { state in
            let isFirst = state.head == nil
            if isFirst {
                state.head = .success(response)
                state.expectedByteCount = Self.expectedByteCount(response, method)
            }
            return (isFirst, state.headWaiter.take())
        }
        guard isFirst else {
            task.cancel()
            return finish(TransportError(.malformedResponse, message: "a second response followed the first"))
        }
        waiter?.resume(returning: .success(response))
    }

    func receive(_ data: Data) {
        guard !data.isEmpty else { return }
        let arrival = state.withLock { state in
            state.receivedByteCount += Int64(data.count)
            let arrival = state.chunks.append(data)
            if case .pause = arrival { setPaused(true) }
            return arrival
        }
        switch arrival {
        case .buffered, .pause: break
        case .deliver(let waiter): waiter.resume(returning: .success(data))
        }
    }

    func complete(_ error: (any Error)?) {
        let (hasHead, isShort) = state.withLock { state in
            (state.head != nil, state.expectedByteCount.map { state.receivedByteCount < $0 } ?? false)
        }
        guard let error else {
            // RFC 9112 §8: a body shorter than its Content-Length is incomplete, even if the session reports no error.
            return finish(
                isShort ? TransportError(.truncated, message: "the body is shorter than its declared length") : nil)
        }
        let failure = TransportError(session: error)
        // Codes differ by platform. After the head, an unknown error means that the body ended too early.
        finish(hasHead && failure.code == .other ? TransportError(.truncated, message: failure.message) : failure)
    }

    private func finish(_ error: TransportError?) {
        let (headWaiter, chunkWaiter) = state.withLock { state in
            if state.head == nil {
                state.head = .failure(error ?? TransportError(.malformedResponse, message: "no response arrived"))
            }
            return (state.headWaiter.take().map { ($0, state.head) }, state.chunks.end(error))
        }
        if let (waiter, head) = headWaiter, let head { waiter.resume(returning: head) }
        chunkWaiter?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    // MARK: Translating

    private static func expectedByteCount(_ response: HTTPURLResponse, _ method: HTTPRequest.Method) -> Int64? {
        guard method != .head, ![204, 304].contains(response.statusCode),
            response.value(forHTTPHeaderField: "Content-Encoding") == nil
        else { return nil }
        return response.value(forHTTPHeaderField: "Content-Length").flatMap { Int64($0) }
    }

    private static func head(of response: HTTPURLResponse) -> (HTTPResponse, isBodyDecoded: Bool) {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            // The dictionary keeps only the canonical case of a name; HTTPFields ignores the case.
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                continue
            }
            fields.append(HTTPField(name: name, value: value))
        }
        var isBodyDecoded = false
        if let coding = fields[.contentEncoding], ContentCodings.removes(coding) {
            fields.removeEncodedDescription()
            isBodyDecoded = true
        }
        let status = HTTPResponse.Status(code: min(max(response.statusCode, 0), 999))
        return (HTTPResponse(status: status, headerFields: fields), isBodyDecoded)
    }
}

extension TransportError {
    fileprivate init(session error: any Error) {
        guard let error = error as? URLError else {
            self.init(.other, message: "\(error)")
            return
        }
        let code: Code =
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed: .cannotFindHost
            case .cannotConnectToHost, .notConnectedToInternet: .cannotConnect
            case .networkConnectionLost: .connectionLost
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            // The URL is already checked: this code means an unsupported response, such as HTTP/0.9.
            case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData,
                .unsupportedURL:
                .malformedResponse
            case .badURL: .unsupportedRequest
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted,
                .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid, .clientCertificateRejected,
                .clientCertificateRequired:
                .insecure
            default: .other
            }
        self.init(code, message: code == .timedOut ? "nothing arrived in time" : error.localizedDescription)
    }
}
#endif
