internal import CacheFoundation
internal import CacheStore

/// Reads a body that is still arriving. Releasing this object ends the reading.
final class SharedBodyReader: Sendable {
    private let body: SharedBody
    private let id: UInt64

    init(_ body: SharedBody, _ id: UInt64) {
        self.body = body
        self.id = id
    }

    deinit {
        body.leave(id)
    }

    /// Ends the reading. Later reads throw ``LoadError/cancelled``.
    func cancel() {
        body.leave(id)
    }

    /// The file, if it has the whole body. Valid only after the end of the body.
    var file: StoredBody? { body.isInFile ? try? body.written() : nil }

    func written() throws(LoadError) -> StoredBody { try body.written() }

    /// Returns the bytes since the last call, or waits for more.
    func nextPiece() async -> BodyPiece { await body.read(id, limit: .max) }

    /// Returns the next chunk, or `nil` once the body is complete and, if possible, stored.
    func next() async throws(LoadError) -> Data? {
        switch await body.read(id, limit: Int64(ResponseBody.chunkByteCount)) {
        case .file(let range): return try read(range)
        case .chunk(let chunk, _): return chunk
        case .end: return nil
        case .failed(let error): throw error
        }
    }

    private func read(_ range: Range<Int64>) throws(LoadError) -> Data {
        let file = try body.written()
        return try LoadError.wrapping { () throws(StoreError) in
            try file.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
        }
    }

    /// Returns the whole body. Takes a small body from memory. Leaves a larger one in its file until the end, and maps
    /// that file instead of copying it if it is large enough. `progress` receives the number of bytes so far.
    func collect(progress: (Int64) -> Void) async throws(LoadError) -> Data {
        // The bytes that do not come from the file: those after its end, or all bytes of a small body.
        var rest = Data()
        var received: Int64 = 0
        while true {
            switch await nextPiece() {
            case .file(let range):
                received = range.upperBound
                rest = Data()
            case .chunk(let chunk, let isInFile):
                received += Int64(chunk.count)
                let isSmall = rest.count + chunk.count == received && received <= ResponseBody.chunkByteCount
                if isInFile, !isSmall { rest = Data() } else { rest += chunk }
            case .failed(let error): throw error
            case .end:
                if rest.count == received { return rest }
                let file = try body.written()
                return try LoadError.wrapping { () throws(StoreError) in
                    rest.isEmpty ? try file.data() : try file.data() + rest
                }
            }
            progress(received)
        }
    }
}
