/// A response body that a test feeds chunk by chunk, and that reports its state.
package final class FedBody: Sendable {
    private enum Piece {
        case chunk(Data)
        case end
        case failure(TransportError)
    }

    private struct State {
        var pieces: [Piece] = []
        var waiter: CheckedContinuation<Void, Never>?
        var isCancelled = false
        var pullCount = 0
    }

    /// Reports the end of the last reference that can pull.
    private final class Holder: Sendable {
        private let fed: FedBody

        init(_ fed: FedBody) { self.fed = fed }

        deinit { fed.dropped.open() }

        func pull() async throws(TransportError) -> Data? { try await fed.pull() }
    }

    private let heedsCancellation: Bool

    /// Guards the chunks that no caller has pulled yet.
    private let state = Mutex(State())
    private let dropped = Gate()
    private let pulled = Gate()
    private let cancellation = Gate()

    /// - Parameter heedsCancellation: Whether a cancelled pull throws, as with a real transport.
    package init(_ chunks: String..., heedsCancellation: Bool = true) {
        self.heedsCancellation = heedsCancellation
        for chunk in chunks { feed(chunk) }
    }

    package var body: TransportBody {
        let holder = Holder(self)
        return TransportBody { () async throws(TransportError) in try await holder.pull() }
    }

    package func response(_ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: status, headerFields: fields), body: body)
    }

    /// The number of pulls.
    package var pullCount: Int { state.withLock { $0.pullCount } }

    package func feed(_ text: String) { add(.chunk(Data(text.utf8))) }
    package func feed(_ data: Data) { add(.chunk(data)) }
    package func end() { add(.end) }
    package func fail(_ code: TransportError.Code = .truncated) { add(.failure(TransportError(code))) }

    /// Returns once the body was released.
    package func stopped() async { await dropped.wait() }

    /// Returns once the body was pulled this many times.
    package func asked(_ count: Int) async { await pulled.reached(count) }

    /// Returns once a pull was cancelled, heeded or not.
    package func cancelled() async { await cancellation.wait() }

    private func add(_ piece: Piece) {
        let waiter = state.withLock { state in
            state.pieces.append(piece)
            return state.waiter.take()
        }
        waiter?.resume()
    }

    private func pull() async throws(TransportError) -> Data? {
        state.withLock { $0.pullCount += 1 }
        pulled.admit()
        await pulled.wait()
        while true {
            let piece: Piece? = try state.withLock { (state) throws(TransportError) in
                if heedsCancellation, state.isCancelled || Task.isCancelled { throw TransportError(.cancelled) }
                return state.pieces.isEmpty ? nil : state.pieces.removeFirst()
            }
            switch piece {
            case .chunk(let chunk): return chunk
            case .end: return nil
            case .failure(let error): throw error
            case nil: await wait()
            }
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let mayGoOn = state.withLock { state in
                    guard state.pieces.isEmpty, !state.isCancelled else { return true }
                    state.waiter = waiter
                    return false
                }
                if mayGoOn { waiter.resume() }
            }
        } onCancel: {
            cancellation.open()
            guard heedsCancellation else { return }
            let waiter = state.withLock { state in
                state.isCancelled = true
                return state.waiter.take()
            }
            waiter?.resume()
        }
    }
}

extension HTTPField.Name {
    package static var cacheStatus: Self { HTTPField.Name("Cache-Status") ?? .via }
    package static var contentDigest: Self { HTTPField.Name("Content-Digest") ?? .via }
    package static var reprDigest: Self { HTTPField.Name("Repr-Digest") ?? .via }
    package static var unencodedDigest: Self { HTTPField.Name("Unencoded-Digest") ?? .via }
    package static var noVarySearch: Self { HTTPField.Name("No-Vary-Search") ?? .via }
    package static var cacheGroups: Self { HTTPField.Name("Cache-Groups") ?? .via }
    package static var cacheGroupInvalidation: Self { HTTPField.Name("Cache-Group-Invalidation") ?? .via }
    package static var clearSiteData: Self { HTTPField.Name("Clear-Site-Data") ?? .via }
}

extension CachedResponse {
    /// The member of this cache in `Cache-Status`.
    package var cacheStatus: String? { headerFields[fields: .cacheStatus].last?.value }
}

/// Counts from any task.
package final class Counter: Sendable {
    /// Guards the count.
    private let value = Mutex(0)

    package init() {}

    package var count: Int { value.withLock { $0 } }

    /// Increments the count and returns it.
    @discardableResult
    package func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
