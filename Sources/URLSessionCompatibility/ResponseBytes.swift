internal import CacheLoader
internal import Foundation

/// The bytes of a body, while they arrive: the counterpart of `URLSession.AsyncBytes`.
///
/// ```swift
/// let (bytes, response) = try await cache.bytes(from: url)
/// for try await line in bytes.lines { print(line) }
/// ```
///
/// Bytes arrive in chunks; most calls of an iterator take one from memory and do not suspend. A chunk that has a content
/// coding expands in memory in small slices. The whole has at most the `maxBodyBytes` of the cache. Reading throws
/// `URLError`. A body can be read once, by one iterator.
public struct ResponseBytes: AsyncSequence, Sendable {
    private let exchange: SessionExchange

    init(_ exchange: SessionExchange) {
        self.exchange = exchange
    }

    /// The lines of the body as UTF-8, without their ends, as Foundation's `lines` of `URLSession.AsyncBytes`.
    ///
    /// A line ends with LF, VT, FF, CR, CRLF, NEL (U+0085), LS (U+2028) or PS (U+2029). **Empty lines are left out.** Read
    /// the bytes for a format in which they count, such as server-sent events. Bytes that are not UTF-8 become U+FFFD.
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

        /// Returns the next byte; `nil` at the end.
        @inlinable public mutating func next() async throws -> UInt8? {
            guard index < chunk.count else { return try await receive() }
            defer { index &+= 1 }
            return chunk[index]
        }

        /// Returns the next byte; `nil` at the end.
        @inlinable public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> UInt8? {
            try await next()
        }

        /// Receives the next chunk, and returns its first byte.
        @usableFromInline mutating func receive() async throws -> UInt8? {
            chunk = try await chunks.next(exchange).map { [UInt8]($0) } ?? []
            index = 1
            return chunk.first
        }
    }
}

/// The lines of a body while it arrives: see ``ResponseBytes/lines``.
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

        /// Returns the next line, which is never empty; `nil` at the end.
        public mutating func next() async throws -> String? {
            while true {
                if let line = splitter.next() { return line }
                guard let chunk = try await chunks.next(exchange) else { return splitter.finish() }
                splitter.append(chunk)
            }
        }

        /// Returns the next line, which is never empty; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> String? {
            try await next()
        }
    }
}

extension SessionChunks {
    /// Returns the next chunk, never empty; `nil` at the end.
    fileprivate mutating func next(_ exchange: SessionExchange) async throws(URLError) -> Data? {
        do throws(LoadError) {
            return try await nextChunk()
        } catch {
            throw exchange.urlError(error)
        }
    }
}
