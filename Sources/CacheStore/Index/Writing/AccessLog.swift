internal import Synchronization

/// How an entry answered a request.
@nonexhaustive
public enum EntryUse: Hashable, Sendable {
    /// The entry was fresh, and answered as stored.
    case hit
    /// The entry was stale, and answered as stored.
    case stale
    /// The entry answered after the origin had validated it.
    case revalidated
}

/// Orders accesses and insertions: the newest id of an entry, followed by the number of accesses since its insertion.
///
///     recency = newest id << 24 | accesses since that id was given
///
/// An entry that was never used has the recency `id << 24`. The order does not depend on the wall clock.
package struct Recency {
    /// The number of bits for accesses between two insertions. Accesses beyond their maximum count as simultaneous.
    static let tickBits: Int64 = 24
    private var newestID: Int64 = 0
    /// The largest recency that this process knows.
    private var last: Int64 = 0
    /// The value of ``last`` after the last call of ``follow(_:_:)`` or ``advance(to:)``.
    private var synced: Int64 = 0

    /// Returns the recency of an unused entry.
    package static func ofUnused(_ id: Int64) -> Int64 { id << tickBits }

    private var limit: Int64 { Self.ofUnused(newestID + 1) - 1 }

    mutating func next() -> Int64 {
        last = min(last + 1, limit)
        return last
    }

    /// Follows an insertion by this process.
    mutating func advance(to id: Int64) {
        newestID = max(newestID, id)
        last = max(last, Self.ofUnused(newestID))
        synced = last
    }

    /// Follows the insertions and accesses of other processes and earlier openings, by the newest id and the largest
    /// recency in the index. Returns the shift for accesses later than the threshold, so that they stay the latest.
    mutating func follow(_ id: Int64, _ recency: Int64) -> (threshold: Int64, shift: Int64) {
        newestID = max(newestID, id)
        let newest = max(Self.ofUnused(newestID), min(recency, limit))
        let move = (threshold: synced, shift: max(0, newest - synced))
        last = min(last + move.shift, limit)
        synced = last
        return move
    }
}

