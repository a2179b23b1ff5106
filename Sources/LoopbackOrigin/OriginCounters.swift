/// What an origin has done since its start.
public struct OriginCounters: Hashable, Sendable {
    /// The connections that it accepted.
    public var connections = 0

    /// The requests that it received whole.
    public var requests = 0

    /// The bytes of response bodies that the network layer took, without heads and chunk framing.
    public var bodyBytes = 0

    /// The replies with status 304.
    public var notModified = 0

    /// Creates counters that are all zero.
    public init() {}
}
