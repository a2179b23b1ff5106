/// How soon a load gets its turn.
public enum Lane: String, Hashable, Sendable, CaseIterable {
    /// Somebody is waiting for it. The default.
    case urgent
    /// Somebody may want it later. Begins only while nothing urgent is under way.
    case background
}

/// What becomes of a transfer when the last who waited for it has left.
public enum Abandonment: String, Hashable, Sendable {
    /// It is stopped. The default.
    case stop
    /// It goes on, and its response is stored. The default of a prefetch.
    case finishAndStore
}

/// How many transfers a loader has under way at a time. Answers from the store take no place. Zero holds back all
/// transfers.
public struct LaneWidths: Hashable, Sendable {
    /// In the urgent lane; 6 by default.
    public var urgent: Int
    /// In the background lane; 1 by default.
    public var background: Int
    /// To one host, in both lanes together; 6 by default, as many as browsers have connections.
    public var perHost: Int

    /// Creates widths; each has its documented default.
    public init(urgent: Int = 6, background: Int = 1, perHost: Int = 6) {
        self.urgent = urgent
        self.background = background
        self.perHost = perHost
    }

    subscript(lane: Lane) -> Int {
        switch lane {
        case .urgent: urgent
        case .background: background
        }
    }
}
