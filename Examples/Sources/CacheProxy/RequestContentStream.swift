internal import CacheLoader
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Passes the content of a request from the connection to the cache.
///
/// The connection appends, and a task of the cache reads. The stream accepts all bytes. The connection must stop
/// reading from its socket while ``byteCount`` is above ``highWaterMark``. The stream notifies the connection when the
/// reader needs bytes.
final class RequestContentStream: Sendable {
    /// The number of waiting bytes above which the connection stops reading.
    static let highWaterMark = 262_144

    private typealias Chunk = Result<Data?, TransportError>

    private struct State {
        var chunks: [Data] = []
        /// The index of the next chunk to read. Removing the first element of an array instead would move all later
        /// elements.
        var next = 0
        var byteCount = 0
        var ending: Result<Void, TransportError>?
        var waiter: CheckedContinuation<Chunk, Never>?
    }

    /// The declared length, or `nil` for chunked content.
    let length: Int64?

    /// Notifies the connection that the reader waits or has made room. Called on the reader's thread.
    private let onDemand: @Sendable (RequestContentStream) -> Void

    /// Guards the chunks and the waiting reader.
    private let state = Mutex(State())

    init(length: Int64?, onDemand: @escaping @Sendable (RequestContentStream) -> Void) {
        self.length = length
        self.onDemand = onDemand
    }

    /// The number of bytes that wait for the reader.
    var byteCount: Int { state.withLock { $0.byteCount } }

    /// Appends a part of the content.
    func append(_ chunk: Data) {
        let waiter = state.withLock { state in
            guard state.ending == nil else { return nil as CheckedContinuation<Chunk, Never>? }
            if let waiter = state.waiter.take() { return waiter }
            state.chunks.append(chunk)
            state.byteCount += chunk.count
            return nil
        }
        waiter?.resume(returning: .success(chunk))
    }

    /// Ends the content. Passes an error for incomplete content.
    func finish(_ error: TransportError? = nil) {
        let waiter = state.withLock { state in
            guard state.ending == nil else { return nil as CheckedContinuation<Chunk, Never>? }
            state.ending = error.map { .failure($0) } ?? .success(())
            return state.waiter.take()
        }
        waiter?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    }

    /// Returns the next part, or `nil` at the end.
    func next() async throws(TransportError) -> Data? {
        let chunk = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: CheckedContinuation<Chunk, Never>) in
                read(waiter)
            }
        } onCancel: {
            finish(TransportError(.cancelled))
        }
        return try chunk.get()
    }

    private func read(_ waiter: CheckedContinuation<Chunk, Never>) {
        let (chunk, hasDemand) = state.withLock { state -> (Chunk?, Bool) in
            if state.next < state.chunks.count {
                let chunk = state.chunks[state.next]
                state.chunks[state.next] = Data()
                state.next += 1
                state.byteCount -= chunk.count
                if state.next == state.chunks.count {
                    state.chunks.removeAll(keepingCapacity: true)
                    state.next = 0
                }
                // The connection may have stopped at the mark. It resumes once half of the space is free.
                return (.success(chunk), state.byteCount <= Self.highWaterMark / 2)
            }
            if let ending = state.ending { return (ending.map { nil }, false) }
            precondition(state.waiter == nil, "the content of a request has one reader")
            state.waiter = waiter
            return (nil, true)
        }
        if hasDemand { onDemand(self) }
        if let chunk { waiter.resume(returning: chunk) }
    }
}
