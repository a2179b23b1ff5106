#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What has arrived of one response and waits for its reader. Pure: each method says what its owner has to do next.
///
/// The reader is asked for patience by suspending, once more than ``highWaterMark`` bytes wait, and the sender by
/// resuming, once no more than half of that do.
package struct ChunkBuffer<Waiter> {
    /// Bytes that may wait for the reader before the sender is told to pause.
    package static var highWaterMark: Int { 262_144 }

    private enum Ending {
        case complete
        case failed(TransportError)
    }

    private var chunks: [Data] = []
    /// The first chunk not handed over: removing from the front of an array moves all that follow.
    private var next = 0
    private var byteCount = 0
    private var waiter: Waiter?
    private var ending: Ending?
    private var isPaused = false

    package init() {}

    package enum Arrival {
        /// Nothing to do.
        case buffered
        /// The buffer is full: pause the sender.
        case pause
        /// The reader was waiting: hand it the chunk.
        case deliver(Waiter)
    }

    /// A chunk has arrived.
    package mutating func append(_ chunk: Data) -> Arrival {
        if let waiter = waiter.take() { return .deliver(waiter) }
        chunks.append(chunk)
        byteCount += chunk.count
        guard byteCount > Self.highWaterMark, !isPaused else { return .buffered }
        isPaused = true
        return .pause
    }

    /// The body has ended. Returns the reader to tell, if it waits.
    package mutating func end(_ error: TransportError?) -> Waiter? {
        guard ending == nil else { return nil }
        ending = error.map { .failed($0) } ?? .complete
        return waiter.take()
    }

    package enum Reading {
        /// The next chunk; `resume`: there is room again.
        case chunk(Data, resume: Bool)
        /// The body is complete.
        case complete
        /// The body has failed.
        case failed(TransportError)
        /// Nothing is there yet: the waiter is kept.
        case wait
    }

    /// The reader is ready for a chunk; `waiter` is kept if there is none.
    package mutating func read(_ waiter: @autoclosure () -> Waiter) -> Reading {
        if next < chunks.count {
            let chunk = chunks[next]
            chunks[next] = Data()
            next += 1
            byteCount -= chunk.count
            if next == chunks.count {
                chunks.removeAll(keepingCapacity: true)
                next = 0
            }
            let resumes = isPaused && byteCount <= Self.highWaterMark / 2
            if resumes { isPaused = false }
            return .chunk(chunk, resume: resumes)
        }
        switch ending {
        case .complete: return .complete
        case .failed(let error): return .failed(error)
        case nil:
            precondition(self.waiter == nil, "a body has one reader")
            self.waiter = waiter()
            return .wait
        }
    }
}
