internal import Synchronization

/// While set, ends the statements of all connections that check the flag.
final class InterruptFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set(_ isSet: Bool) {
        value.store(isSet, ordering: .relaxed)
    }
}

/// Ends the statements of one connection: when a flag is set, or when a time limit has passed.
final class InterruptCondition: Sendable {
    private let flag: InterruptFlag
    private let deadline: SuspendingClock.Instant?

    /// - Parameter timeLimit: Counted from now. The time that the system sleeps does not count.
    init(_ flag: InterruptFlag, timeLimit: Duration? = nil) {
        self.flag = flag
        deadline = timeLimit.map { SuspendingClock.now + $0 }
    }

    var isMet: Bool { flag.isSet || deadline.map { SuspendingClock.now >= $0 } ?? false }
}
