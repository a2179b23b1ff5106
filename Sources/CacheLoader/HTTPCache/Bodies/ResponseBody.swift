public import CacheFoundation
internal import CacheStore
internal import Synchronization

/// The body of a response, as a sequence of chunks.
///
/// A stored body can be read any number of times. A body from the network can be read once: a second reader gets
/// ``LoadError/bodyAlreadyRead``. The store receives such a body while it is read. The reader gets the end only after
/// the commit, so the next request is a hit. A body that is released before its end is not stored as a whole.
public struct ResponseBody: AsyncSequence, Sendable {
    /// The maximum size of the chunks of a stored body, in bytes.
    static let chunkByteCount = 65_536

    enum Source: Sendable {
        case empty
        case stored(StoredBodyReader)
        case arriving(SharedBodyReader, byteCount: Int64?)
    }

    let source: Source
    /// `nil` for a body that can be read again: a hit allocates nothing for this check.
    private let reading: Reading?

    /// `recorded` records the request at the end of the body. The reader of a stored body does so itself.
    init(source: Source, _ recorded: RecordedRequest? = nil) {
        self.source = source
        switch source {
        case .empty, .stored: reading = nil
        case .arriving: reading = Reading(recorded)
        }
    }

    /// Gives the body to one reader.
    private final class Reading: Sendable {
        private let hasBegun = Atomic(false)
        private let recorded: RecordedRequest?

        init(_ recorded: RecordedRequest?) {
            self.recorded = recorded
        }

        func end() { recorded?.end() }

        func begin() throws(LoadError) {
            guard !hasBegun.exchange(true, ordering: .relaxed) else { throw .bodyAlreadyRead }
        }
    }

    /// Takes the body for a reader.
    func begin() throws(LoadError) { try reading?.begin() }

    func end() { reading?.end() }

    var isEmpty: Bool {
        if case .empty = source { true } else { false }
    }

    /// The length in bytes, if it is known before the end.
    public var byteCount: Int64? {
        switch source {
        case .empty: 0
        case .stored(let reader): reader.byteCount
        case .arriving(_, let byteCount): byteCount
        }
    }

    /// Returns all bytes if they are stored and at most `limit`. Otherwise returns `nil`, and the body can still be
    /// read. Runs on the calling thread, and reads the file.
    ///
    /// - Throws: ``LoadError/store(_:)``.
    public func storedData(upTo limit: Int64) throws(LoadError) -> Data? {
        switch source {
        case .empty: Data()
        case .stored(let reader): reader.byteCount <= limit ? try reader.data() : nil
        case .arriving: nil
        }
    }

    /// Returns all bytes, once they have arrived. `progress` receives the number of bytes that came from the network.
    package func data(progress: (Int64) -> Void = { _ in }) async throws(LoadError) -> Data {
        switch source {
        case .empty: return Data()
        case .stored(let reader): return try reader.data()
        case .arriving(let reader, _):
            try begin()
            defer { end() }
            return try await reader.collect(progress: progress)
        }
    }

    /// Returns the first `limit` bytes, and whether these are the whole body. After an error, returns the bytes so far.
    func start(upTo limit: Int) async -> (bytes: Data, isWhole: Bool) {
        var bytes = Data()
        var chunks = makeAsyncIterator()
        while bytes.count < limit {
            do throws(LoadError) {
                guard let chunk = try await chunks.next() else { return (bytes, true) }
                bytes += chunk
            } catch {
                return (bytes, false)
            }
        }
        return (Data(bytes.prefix(limit)), byteCount == Int64(limit))
    }

    /// Ends the reading immediately, and the exchange with the origin unless other readers need it.
    ///
    /// A pending read, and each later read of any copy of this body, throws ``LoadError/cancelled``. Further calls, and
    /// calls for an empty body, have no effect. May be called from any thread.
    ///
    /// The store treats a cancelled reader like one that has released the body:
    /// ``HTTPCache/Configuration/abandonedBytes`` decides whether the store still receives the rest.
    public func cancel() {
        defer { end() }
        switch source {
        case .empty: break
        case .stored(let reader): reader.cancel()
        case .arriving(let reader, _): reader.cancel()
        }
    }

    /// Returns an iterator over the chunks.
    public func makeAsyncIterator() -> Iterator {
        Iterator(body: self)
    }

    /// Reads the chunks of a body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let body: ResponseBody
        private var hasBegun = false
        /// The position in a stored body.
        private var place = StoredBodyReader.Place()

        fileprivate init(body: ResponseBody) {
            self.body = body
        }

        /// Returns the next chunk, which is never empty, or `nil` at the end.
        public mutating func next() async throws(LoadError) -> Data? {
            switch body.source {
            case .empty: return nil
            case .stored(let reader): return try reader.next(&place)
            case .arriving(let reader, _):
                try begin()
                do throws(LoadError) {
                    let chunk = try await reader.next()
                    if chunk == nil { body.end() }
                    return chunk
                } catch {
                    body.end()
                    throw error
                }
            }
        }

        private mutating func begin() throws(LoadError) {
            guard !hasBegun else { return }
            try body.begin()
            hasBegun = true
        }

        /// Returns the next chunk, which is never empty, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(LoadError) -> Data? {
            try await next()
        }
    }
}
