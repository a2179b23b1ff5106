import CacheLoader

/// How many loads came to what.
package struct LoadTally: Equatable, Sendable {
    package enum Outcome: Sendable {
        /// The origin sent it.
        case network
        /// It was in the store, and was not asked for.
        case fresh
        /// It was in the store, and the origin said that it has not changed.
        case revalidated
        case failed
    }

    package private(set) var network = 0
    package private(set) var fresh = 0
    package private(set) var revalidated = 0
    package private(set) var failed = 0

    package init() {}

    package var completed: Int { network + fresh + revalidated + failed }

    package mutating func note(_ outcome: Outcome) {
        switch outcome {
        case .network: network += 1
        case .fresh: fresh += 1
        case .revalidated: revalidated += 1
        case .failed: failed += 1
        }
    }
}

extension LoadTally.Outcome {
    /// Of a load that did not fail.
    init(_ source: ResponseSource) {
        switch source {
        case .network, .generated: self = .network
        case .notModified: self = .revalidated
        case .disk, .memory, .local: self = .fresh
        }
    }
}
