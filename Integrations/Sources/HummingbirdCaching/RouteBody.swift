internal import AsyncAlgorithms
internal import CacheLoader
internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import NIOFoundationCompat
internal import Synchronization

/// The body of a route's response as a sequence. The route waits for the reader after each chunk.
final class RouteBody: Sendable {
    private let chunks = AsyncThrowingChannel<ByteBuffer, any Error>()
    private let writing: Task<Void, Never>
    private let end = End()

    /// Guards the trailers.
    private final class End: Sendable {
        let trailers = Mutex<HTTPFields?>(nil)
    }

    init(_ body: Hummingbird.ResponseBody) {
        writing = Task { [chunks, end] in
            do {
                try await body.write(Writer(chunks: chunks, end: end))
                chunks.finish()
            } catch {
                chunks.fail(error)
            }
        }
    }

    deinit {
        writing.cancel()
    }

    /// The trailers, or `nil` before the end of the body.
    var trailers: HTTPFields? { end.trailers.withLock { $0 } }

    func next() async throws(TransportError) -> Data? {
        do {
            var iterator = chunks.makeAsyncIterator()
            while let chunk = try await iterator.next() {
                // Skips empty chunks, which a transport body must not contain.
                if chunk.readableBytes > 0 { return Data(buffer: chunk) }
            }
        } catch {
            throw TransportError(.truncated, message: "\(error)")
        }
        // Cancelling the reader ends a channel.
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        return nil
    }

    private struct Writer: ResponseBodyWriter {
        let chunks: AsyncThrowingChannel<ByteBuffer, any Error>
        let end: End

        func write(_ buffer: ByteBuffer) async throws {
            await chunks.send(buffer)
            try Task.checkCancellation()
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws {
            end.trailers.withLock { $0 = trailingHeaders }
        }
    }
}
