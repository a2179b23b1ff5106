internal import Synchronization

/// Uses of entries that the index does not know yet.
///
/// A hit writes nothing: it is noted here, once per entry, and reaches the index with the next write, a timer, `flush()`
/// or `close()`. What a killed process had noted is lost; an entry then looks as if it had last been used a little
/// earlier.
package final class Touches: Sendable {
    package struct Touch {
        package var entry: Int64
        package var accessedAt: Int64
        package var count: Int64

        package init(entry: Int64, accessedAt: Int64, count: Int64) {
            self.entry = entry
            self.accessedAt = accessedAt
            self.count = count
        }
    }

    private struct State {
        var touches: [Int64: Touch] = [:]
        var isTimerSet = false
    }

    /// Memory is bounded: with this many entries the touches are written at once, and with twice as many, because they
    /// cannot be written, further ones are forgotten.
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
    package func note(_ entry: Int64, at time: Int64) -> Action {
        state.withLock { state in
            if var touch = state.touches[entry] {
                touch.accessedAt = max(touch.accessedAt, time)
                touch.count += 1
                state.touches[entry] = touch
            } else if state.touches.count < 2 * Self.capacity {
                state.touches[entry] = Touch(entry: entry, accessedAt: time, count: 1)
                // At the number itself only, or every further note would ask again until the write has run.
                if state.touches.count == Self.capacity { return .writeNow }
            }
            guard !state.isTimerSet else { return .none }
            state.isTimerSet = true
            return .setTimer
        }
    }

    /// Ends the wait that ``note(_:at:)`` asked for, and says whether there is anything to write.
    ///
    /// Only this allows the next timer: were one set after every write, a busy store would collect them by the thousand.
    package func timerFired() -> Bool {
        state.withLock { state in
            state.isTimerSet = false
            return !state.touches.isEmpty
        }
    }

    /// Hands over all notes.
    package func take() -> [Touch] {
        state.withLock { state in
            guard !state.touches.isEmpty else { return [] }
            defer { state.touches.removeAll(keepingCapacity: true) }
            return Array(state.touches.values)
        }
    }

    /// Takes back what could not be written.
    package func restore(_ touches: [Touch]) {
        state.withLock { state in
            for var touch in touches where state.touches.count < Self.capacity {
                if let newer = state.touches[touch.entry] {
                    touch.accessedAt = max(touch.accessedAt, newer.accessedAt)
                    touch.count += newer.count
                }
                state.touches[touch.entry] = touch
            }
        }
    }
}

/// The rows of `access`.
extension Connection {
    package func apply(_ touches: [Touches.Touch]) throws(SQLiteError) {
        guard !touches.isEmpty else { return }
        for touch in touches {
            let statement = try prepared(
                """
                UPDATE access SET
                    accessed_at = max(accessed_at, ?2), hit_count = min(hit_count, 9223372036854775807 - ?3) + ?3
                WHERE entry_id = ?1
                """)
            statement.bind(touch.entry, at: 1)
            statement.bind(touch.accessedAt, at: 2)
            statement.bind(touch.count, at: 3)
            try statement.run()
        }
        let statement = try prepared("UPDATE total SET hit_count = min(hit_count, 9223372036854775807 - ?1) + ?1")
        statement.bind(touches.reduce(0) { $0 + $1.count }, at: 1)
        try statement.run()
    }
}
