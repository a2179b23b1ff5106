import CacheLoader

/// The number of loads by outcome.
struct LoadTally: Equatable, Sendable {
    enum Outcome: Sendable {
        /// The origin sent the response.
        case network
        /// A shared tier sent the response.
        case tier
        /// A fresh stored response answered without a request.
        case fresh
        /// The origin validated a stored response.
        case revalidated
        case failed
    }

    private(set) var network = 0
    private(set) var tier = 0
    private(set) var fresh = 0
    private(set) var revalidated = 0
    private(set) var failed = 0

    var completed: Int { network + tier + fresh + revalidated + failed }

    mutating func note(_ outcome: Outcome) {
        switch outcome {
        case .network: network += 1
        case .tier: tier += 1
        case .fresh: fresh += 1
        case .revalidated: revalidated += 1
        case .failed: failed += 1
        }
    }
}

extension ResponseSource {
    /// Whether the loader sent a request to the origin.
    var isFromOrigin: Bool {
        switch self {
        case .network, .notModified, .generated: true
        case .tier, .disk, .memory, .local: false
        }
    }
}

extension LoadTally.Outcome {
    /// Creates the outcome of a successful load.
    init(_ source: ResponseSource) {
        switch source {
        case .network, .generated: self = .network
        case .tier: self = .tier
        case .notModified: self = .revalidated
        case .disk, .memory, .local: self = .fresh
        }
    }
}
