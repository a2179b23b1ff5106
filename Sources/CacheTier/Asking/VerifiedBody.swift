internal import CacheFoundation
internal import CacheLoader
internal import Crypto
internal import Synchronization

/// Reads a body chunk by chunk. Returns only chunks that match the digests of their record. Only one reader at a time.
final class VerifiedBody: Sendable {
    enum Step: Sendable {
        case chunk(Data)
        case complete
        /// The source failed or paused for too long.
        case unavailable
        /// The source ended too early, or its bytes do not match.
        case damaged
    }

    private struct State {
        var buffer = Data()
        var index = 0
    }

    private let source: TransportBody
    private let record: TierRecord
    /// Guards the position of the reader.
    private let state = Mutex(State())

    init(_ source: TransportBody, of record: TierRecord) {
        self.source = source
        self.record = record
    }

    var index: Int { state.withLock { $0.index } }

    /// Returns the next chunk of at most 64 KiB, unless it takes too long.
    func next(
        within limit: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void
    ) async -> Step {
        await withTimeLimit(limit, sleep) { [self] in await self.next() } ?? .unavailable
    }

    /// Returns the next chunk. Waits for the source without a limit.
    func next() async -> Step {
        let index = index
        guard index < record.chunkDigests.count else {
            // Read the end of the message without waiting, so that the connection returns to its pool.
            Task { [source] in _ = try? await source.next() }
            return .complete
        }
        let start = Int64(index) * Int64(TierRecord.chunkByteCount)
        let count = Int(min(record.head.byteCount - start, Int64(TierRecord.chunkByteCount)))
        while state.withLock({ $0.buffer.count }) < count {
            do throws(TransportError) {
                guard let bytes = try await source.next() else { return .damaged }
                state.withLock { $0.buffer += bytes }
            } catch {
                return .unavailable
            }
        }
        let chunk = state.withLock { state in
            defer {
                state.buffer = Data(state.buffer.dropFirst(count))
                state.index += 1
            }
            return Data(state.buffer.prefix(count))
        }
        // Each chunk has a digest, because the reader gets it before the rest of the body has arrived.
        return Data(SHA256.hash(data: chunk)) == record.chunkDigests[index] ? .chunk(chunk) : .damaged
    }
}
