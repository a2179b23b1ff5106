internal import AsyncHTTPClient
internal import CacheLoader
internal import HTTPTypes
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One request and its response on AsyncHTTPClient.
struct ClientExchange: Sendable {
    let connections: ClientConnections
    let watch: IdleWatch
    let method: HTTPRequest.Method
    /// Whether the request may be sent a second time (RFC 9110 §9.2.2).
    let isRepeatable: Bool

    /// Sends the request and waits for the head.
    func start(_ message: HTTPClientRequest, deadline: NIODeadline) async throws(TransportError) -> TransportResponse {
        var result = await execute(message, deadline)
        // RFC 9112 §9.3.1: an origin may close a kept-alive connection at any time. AsyncHTTPClient cannot force a new
        // connection, but its pool has dropped the closed one.
        if isRepeatable, !Task.isCancelled, case .failure(let error) = result, TransportError.meansClosed(error) {
            result = await execute(message, deadline)
        }
        // The origin may have answered just before the cancellation. A cancelled exchange still fails.
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        switch result {
        case .failure(let error):
            throw TransportError(client: error, hasHead: false)
        case .success(let response):
            guard response.history.count <= 1 else {
                throw TransportError(.unsupportedRequest, message: "the client is set to follow redirects")
            }
            let head = HTTPResponse(response)
            let reader = ClientBodyReader(
                response.body, length: head.bodyLength(inAnswerTo: method), watch: watch, connections: connections)
            return TransportResponse(
                head: head, body: TransportBody { () async throws(TransportError) in try await reader.next() })
        }
    }

    private func execute(
        _ message: HTTPClientRequest, _ deadline: NIODeadline
    ) async -> Result<HTTPClientResponse, any Error> {
        await watch.result { [client = connections.client] in try await client.execute(message, deadline: deadline) }
    }
}

/// Reads the body of a response. Releasing the reader discards the rest of the body, because releasing the iterator
/// ends the exchange.
private final class ClientBodyReader: Sendable {
    private struct State {
        var isReading = false
        var receivedByteCount: Int64 = 0
        /// The end of the body. Each later call returns the same result.
        var ending: Result<Void, TransportError>?
    }

    /// The client's iterator. A separate task calls it.
    ///
    /// `@unchecked`: `State.isReading` permits one call of the iterator at a time. After a timeout or a cancellation,
    /// `State.ending` permits no further call, because the last call may still be waiting.
    private final class Source: @unchecked Sendable {
        private var iterator: HTTPClientResponse.Body.AsyncIterator

        init(_ body: HTTPClientResponse.Body) {
            iterator = body.makeAsyncIterator()
        }

        func next() async throws -> ByteBuffer? {
            try await iterator.next()
        }
    }

    private let source: Source
    /// The body length in the head, if any.
    private let length: Int64?
    private let watch: IdleWatch
    private let connections: ClientConnections

    /// Guards the position and the end.
    private let state = Mutex(State())

    init(_ body: HTTPClientResponse.Body, length: Int64?, watch: IdleWatch, connections: ClientConnections) {
        source = Source(body)
        self.length = length
        self.watch = watch
        self.connections = connections
    }

    func next() async throws(TransportError) -> Data? {
        let ending = state.withLock { state in
            precondition(!state.isReading, "a body has one reader")
            state.isReading = state.ending == nil
            return state.ending
        }
        if let ending {
            try ending.get()
            return nil
        }
        // Reads on after the last byte, because the end of the message returns the connection to the pool.
        let outcome = await pull()
        state.withLock { state in
            state.isReading = false
            switch outcome {
            case .success(.some): break
            case .success(nil): state.ending = .success(())
            case .failure(let error): state.ending = .failure(error)
            }
        }
        return try outcome.get()
    }

    private func pull() async -> Result<Data?, TransportError> {
        while true {
            guard !Task.isCancelled else { return .failure(TransportError(.cancelled)) }
            switch await watch.result(of: { [source] in try await source.next() }) {
            case .success(let buffer?):
                if let chunk = accept(buffer) { return .success(chunk) }
            case .success(nil):
                return isShort ? .failure(Self.truncated) : .success(nil)
            case .failure(let error):
                // An error after the last byte, such as surplus bytes, does not affect the body.
                return isComplete ? .success(nil) : .failure(failure(error))
            }
        }
    }

    /// Returns the bytes of `buffer` that belong to the body, or `nil` for surplus bytes.
    private func accept(_ buffer: ByteBuffer) -> Data? {
        let count = state.withLock { state in
            let room = length.map { max($0 - state.receivedByteCount, 0) } ?? .max
            let count = min(Int64(buffer.readableBytes), room)
            state.receivedByteCount += count
            return Int(count)
        }
        return count == 0 ? nil : Data(buffer.readableBytesView.prefix(count))
    }

    private func failure(_ error: any Error) -> TransportError {
        Task.isCancelled ? TransportError(.cancelled) : TransportError(client: error, hasHead: true)
    }

    private var isComplete: Bool { length.map { $0 <= receivedByteCount } ?? false }
    private var isShort: Bool { length.map { $0 > receivedByteCount } ?? false }
    private var receivedByteCount: Int64 { state.withLock { $0.receivedByteCount } }

    private static let truncated = TransportError(
        .truncated, message: "the body is shorter than its declared length")
}

extension HTTPResponse {
    /// Creates the head from the client's response. Keeps the field lines, their order, and the case of the names.
    ///
    /// Drops validators with U+FFFD. AsyncHTTPClient replaces bytes that are not UTF-8, so different validators could
    /// become equal (RFC 9110 §8.8.3).
    fileprivate init(_ response: HTTPClientResponse) {
        var fields = HTTPFields()
        for (name, value) in response.headers {
            guard let name = HTTPField.Name(name) else { continue }
            if [.eTag, .lastModified].contains(name), value.unicodeScalars.contains("\u{FFFD}") { continue }
            fields.append(HTTPField(name: name, value: value))
        }
        let status = Status(
            code: min(max(Int(response.status.code), 0), 999), reasonPhrase: response.status.reasonPhrase)
        self.init(status: status, headerFields: fields)
    }

    /// Returns the number of bytes after the head (RFC 9112 §6.3), or `nil` for a head without it.
    fileprivate func bodyLength(inAnswerTo method: HTTPRequest.Method) -> Int64? {
        if method == .head || status == .noContent || status == .notModified { return 0 }
        guard headerFields[.transferEncoding] == nil else { return nil }
        return headerFields[.contentLength].flatMap { Int64($0) }
    }
}
