import CacheLoader
import Foundation
internal import HTTPCaching
import HTTPTypes
import Synchronization
import TestSupport

/// A response body that a test feeds chunk by chunk, and that reports its state.
final class FedBody: Sendable {
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
    init(_ chunks: String..., heedsCancellation: Bool = true) {
        self.heedsCancellation = heedsCancellation
        for chunk in chunks { feed(chunk) }
    }

    var body: TransportBody {
        let holder = Holder(self)
        return TransportBody { () async throws(TransportError) in try await holder.pull() }
    }

    func response(_ status: HTTPResponse.Status = .ok, _ fields: HTTPFields = [:]) -> TransportResponse {
        TransportResponse(head: HTTPResponse(status: status, headerFields: fields), body: body)
    }

    /// The number of pulls.
    var pullCount: Int { state.withLock { $0.pullCount } }

    func feed(_ text: String) { add(.chunk(Data(text.utf8))) }
    func feed(_ data: Data) { add(.chunk(data)) }
    func end() { add(.end) }
    func fail(_ code: TransportError.Code = .truncated) { add(.failure(TransportError(code))) }

    /// Returns once the body was released.
    func stopped() async { await dropped.wait() }

    /// Returns once the body was pulled this many times.
    func asked(_ count: Int) async { await pulled.reached(count) }

    /// Returns once a pull was cancelled, heeded or not.
    func cancelled() async { await cancellation.wait() }

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

/// Returns once the condition holds. For events that send no signal, such as the end of background work.
func eventually(_ condition: () throws -> Bool) async rethrows {
    while try !condition() { await Task.yield() }
}

extension HTTPField.Name {
    static var cacheStatus: Self { HTTPField.Name("Cache-Status") ?? .via }
    static var contentDigest: Self { HTTPField.Name("Content-Digest") ?? .via }
    static var reprDigest: Self { HTTPField.Name("Repr-Digest") ?? .via }
    static var unencodedDigest: Self { HTTPField.Name("Unencoded-Digest") ?? .via }
    static var noVarySearch: Self { HTTPField.Name("No-Vary-Search") ?? .via }
    static var cacheGroups: Self { HTTPField.Name("Cache-Groups") ?? .via }
    static var cacheGroupInvalidation: Self { HTTPField.Name("Cache-Group-Invalidation") ?? .via }
    static var clearSiteData: Self { HTTPField.Name("Clear-Site-Data") ?? .via }
}

extension CachedResponse {
    /// The member of this cache in `Cache-Status`.
    var cacheStatus: String? { headerFields[fields: .cacheStatus].last?.value }
}

/// Counts from any task.
final class Counter: Sendable {
    /// Guards the count.
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    /// Increments the count and returns it.
    @discardableResult
    func next() -> Int {
        value.withLock { value in
            value += 1
            return value
        }
    }
}
