import CacheLoader

/// The number of loads for each outcome.
struct LoadTally: Equatable, Sendable {
    enum Outcome: Sendable {
        /// The origin sent the response.
        case network
        /// The store had a fresh response; the loader sent no request.
        case fresh
        /// The store had a response, and the origin confirmed it.
        case revalidated
        case failed
    }

    private(set) var network = 0
    private(set) var fresh = 0
    private(set) var revalidated = 0
    private(set) var failed = 0

    var completed: Int { network + fresh + revalidated + failed }

    mutating func note(_ outcome: Outcome) {
        switch outcome {
        case .network: network += 1
        case .fresh: fresh += 1
        case .revalidated: revalidated += 1
        case .failed: failed += 1
        }
    }
}

extension ResponseSource {
    /// Whether the origin was asked.
    var isFromOrigin: Bool {
        switch self {
        case .network, .notModified, .generated: true
        case .disk, .memory, .local: false
        }
    }
}

extension LoadTally.Outcome {
    /// Creates the outcome of a successful load.
    init(_ source: ResponseSource) {
        switch source {
        case .network, .generated: self = .network
        case .notModified: self = .revalidated
        case .disk, .memory, .local: self = .fresh
        }
    }
}
