internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A body that streams from the origin to its only reader, at the pace of the reader. The store keeps no part of it.
final class PassedBody: Sendable {
    private struct State {
        var receivedByteCount: Int64 = 0
        /// The end of the body. Each later call has the same result.
        var ending: Result<Void, LoadError>?
    }

    /// The announced length; `nil` if unknown.
    let byteCount: Int64?
    private let url: String
    private let source: TransportBody
    private let limit: Int64
    private let isDiscarded: Bool

    /// Guards the position and the end.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - byteCount: The announced length; `nil` if unknown.
    ///   - limit: The most bytes that the reader accepts.
    ///   - isDiscarded: Whether the response has no body. If so, received bytes are dropped.
    init(url: String, source: TransportBody, byteCount: Int64?, limit: Int64, isDiscarded: Bool) {
        self.url = url
        self.source = source
        self.byteCount = byteCount
        self.limit = limit
        self.isDiscarded = isDiscarded
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
        let received = state.withLock { state in
            state.receivedByteCount += Int64(chunk?.count ?? 0)
            return state.receivedByteCount
        }
        guard received <= limit else { throw .bodyTooLarge(url: url, limit: limit) }
        if !isDiscarded { try AnnouncedLength.check(received, of: byteCount, isEnd: chunk == nil, url: url) }
        return chunk
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
