internal import CacheFoundation
internal import Synchronization

/// A body that streams from the origin to its only reader, at the pace of the reader. The store keeps no part of it.
final class PassedBody: Sendable {
    private struct State {
        /// The origin's side; `nil` after a cancellation, whose release of the body ends the exchange.
        var source: TransportBody?
        /// The pull that the reader waits for.
        var pull: Task<Result<Data?, TransportError>, Never>?
        var receivedByteCount: Int64 = 0
        /// Verifies the body; `nil` without digests to compare. The reader takes it out to hash a chunk.
        var check: DigestCheck?
        /// The end of the body. Each later call has the same result.
        var ending: Result<Void, LoadError>?
    }

    /// The announced length; `nil` if unknown.
    let byteCount: Int64?
    private let url: String
    private let limit: Int64
    private let isDiscarded: Bool

    /// Guards the source, the position and the end. Tasks are cancelled, and the source is released, after unlocking.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - byteCount: The announced length; `nil` if unknown.
    ///   - limit: The most bytes that the reader accepts.
    ///   - isDiscarded: Whether the response has no body. If so, received bytes are dropped.
    ///   - check: Verifies the body; `nil` without digests to compare.
    init(
        url: String, source: TransportBody, byteCount: Int64?, limit: Int64, isDiscarded: Bool,
        check: DigestCheck? = nil
    ) {
        self.url = url
        self.byteCount = byteCount
        self.limit = limit
        self.isDiscarded = isDiscarded
        state = Mutex(State(source: source, check: check))
    }

    /// Ends the reading and the exchange. The pull under way, and later reads, throw ``LoadError/cancelled``.
    func cancel() {
        let (source, pull) = state.withLock { state in
            state.ending = .failure(.cancelled)
            return (state.source.take(), state.pull)
        }
        pull?.cancel()
        // Release the source outside the lock: the transport may do any work then.
        _ = consume source
    }

    /// Returns the next chunk; `nil` once the body is complete.
    func next() async throws(LoadError) -> Data? {
        if let ending = state.withLock({ $0.ending }) {
            try ending.get()
            return nil
        }
        do throws(LoadError) {
            var chunk = try await receive()
            while isDiscarded, chunk != nil { chunk = try await receive() }
            if chunk == nil { end(.success(())) }
            return chunk
        } catch {
            end(.failure(error))
            throw error
        }
    }

    /// Sets the end. A cancellation wins over another end.
    private func end(_ ending: Result<Void, LoadError>) {
        state.withLock { $0.ending = $0.ending ?? ending }
    }

    /// Waits for the next chunk in a task of its own, which ``cancel()`` can end without ending that of the reader.
    private func pull() async throws(TransportError) -> Data? {
        let pull = state.withLock { state -> Task<Result<Data?, TransportError>, Never>? in
            guard let source = state.source else { return nil }
            state.pull = Task {
                do throws(TransportError) {
                    return .success(try await source.next())
                } catch {
                    return .failure(error)
                }
            }
            return state.pull
        }
        guard let pull else { throw TransportError(.cancelled) }
        let result = await withTaskCancellationHandler {
            await pull.value
        } onCancel: {
            pull.cancel()
        }
        let isCancelled = state.withLock { state in
            state.pull = nil
            return state.source == nil
        }
        // A transport may ignore its cancellation.
        guard !isCancelled else { throw TransportError(.cancelled) }
        return try result.get()
    }

    private func receive() async throws(LoadError) -> Data? {
        let chunk: Data?
        do throws(TransportError) {
            chunk = try await pull()
        } catch {
            throw LoadError(error, url: url)
        }
        let received = state.withLock { state in
            state.receivedByteCount += Int64(chunk?.count ?? 0)
            return state.receivedByteCount
        }
        guard received <= limit else { throw .bodyTooLarge(url: url, limit: limit) }
        if !isDiscarded { try AnnouncedLength.check(received, of: byteCount, isEnd: chunk == nil, url: url) }
        try verify(chunk)
        return chunk
    }

    /// Takes a chunk, or the end of the body. Hashes outside the lock.
    private func verify(_ chunk: Data?) throws(LoadError) {
        guard var check = state.withLock({ $0.check.take() }) else { return }
        if let chunk {
            check.update(chunk)
            state.withLock { [check] state in state.check = check }
        } else if let field = check.mismatch() {
            throw .digestMismatch(url: url, field: field.rawValue)
        }
    }

    /// Returns the whole body.
    ///
    /// - Parameter progress: Receives the number of bytes so far.
    func collect(progress: (Int64) -> Void) async throws(LoadError) -> Data {
        var bytes = Data()
        while let chunk = try await next() {
            bytes += chunk
            progress(Int64(bytes.count))
        }
        return bytes
    }
}
