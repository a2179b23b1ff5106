internal import CacheStore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The body of a response, as a sequence of chunks.
///
/// It may be read once, by one reader. A body that comes from the network is stored while it passes through, and its end
/// is delivered once it is committed: who has read to the end can rely on the next request being a hit. One that is let go
/// before its end is not stored.
public struct ResponseBody: AsyncSequence, Sendable {
    /// Chunks are copied out of stored bodies in pieces of this many bytes.
    static let chunkByteCount = 65_536

    private let next: @Sendable () async throws(LoadError) -> Data?

    init(next: @escaping @Sendable () async throws(LoadError) -> Data?) {
        self.next = next
    }

    init(_ body: StoredBody) {
        let reader = StoredBodyReader(body)
        next = { () async throws(LoadError) in try reader.next() }
    }

    /// A body of no bytes.
    static var empty: ResponseBody { ResponseBody { () async throws(LoadError) in nil } }

    /// Reads the chunks.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pull: next)
    }

    /// Reads the chunks of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let pull: @Sendable () async throws(LoadError) -> Data?

        /// The next chunk, never empty; `nil` at the end.
        public mutating func next() async throws(LoadError) -> Data? {
            try await pull()
        }

        /// The next chunk, never empty; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LoadError) -> Data? {
            try await pull()
        }
    }
}
