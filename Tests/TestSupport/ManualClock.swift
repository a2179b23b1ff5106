public import Foundation
internal import Synchronization

/// A clock that stands still until a test moves it.
///
/// Any thread may read and move it. Where a `@Sendable () -> Date` is asked for, pass ``date()`` as `clock.date`.
public final class ManualClock: Sendable {
    /// Guards the moment.
    private let moment: Mutex<Date>

    /// Creates a clock that shows `start`; a Sunday in 1994 from RFC 9110 where a test does not care.
    public init(_ start: Date = Date(timeIntervalSince1970: 784_111_777)) {
        moment = Mutex(start)
    }

    /// What the clock shows.
    public var now: Date { moment.withLock { $0 } }

    /// What the clock shows, as a function.
    @Sendable public func date() -> Date { now }

    /// Moves the clock by `seconds`, back if they are negative.
    public func advance(by seconds: TimeInterval) {
        moment.withLock { $0 += seconds }
    }

    /// Makes the clock show `date`.
    public func set(_ date: Date) {
        moment.withLock { $0 = date }
    }
}
