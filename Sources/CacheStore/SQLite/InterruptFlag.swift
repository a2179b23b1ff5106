internal import Synchronization

/// Ends the statements of the connections that look at it, while it is set.
final class InterruptFlag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set(_ isSet: Bool) {
        value.store(isSet, ordering: .relaxed)
    }
}
