internal import CacheFoundation
internal import CacheLoader
internal import Synchronization

/// Copies a body while its reader reads it, and passes on the complete body. Drops the bytes without room for more, or
/// if the reader stops early.
final class FillingBody: Sendable {
    private struct State {
        var bytes = Data()
        var isDropped = false
    }

    private let body: TransportBody
    private let tier: SharedTier
    private let finish: @Sendable (Data) -> Void
    /// Guards the bytes.
    private let state = Mutex(State())

    /// `finish` receives the complete body. Its owner takes over the reserved bytes.
    init(_ body: TransportBody, for tier: SharedTier, finish: @escaping @Sendable (Data) -> Void) {
        self.body = body
        self.tier = tier
        self.finish = finish
    }

    deinit {
        tier.writes.release(state.withLock { $0.bytes.count })
    }

    func next() async throws(TransportError) -> Data? {
        guard let chunk = try await body.next() else {
            let bytes = state.withLock { state -> Data? in
                guard !state.isDropped else { return nil }
                state.isDropped = true
                // The write takes over the reserved bytes, so `deinit` must not release them.
                defer { state.bytes = Data() }
                return state.bytes
            }
            if let bytes { finish(bytes) }
            return nil
        }
        let isDroppedNow = state.withLock { state in
            guard !state.isDropped else { return false }
            // Reserve room chunk by chunk, because a body may have no announced length.
            if state.bytes.count + chunk.count <= tier.configuration.maxBodyBytes, tier.writes.reserve(chunk.count) {
                state.bytes += chunk
                return false
            }
            // Only the copy is dropped. The reader gets every chunk.
            tier.writes.release(state.bytes.count)
            state.bytes = Data()
            state.isDropped = true
            return true
        }
        if isDroppedNow { tier.count { $0.droppedWrites += 1 } }
        return chunk
    }
}