/// Collects accesses and requests that are not in the index yet. A hit writes nothing to the index: this type collects
/// accesses in memory, one for each entry. They reach the index in small batches: with the next writes, after an
/// interval, and at `flush()`, `suspend()` or `close()`. A kill loses the pending accesses; their entries then count as
/// accessed a little earlier.
package final class AccessLog: Sendable {
    package struct Access: Sendable {
        /// See ``Recency``.
        package var recency: Int64
        /// Milliseconds since 1970.
        package var accessedAt: Int64
        package var counts = RequestCounts()
        /// Names the host. With `nil`, the writer looks the host up in the index.
        let key: CacheKey?
    }

    /// A batch of accesses and requests.
    package struct Batch: Sendable {
        /// Accesses by the id of the entry.
        package var accesses: [Int64: Access] = [:]
        /// Requests that no entry answered, by host.
        package var requests: [String: RequestCounts] = [:]
        /// The time of the latest of those requests.
        package var requestedAt = Int64.min

        package var isEmpty: Bool { accesses.isEmpty && requests.isEmpty }

        /// Adds another batch, up to `capacity` entries and hosts in total.
        mutating func add(_ other: Batch, capacity: Int = .max) {
            for (entry, var access) in other.accesses {
                if let present = accesses[entry] {
                    access.recency = max(access.recency, present.recency)
                    access.accessedAt = max(access.accessedAt, present.accessedAt)
                    access.counts += present.counts
                } else if accesses.count >= capacity {
                    continue
                }
                accesses[entry] = access
            }
            for (host, counts) in other.requests where requests[host] != nil || requests.count < capacity {
                requests[host, default: RequestCounts()] += counts
            }
            requestedAt = max(requestedAt, other.requestedAt)
        }
    }

    private struct State {
        var pending = Batch()
        var recency = Recency()
        var isTimerSet = false

        /// Asks for a timer, unless one is set.
        mutating func timer() -> Action {
            guard !isTimerSet else { return .none }
            isTimerSet = true
            return .setTimer
        }
    }

    /// The number of entries with pending accesses at which all accesses are written immediately. Bounds the memory: if
    /// writing fails, accesses of additional entries are dropped from twice this number on. The same holds for hosts.
    package static let capacity = 8192

    /// Guards the pending accesses and the logical clock.
    private let state = Mutex(State())

    /// The action of the caller after it has noted an access.
    package enum Action {
        case none
        case setTimer
        case writeNow
    }

    package init() {}

    /// Records an access of an entry.
    package func note(_ entry: Int64, _ use: EntryUse = .hit, key: CacheKey? = nil, at time: Int64) -> Action {
        state.withLock { state in
            let recency = state.recency.next()
            // By index, because a subscript by key would move the access out of the table and back.
            if let index = state.pending.accesses.index(forKey: entry) {
                state.pending.accesses.values[index].note(use, recency, time)
            } else {
                guard state.pending.accesses.count < 2 * Self.capacity else { return state.timer() }
                var access = Access(recency: recency, accessedAt: time, key: key)
                access.counts.count(use)
                state.pending.accesses[entry] = access
                // Ask only at the exact number. Otherwise every access would ask again until the write has run.
                if state.pending.accesses.count == Self.capacity { return .writeNow }
            }
            return state.timer()
        }
    }

    /// Records a request that no entry answered.
    package func note(_ counts: RequestCounts, host: String, at time: Int64) -> Action {
        state.withLock { state in
            state.pending.requestedAt = max(state.pending.requestedAt, time)
            if state.pending.requests[host] != nil || state.pending.requests.count < 2 * Self.capacity {
                state.pending.requests[host, default: RequestCounts()] += counts
                if state.pending.requests.count == Self.capacity { return .writeNow }
            }
            return state.timer()
        }
    }

    /// Clears the timer that an access asked for. Returns whether anything is pending. Only this call allows the next
    /// timer: a new one after every write would let a busy store collect thousands.
    package func timerFired() -> Bool {
        state.withLock { state in
            state.isTimerSet = false
            return !state.pending.isEmpty
        }
    }

    package var isEmpty: Bool { state.withLock { $0.pending.isEmpty } }

    // MARK: Writing

    /// Removes and returns up to `limit` accesses, and as many hosts.
    package func take(limit: Int = .max) -> Batch {
        state.withLock { state in
            guard state.pending.accesses.count > limit || state.pending.requests.count > limit else {
                defer { state.pending = Batch() }
                return state.pending
            }
            var batch = Batch()
            batch.requestedAt = state.pending.requestedAt
            // Copy the keys first: removing from a dictionary during iteration would copy it, while lookups wait.
            for entry in Array(state.pending.accesses.keys.prefix(limit)) {
                batch.accesses[entry] = state.pending.accesses.removeValue(forKey: entry)
            }
            for host in Array(state.pending.requests.keys.prefix(limit)) {
                batch.requests[host] = state.pending.requests.removeValue(forKey: host)
            }
            return batch
        }
    }

    /// Removes and returns the access of one entry.
    func take(_ entry: Int64) -> Access? {
        state.withLock { $0.pending.accesses.removeValue(forKey: entry) }
    }

    /// Puts back a batch that could not be written.
    package func restore(_ batch: Batch) {
        state.withLock { $0.pending.add(batch, capacity: Self.capacity) }
    }

    // MARK: The logical clock

    /// Follows the newest id and recency of the index. Called under the write lock, before accesses are written.
    package func follow(_ id: Int64, _ recency: Int64) {
        state.withLock { state in
            let (threshold, shift) = state.recency.follow(id, recency)
            guard shift > 0 else { return }
            for (entry, access) in state.pending.accesses where access.recency > threshold {
                state.pending.accesses[entry]?.recency = access.recency + shift
            }
        }
    }

    /// Follows the newest id after a commit of this process.
    package func advance(to id: Int64) {
        state.withLock { $0.recency.advance(to: id) }
    }

    /// Drops everything, because the index was replaced.
    func reset() {
        state.withLock { state in
            state.pending = Batch()
            state.recency = Recency()
        }
    }
}

extension AccessLog.Access {
    fileprivate mutating func note(_ use: EntryUse, _ recency: Int64, _ time: Int64) {
        self.recency = max(self.recency, recency)
        accessedAt = max(accessedAt, time)
        counts.count(use)
    }
}
