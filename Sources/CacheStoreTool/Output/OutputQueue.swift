import Dispatch
import Synchronization

/// Writes to the standard output in the background.
///
/// A query must not wait for the reader of a pipe: until the query ends, it keeps a snapshot of the index. Bytes that the
/// reader has not taken yet stay in memory.
final class OutputQueue: Sendable {
    private let queue = DispatchQueue(label: "cachestore.output")
    /// The first error. Later bytes are not written.
    private let failure = Mutex<(any Error)?>(nil)

    var hasFailed: Bool { failure.withLock { $0 != nil } }

    func add(_ bytes: [UInt8]) {
        queue.async { [self] in
            guard !hasFailed else { return }
            do {
                try StandardOutput.write(bytes)
            } catch {
                failure.withLock { $0 = error }
            }
        }
    }

    /// Waits until all bytes are written.
    ///
    /// - Throws: The first error of a write.
    func finish() throws {
        queue.sync {}
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}
