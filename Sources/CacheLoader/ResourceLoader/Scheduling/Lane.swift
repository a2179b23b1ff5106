/// The priority of a load.
public enum Lane: String, Hashable, Sendable, CaseIterable {
    /// A caller waits for the result. The default.
    case urgent
    /// A caller may want the result later. Starts only while no urgent load runs or waits for its turn.
    case background
}

/// Decides whether a transfer continues after its last waiter has left.
public enum Abandonment: String, Hashable, Sendable {
    /// The transfer stops. The default.
    case stop
    /// The transfer continues, and its response is stored. A prefetch always uses this case.
    case finishAndStore
}

/// The numbers of transfers that a loader runs at a time. Answers from the store do not count. With 0, no transfer
/// starts.
public struct LaneWidths: Hashable, Sendable {
    /// Transfers in the urgent lane; 6 by default.
    public var urgent: Int
    /// Transfers in the background lane; 1 by default.
    public var background: Int
    /// Transfers to one host, in both lanes together; 4 by default, so that no host can take all places of the urgent
    /// lane.
    public var perHost: Int

    /// Creates numbers of transfers; each has its documented default.
    public init(urgent: Int = 6, background: Int = 1, perHost: Int = 4) {
        self.urgent = urgent
        self.background = background
        self.perHost = perHost
    }

    package subscript(lane: Lane) -> Int {
        switch lane {
        case .urgent: urgent
        case .background: background
        }
    }
}
