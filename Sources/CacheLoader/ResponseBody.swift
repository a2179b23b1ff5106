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
/// before its end is not stored as a whole.
public struct ResponseBody: AsyncSequence, Sendable {
    /// Chunks are copied out of stored bodies in pieces of this many bytes.
    static let chunkByteCount = 65_536

    enum Source: Sendable {
        case empty
        case stored(StoredBodyReader)
        case arriving(SharedBodyReader, byteCount: Int64?)
        case passing(PassedBody, byteCount: Int64?)
    }

    let source: Source

    /// The length in bytes, as far as it is known before the end.
    public var byteCount: Int64? {
        switch source {
        case .empty: 0
        case .stored(let reader): reader.byteCount
        case .arriving(_, let byteCount), .passing(_, let byteCount): byteCount
        }
    }

    /// All bytes at once, if they are stored and no more than `limit`; else `nil`, and the body can be read as if this had
    /// not been asked. Runs on the calling thread: a read of the file.
    ///
    /// - Throws: ``LoadError/store(_:)``.
    public func storedData(upTo limit: Int64) throws(LoadError) -> Data? {
        switch source {
        case .empty: Data()
        case .stored(let reader): reader.byteCount <= limit ? try reader.data() : nil
        case .arriving, .passing: nil
        }
    }

    /// All bytes, once they have arrived.
    ///
    /// - Parameter progress: Is told how many are there, as they come from the network.
    func data(progress: (Int64) -> Void = { _ in }) async throws(LoadError) -> Data {
        switch source {
        case .empty: Data()
        case .stored(let reader): try reader.data()
        case .arriving(let reader, _): try await reader.collect(progress: progress)
        case .passing(let body, _): try await body.collect(progress: progress)
        }
    }

    /// Reads the chunks.
    public func makeAsyncIterator() -> Iterator {
        Iterator(source: source)
    }

    /// Reads the chunks of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let source: Source

        /// The next chunk, never empty; `nil` at the end.
        public mutating func next() async throws(LoadError) -> Data? {
            switch source {
            case .empty: nil
            case .stored(let reader): try reader.next()
            case .arriving(let reader, _): try await reader.next()
            case .passing(let body, _): try await body.next()
            }
        }

        /// The next chunk, never empty; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LoadError) -> Data? {
            try await next()
        }
    }
}
