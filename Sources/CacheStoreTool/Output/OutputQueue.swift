import Dispatch
import Synchronization

/// Writes to the standard output in the background. A query keeps a snapshot of the index until it ends, so it should
/// not wait for the reader of a pipe. Unwritten bytes stay in memory, up to a limit.
final class OutputQueue: Sendable {
    /// The number of unwritten bytes at which ``add(_:)`` starts to wait for the reader.
    private static let capacity = 64 << 20

    private let queue = DispatchQueue(label: "cachestore.output")
    /// The first error, after which nothing is written.
    private let failure = Mutex<(any Error)?>(nil)

    /// Guards the number of unwritten bytes.
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

    /// Waits until all bytes are written. Throws the first error of a write.
    func finish() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
