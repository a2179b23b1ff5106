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
