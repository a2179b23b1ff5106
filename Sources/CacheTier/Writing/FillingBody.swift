internal import CacheFoundation
internal import CacheLoader
internal import Synchronization

/// Copies a body while its reader reads it, and passes on the complete body.
///
/// Drops the bytes without room for more, or if the reader stops early.
final class FillingBody: Sendable {
    private struct State {
        var bytes = Data()
        var isDropped = false
    }

    private let body: TransportBody
    private let tier: SharedTier
    private let lease: Lease?
    private let finish: @Sendable (Data) -> Void
    /// Guards the bytes.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - lease: Ends with a note if the bytes are dropped, and otherwise with this body.
    ///   - finish: Called with the complete body. The bytes stay reserved.
    init(
        _ body: TransportBody, for tier: SharedTier, lease: Lease?, finish: @escaping @Sendable (Data) -> Void
    ) {
        self.body = body
        self.tier = tier
        self.lease = lease
        self.finish = finish
    }

    deinit {
        tier.writes.release(state.withLock { $0.bytes.count })
    }

    func next() async throws(TransportError) -> Data? {
        let chunk: Data?
        do throws(TransportError) {
            chunk = try await body.next()
        } catch {
            lease?.giveUp()
            throw error
        }
        guard let chunk else {
            let bytes = state.withLock { state -> Data? in
                guard !state.isDropped else { return nil }
                state.isDropped = true
                defer { state.bytes = Data() }
                return state.bytes
            }
            if let bytes { finish(bytes) }
            return nil
        }
        let isDroppedNow = state.withLock { state in
            guard !state.isDropped else { return false }
            if state.bytes.count + chunk.count <= tier.configuration.maxBodyBytes, tier.writes.reserve(chunk.count) {
                state.bytes += chunk
                return false
            }
            tier.writes.release(state.bytes.count)
            state.bytes = Data()
            state.isDropped = true
            return true
        }
        if isDroppedNow {
            tier.count { $0.droppedWrites += 1 }
            lease?.leaveNote()
        }
        return chunk
    }
}
