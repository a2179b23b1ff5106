internal import CacheStore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Hands out a stored body in chunks.
final class StoredBodyReader: Sendable {
    private let body: StoredBody
    /// Guards how far the body has been read.
    private let offset = Mutex<Int64>(0)

    init(_ body: StoredBody) {
        self.body = body
    }

    /// The next chunk; `nil` at the end.
    func next() throws(LoadError) -> Data? {
        do throws(StoreError) {
            let chunk = try offset.withLock { (offset) throws(StoreError) in
                let chunk = try body.bytes(at: offset, count: ResponseBody.chunkByteCount)
                offset += Int64(chunk.count)
                return chunk
            }
            return chunk.isEmpty ? nil : chunk
        } catch {
            throw .store(error)
        }
    }
}
