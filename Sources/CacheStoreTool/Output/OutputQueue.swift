import Dispatch
import Synchronization

/// Writes to the standard output in the background.
///
/// A query should not wait for the reader of a pipe: until the query ends, it keeps a snapshot of the index. Bytes that the
/// reader has not taken yet stay in memory, up to a bound.
final class OutputQueue: Sendable {
    /// The number of bytes in memory from which ``add(_:)`` waits for the reader.
    private static let capacity = 64 << 20

    private let queue = DispatchQueue(label: "cachestore.output")
    /// The first error. Later bytes are not written.
    private let failure = Mutex<(any Error)?>(nil)

    /// Guards the number of bytes that are not written yet.
    private let pending = Mutex(0)

    var hasFailed: Bool { failure.withLock { $0 != nil } }

    func add(_ bytes: [UInt8]) {
        let count = pending.withLock { pending in
            pending += bytes.count
            return pending
        }
        queue.async { [self] in
            defer { pending.withLock { $0 -= bytes.count } }
            guard !hasFailed else { return }
            do {
                try StandardOutput.write(bytes)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        if count > Self.capacity { queue.sync {} }
    }

    /// Waits until all bytes are written.
    ///
    /// - Throws: The first error of a write.
    func finish() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
