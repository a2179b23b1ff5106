internal import CacheLoader
internal import Foundation

/// The bytes of a body as they arrive, like `URLSession.AsyncBytes`.
///
/// ```swift
/// let (bytes, response) = try await cache.bytes(from: url)
/// for try await line in bytes.lines { print(line) }
/// ```
///
/// Bytes arrive in chunks. Most calls of an iterator take a byte from memory and do not suspend. Decodes a chunk with a
/// content coding in small slices. A body has at most the `maxBodyBytes` of the cache. Reading throws `URLError`. A
/// body can be read once, by one iterator.
public struct ResponseBytes: AsyncSequence, Sendable {
    private let exchange: SessionExchange

    init(_ exchange: SessionExchange) {
        self.exchange = exchange
    }

    /// The lines of the body as UTF-8, without their line ends, like Foundation's `lines` of `URLSession.AsyncBytes`.
    ///
    /// A line ends with LF, VT, FF, CR, CRLF, NEL (U+0085), LS (U+2028) or PS (U+2029). **Omits empty lines.** Read the
    /// bytes for a format with meaningful empty lines, such as server-sent events. Bytes that are not UTF-8 become
    /// U+FFFD.
    ///
    /// Works on whole chunks, not on single bytes.
    public var lines: ResponseLines { ResponseLines(exchange) }

    /// Returns an iterator over the bytes.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(exchange)
    }

    /// Reads the bytes of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        @usableFromInline var chunk: [UInt8] = []
        @usableFromInline var index = 0
        private var chunks: SessionChunks
        private let exchange: SessionExchange

        fileprivate init(_ exchange: SessionExchange) {
            self.exchange = exchange
            chunks = exchange.chunks()
        }

        /// Returns the next byte, or `nil` at the end.
        @inlinable public mutating func next() async throws -> UInt8? {
            guard index < chunk.count else { return try await receive() }
            defer { index &+= 1 }
            return chunk[index]
        }

        /// Returns the next byte, or `nil` at the end.
        @inlinable public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> UInt8? {
            try await next()
        }

        /// Receives the next chunk and returns its first byte.
        @usableFromInline mutating func receive() async throws -> UInt8? {
            chunk = try await chunks.next(exchange).map { [UInt8]($0) } ?? []
            index = 1
            return chunk.first
        }
    }
}

/// The lines of a body as it arrives. See ``ResponseBytes/lines``.
public struct ResponseLines: AsyncSequence, Sendable {
    private let exchange: SessionExchange

    fileprivate init(_ exchange: SessionExchange) {
        self.exchange = exchange
    }

    /// Returns an iterator over the lines.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(exchange)
    }

    /// Reads the lines of a body.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var splitter = LineSplitter()
        private var chunks: SessionChunks
        private let exchange: SessionExchange

        fileprivate init(_ exchange: SessionExchange) {
            self.exchange = exchange
            chunks = exchange.chunks()
        }

        /// Returns the next non-empty line, or `nil` at the end.
        public mutating func next() async throws -> String? {
            while true {
                if let line = splitter.next() { return line }
                guard let chunk = try await chunks.next(exchange) else { return splitter.finish() }
                splitter.append(chunk)
            }
        }

        /// Returns the next non-empty line, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> String? {
            try await next()
        }
    }
}

extension SessionChunks {
    /// Returns the next non-empty chunk, or `nil` at the end.
    mutating func next(_ exchange: SessionExchange) async throws(URLError) -> Data? {
        do throws(LoadError) {
            return try await nextChunk()
        } catch {
            throw exchange.urlError(error)
        }
    }
}
