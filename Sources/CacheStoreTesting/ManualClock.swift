public import Foundation
internal import Synchronization

/// A clock whose time changes only when a test sets it.
///
/// Any thread may read and set the clock. Pass ``date()`` as `clock.date` for a parameter of type
/// `@Sendable () -> Date`.
public final class ManualClock: Sendable {
    /// Guards the time.
    private let moment: Mutex<Date>

    /// Creates a clock at `start`. The default is a Sunday in 1994, the date in RFC 9110.
    public init(_ start: Date = Date(timeIntervalSince1970: 784_111_777)) {
        moment = Mutex(start)
    }

    /// The current time of the clock.
    public var now: Date { moment.withLock { $0 } }

    /// Returns the current time of the clock.
    @Sendable public func date() -> Date { now }

    /// Advances the clock by `seconds`; a negative number sets it back.
    public func advance(by seconds: TimeInterval) {
        moment.withLock { $0 += seconds }
    }

    /// Sets the clock to `date`.
    public func set(_ date: Date) {
        moment.withLock { $0 = date }
    }
}
