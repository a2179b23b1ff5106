/// The counters of an origin since its start.
public struct OriginCounters: Hashable, Sendable {
    /// The number of accepted connections.
    public var connections = 0

    /// The number of complete requests received.
    public var requests = 0

    /// The bytes of response bodies that the network layer accepted, without heads and chunk framing.
    public var bodyBytes = 0

    /// The number of replies with status 304.
    public var notModified = 0

    /// Creates counters of zero.
    public init() {}
}
