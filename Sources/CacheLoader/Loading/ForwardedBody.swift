internal import CacheStore
internal import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A body on its way from the origin to its reader and, if it may be kept, into the store.
///
/// The end is handed over only after the commit. When the store cannot go on, the reader does; when the origin breaks off
/// or the reader leaves, nothing is stored.
final class ForwardedBody: Sendable {
    /// Where the bytes are kept, and what makes them an entry at the end.
    struct Storing: Sendable {
        let writer: BodyWriter
        let commit: @Sendable (BodyWriter) async throws(StoreError) -> Void
    }

    private struct State {
        var isStoring: Bool
        var receivedByteCount: Int64 = 0
        /// How the body has ended; what is asked for afterwards has the same answer.
        var ending: Result<Void, LoadError>?
        /// For ``collect()``: the chunks that are not in the file of the writer.
        var tail = Data()
    }

    private let url: String
    private let source: TransportBody
    private let storing: Storing?
    private let limit: Int64
    private let logger: Logger

    /// Guards how far the body has come.
    private let state: Mutex<State>

    /// - Parameters:
    ///   - storing: `nil` for a body that is only passed on.
    ///   - limit: The most bytes that the reader wants.
    init(url: String, source: TransportBody, storing: Storing?, limit: Int64, logger: Logger) {
        self.url = url
        self.source = source
        self.storing = storing
        self.limit = limit
        self.logger = logger
        state = Mutex(State(isStoring: storing != nil))
    }

    /// The next chunk; `nil` once the body is complete and, if it could be, stored.
    func next() async throws(LoadError) -> Data? {
        if let ending = state.withLock({ $0.ending }) {
            try ending.get()
            return nil
        }
        do throws(LoadError) {
            let chunk = try await receive()
            if let chunk {
                store(chunk)
            } else {
                await commit()
                state.withLock { $0.ending = .success(()) }
            }
            return chunk
        } catch {
            storing?.writer.discard()
            state.withLock { $0.ending = .failure(error) }
            throw error
        }
    }

    private func receive() async throws(LoadError) -> Data? {
        let chunk: Data?
        do throws(TransportError) {
            chunk = try await source.next()
        } catch {
            throw LoadError(error, url: url)
        }
        guard let chunk else { return nil }
        let received = state.withLock { state in
            state.receivedByteCount += Int64(chunk.count)
            return state.receivedByteCount
        }
        guard received <= limit else { throw .bodyTooLarge(url: url, limit: limit) }
        return chunk
    }

    private func store(_ chunk: Data) {
        guard let storing, state.withLock({ $0.isStoring }) else { return }
        do throws(StoreError) {
            try storing.writer.write(chunk)
        } catch {
            stopStoring(error)
        }
    }

    private func commit() async {
        guard let storing, state.withLock({ $0.isStoring }) else { return }
        do throws(StoreError) {
            try await storing.commit(storing.writer)
        } catch {
            stopStoring(error)
        }
    }

    private func stopStoring(_ error: StoreError) {
        state.withLock { $0.isStoring = false }
        let level: Logger.Level =
            switch error {
            // As it should be: it is too large, or was removed in the meantime, or the program has put the store away.
            case .bodyTooLarge, .removedMeanwhile, .suspended, .readOnly: .debug
            default: .warning
            }
        logger.log(level: level, "did not store a response", metadata: ["url": "\(url)", "error": "\(error)"])
    }

    /// The whole body. What went into the file of the store takes no memory of its own until the end, and none then if it
    /// is large enough to be mapped.
    func collect() async throws(LoadError) -> Data {
        while let chunk = try await next() {
            // The chunk at which the store failed is not in the file.
            state.withLock { if !$0.isStoring { $0.tail.append(chunk) } }
        }
        let tail = state.withLock { $0.tail }
        guard let storing else { return tail }
        do throws(StoreError) {
            let stored = try storing.writer.written().data()
            return tail.isEmpty ? stored : stored + tail
        } catch {
            throw .store(error)
        }
    }
}
