/// The part of a body that has arrived.
public struct LoadProgress: Hashable, Sendable {
    /// The bytes so far, including those of a stored part.
    public let received: Int64
    /// The length of the whole body, if the origin states it.
    public let total: Int64?

    /// Creates a progress.
    public init(received: Int64, total: Int64?) {
        self.received = received
        self.total = total
    }

    /// The received part of the body, from 0 to 1, if the length is known.
    public var fraction: Double? {
        guard let total, total > 0 else { return nil }
        return min(1, max(0, Double(received) / Double(total)))
    }
}

/// Decides which numbers of received bytes are reported, so that unread events stay few. A number is due after a
/// thousandth of the announced length. Without that length, it is due after a hundredth of the last number.
package struct ProgressSteps {
    private var reported: Int64 = 0

    package init() {}

    /// Returns whether to report the number. If so, counts from this number on.
    package mutating func isDue(_ received: Int64, of total: Int64?) -> Bool {
        let step = total.map { ($0 - 1) / 1_000 + 1 } ?? max(1, reported / 100)
        guard received - reported >= step || received == total && received > reported else { return false }
        reported = received
        return true
    }
}
