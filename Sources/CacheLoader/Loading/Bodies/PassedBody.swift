internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A body on its way from the origin to its one reader, who sets the pace. None of it is kept.
final class PassedBody: Sendable {
    private struct State {
        var receivedByteCount: Int64 = 0
        /// How the body has ended; what is asked for afterwards has the same answer.
        var ending: Result<Void, LoadError>?
    }

    private let url: String
    private let source: TransportBody
    private let limit: Int64

    /// Guards how far the body has come.
    private let state = Mutex(State())

    /// - Parameter limit: The most bytes that the reader wants.
    init(url: String, source: TransportBody, limit: Int64) {
        self.url = url
        self.source = source
        self.limit = limit
    }

    /// The next chunk; `nil` once the body is complete.
    func next() async throws(LoadError) -> Data? {
        if let ending = state.withLock({ $0.ending }) {
            try ending.get()
            return nil
        }
        do throws(LoadError) {
            let chunk = try await receive()
            if chunk == nil { state.withLock { $0.ending = .success(()) } }
            return chunk
        } catch {
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

    /// The whole body.
    ///
    /// - Parameter progress: Is told how many bytes are there.
    func collect(progress: (Int64) -> Void) async throws(LoadError) -> Data {
        var bytes = Data()
        while let chunk = try await next() {
            bytes += chunk
            progress(Int64(bytes.count))
        }
        return bytes
    }
}
