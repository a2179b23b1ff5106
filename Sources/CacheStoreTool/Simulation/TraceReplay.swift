package import CacheStore

/// Replays a trace, line by line, in a simulated store for each policy.
package struct TraceReplay {
    /// The result of a policy.
    package struct Outcome {
        package let policy: EvictionPolicy
        package let result: StoreSimulation.Result
        package let duration: Duration
    }

    private struct Run {
        let policy: EvictionPolicy
        let simulation: StoreSimulation
        var duration = Duration.zero
    }

    package let limits: Limits
    package private(set) var bound: ClairvoyantBound
    private var runs: [Run] = []
    private var parser = URLListParser()

    package init(limits: Limits) throws {
        self.limits = limits
        bound = ClairvoyantBound(maxEntryBytes: limits.maxEntryBytes ?? .max)
        for policy in EvictionPolicy.allCases {
            runs.append(Run(policy: policy, simulation: try StoreSimulation(policy, limits: limits)))
        }
    }

    /// Replays the lines that end in `bytes`.
    ///
    /// - Throws: ``TraceRequest/Malformed``, `StoreError`.
    package mutating func add(_ bytes: [UInt8]) throws {
        var lines: [URLListLine] = []
        parser.add(bytes) { lines.append($0) }
        for line in lines { try replay(line) }
    }

    /// Replays a last line without a line feed, and returns the result of each policy.
    package mutating func end() throws -> [Outcome] {
        try replay(parser.end())
        return try runs.map { Outcome(policy: $0.policy, result: try $0.simulation.finish(), duration: $0.duration) }
    }

    private mutating func replay(_ line: URLListLine) throws {
        guard let request = try TraceRequest(line) else { return }
        bound.add(request)
        for number in runs.indices {
            let began = ContinuousClock.now
            _ = try runs[number].simulation.request(request.key, byteCount: request.byteCount)
            runs[number].duration += ContinuousClock.now - began
        }
    }
}
