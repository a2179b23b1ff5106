package import CacheFoundation

/// The received chunks of one response that wait for its reader. Pure: each method returns the next action of its
/// owner. Asks the owner to suspend the sender once more than ``highWaterMark`` bytes wait. Asks the owner to resume
/// the sender once at most half of that number wait.
package struct ChunkBuffer<Waiter> {
    /// The number of waiting bytes above which the sender pauses.
    package static var highWaterMark: Int { 262_144 }

    /// The maximum size of a joined chunk. Small chunks are joined, because each chunk costs its reader a turn.
    package static var joinedByteCount: Int { 16_384 }

    private enum Ending {
        case complete
        case failed(TransportError)
    }

    private var chunks: [Data] = []
    /// The index of the first chunk not handed over. Removing each chunk from the front would move all later ones.
    private var next = 0
    private var byteCount = 0
    private var waiter: Waiter?
    private var ending: Ending?
    /// Whether the sender must wait.
    package private(set) var isPaused = false

    package init() {}

    package enum Arrival {
        case buffered
        /// The buffer is full: pause the sender.
        case pause
        /// The reader was waiting: hand it the chunk.
        case deliver(Waiter)
    }

    package mutating func append(_ chunk: Data) -> Arrival {
        if let waiter = waiter.take() { return .deliver(waiter) }
        if let count = chunks.last?.count, count + chunk.count <= Self.joinedByteCount {
            chunks[chunks.count - 1].append(chunk)
        } else {
            chunks.append(chunk)
        }
        byteCount += chunk.count
        guard byteCount > Self.highWaterMark, !isPaused else { return .buffered }
        isPaused = true
        return .pause
    }

    /// Ends the body. Returns the waiting reader, if any; the caller resumes it.
    package mutating func end(_ error: TransportError?) -> Waiter? {
        guard ending == nil else { return nil }
        ending = error.map { .failed($0) } ?? .complete
        return waiter.take()
    }

    package enum Reading {
        /// The next chunk. If `resume` is true, resume the sender.
        case chunk(Data, resume: Bool)
        case complete
        case failed(TransportError)
        /// No chunk is available; the buffer keeps the waiter.
        case wait
    }

    /// Takes the next chunk. Keeps `waiter` if no chunk is available.
    package mutating func read(_ waiter: @autoclosure () -> Waiter) -> Reading {
        if next < chunks.count {
            let chunk = chunks[next]
            chunks[next] = Data()
            next += 1
            byteCount -= chunk.count
            if next == chunks.count {
                chunks.removeAll(keepingCapacity: true)
                next = 0
            } else if next >= 64, next * 2 >= chunks.count {
                // Moves at most one waiting chunk for each one that was handed over.
                chunks.removeFirst(next)
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
