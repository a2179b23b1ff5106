internal import Synchronization

/// How an entry answered a request.
@nonexhaustive
public enum EntryUse: Hashable, Sendable {
    /// As it was, fresh.
    case hit
    /// As it was, although stale.
    case stale
    /// After its origin had confirmed it.
    case revalidated
}

/// Requests counted by how they were answered.
package struct RequestCounts: Hashable, Sendable {
    package var hits: Int64 = 0
    package var stale: Int64 = 0
    package var revalidated: Int64 = 0
    package var misses: Int64 = 0
    package var errors: Int64 = 0

    package init() {}

    package var answers: Int64 { hits &+ stale &+ revalidated }

    mutating func count(_ use: EntryUse) {
        switch use {
        case .hit: hits &+= 1
        case .stale: stale &+= 1
        case .revalidated: revalidated &+= 1
        }
    }

    static func += (left: inout RequestCounts, right: RequestCounts) {
        left.hits &+= right.hits
        left.stale &+= right.stale
        left.revalidated &+= right.revalidated
        left.misses &+= right.misses
        left.errors &+= right.errors
    }
}

/// Uses of entries, and requests, that the index does not know yet.
///
/// A hit writes nothing: it is noted here, once per entry, and reaches the index with the next write, a timer, `flush()`
/// or `close()`. What a killed process had noted is lost; an entry then looks as if it had last been used a little
/// earlier.
package final class Touches: Sendable {
    package struct Touch: Sendable {
        package var accessedAt: Int64
        package var counts = RequestCounts()
    }

    /// What waits to be written.
    package struct Notes: Sendable {
        /// Uses by the row of the entry.
        package var touches: [Int64: Touch] = [:]
        /// Requests that no entry answered, by host.
        package var requests: [String: RequestCounts] = [:]
        /// When the latest of the requests was.
        package var requestedAt = Int64.min

        package var isEmpty: Bool { touches.isEmpty && requests.isEmpty }
    }

    private struct State {
        var notes = Notes()
        var isTimerSet = false

        /// Asks for a timer unless one runs.
        mutating func timer() -> Action {
            guard !isTimerSet else { return .none }
            isTimerSet = true
            return .setTimer
        }
    }

    /// Memory is bounded: with this many entries the touches are written at once, and with twice as many, because they
    /// cannot be written, further ones are forgotten. The same holds for hosts.
    package static let capacity = 8192

    /// Guards the notes.
    private let state = Mutex(State())

    package enum Action {
        case none
        case setTimer
        case writeNow
    }

    package init() {}

    /// Notes a use, and says what has to happen for the note to reach the index.
    package func note(_ entry: Int64, _ use: EntryUse = .hit, at time: Int64) -> Action {
        state.withLock { state in
            if var touch = state.notes.touches[entry] {
                touch.accessedAt = max(touch.accessedAt, time)
                touch.counts.count(use)
                state.notes.touches[entry] = touch
            } else if state.notes.touches.count < 2 * Self.capacity {
                var touch = Touch(accessedAt: time)
                touch.counts.count(use)
                state.notes.touches[entry] = touch
                // At the number itself only, or every further note would ask again until the write has run.
                if state.notes.touches.count == Self.capacity { return .writeNow }
            }
            return state.timer()
        }
    }

    /// Notes a request that no entry answered, and says what has to happen for the note to reach the index.
    package func note(_ counts: RequestCounts, host: String, at time: Int64) -> Action {
        state.withLock { state in
            state.notes.requestedAt = max(state.notes.requestedAt, time)
            if state.notes.requests[host] != nil || state.notes.requests.count < 2 * Self.capacity {
                state.notes.requests[host, default: RequestCounts()] += counts
                if state.notes.requests.count == Self.capacity { return .writeNow }
            }
            return state.timer()
        }
    }

    /// Ends the wait that a note asked for, and says whether there is anything to write.
    ///
    /// Only this allows the next timer: were one set after every write, a busy store would collect them by the thousand.
    package func timerFired() -> Bool {
        state.withLock { state in
            state.isTimerSet = false
            return !state.notes.isEmpty
        }
    }

    /// Whether there is nothing to write.
    package var isEmpty: Bool { state.withLock { $0.notes.isEmpty } }

    /// Hands over all notes.
    package func take() -> Notes {
        state.withLock { state in
            defer { state.notes = Notes() }
            return state.notes
        }
    }

    /// Takes back what could not be written.
    package func restore(_ notes: Notes) {
        state.withLock { state in
            for (entry, var touch) in notes.touches where state.notes.touches.count < Self.capacity {
                if let newer = state.notes.touches[entry] {
                    touch.accessedAt = max(touch.accessedAt, newer.accessedAt)
                    touch.counts += newer.counts
                }
                state.notes.touches[entry] = touch
            }
            for (host, counts) in notes.requests where state.notes.requests.count < Self.capacity {
                state.notes.requests[host, default: RequestCounts()] += counts
            }
            state.notes.requestedAt = max(state.notes.requestedAt, notes.requestedAt)
        }
    }
}
