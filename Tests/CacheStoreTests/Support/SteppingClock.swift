import Synchronization
import TestSupport

/// A clock that a sleep advances: the sleep ends at once, and the clock shows its deadline.
final class SteppingClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Swift.Duration.zero

        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// Guards the time, and the pauses so far.
    private let state = Mutex((now: Instant(), pauses: [Swift.Duration]()))
    private let whileAsleep: @Sendable (_ number: Int, _ pause: Swift.Duration) async -> Void

    /// - Parameter whileAsleep: Runs during each sleep, given the sleep's number from 1 on and its length.
    init(
        whileAsleep: @escaping @Sendable (_ number: Int, _ pause: Swift.Duration) async -> Void = { _, _ in
            await Task.yield()
        }
    ) {
        self.whileAsleep = whileAsleep
    }

    var now: Instant { state.withLock { $0.now } }
    let minimumResolution = Swift.Duration.zero

    /// How long each sleep was.
    var pauses: [Swift.Duration] { state.withLock { $0.pauses } }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let (number, pause) = state.withLock { state in
            let pause = state.now.duration(to: deadline)
            state.pauses.append(pause)
            return (state.pauses.count, pause)
        }
        await whileAsleep(number, pause)
        try Task.checkCancellation()
        state.withLock { $0.now = max($0.now, deadline) }
    }
}
