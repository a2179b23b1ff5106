package import CacheStore

/// Replays the requests of a file or of a store's record, in a simulated store for each policy.
package struct TraceReplay {
    private struct Run {
        let policy: EvictionPolicy
        let simulation: StoreSimulation
        var duration = Duration.zero
    }

    private let limits: Limits
    package private(set) var bound: ClairvoyantBound
    private var runs: [Run] = []
    private var parser = URLListParser()
    /// `nil` before the first non-blank line.
    private var format: TraceFormat?
    private var cacheable = CacheableRequests()

    /// The omitted requests.
    package var leftOut: LeftOutRequests { cacheable.leftOut }

    /// - Parameter format: The format of the lines. `nil` derives it from the first non-blank line.
    package init(limits: Limits, format: TraceFormat? = nil) throws {
        self.limits = limits
        self.format = format
        bound = ClairvoyantBound(maxEntryBytes: limits.maxEntryBytes ?? .max)
        for policy in EvictionPolicy.allCases {
            runs.append(Run(policy: policy, simulation: try StoreSimulation(policy, limits: limits)))
        }
    }

    /// Replays the lines that end in `bytes`. Throws ``TraceRequest/Malformed`` for a malformed line of a trace. Counts
    /// malformed lines of an access log instead. Throws `CancellationError` in a cancelled task.
    package mutating func add(_ bytes: [UInt8]) throws {
        var lines: [URLListLine] = []
        parser.add(bytes) { lines.append($0) }
        for line in lines { try replay(line) }
    }

    /// Replays a last line without line feed.
    package mutating func endLine() throws {
        try replay(parser.end())
    }

    /// Whether no request was replayed.
    package var isEmpty: Bool { bound.keyCount == 0 }

    /// Returns the results of all policies.
    package func end() throws -> SimulationReport {
        let policies = try runs.map { run in
            SimulationReport.Policy(policy: run.policy, result: try run.simulation.finish(), duration: run.duration)
        }
        return SimulationReport(policies, limits: limits, bound: bound, leftOut: leftOut)
    }

    /// Replays the record of a store from `cursor` on, or from the oldest request.
    package mutating func addRecord(of store: ResponseStore, since cursor: RequestCursor? = nil) throws {
        try store.forEachRecordPage(since: cursor, limit: 4_096) { try add($0) }
    }

    /// Replays records of a store.
    private mutating func add(_ records: RequestRecords) throws {
        cacheable.lose(records.lost)
        for record in records.records {
            if let request = cacheable.request(record) { try replay(request) }
        }
    }

    private mutating func replay(_ line: URLListLine) throws {
        if format == nil, case .url(let text) = line.content { format = TraceFormat(guessing: text) }
        let request = format == .accessLog ? cacheable.request(line) : try TraceRequest(line)
        if let request { try replay(request) }
    }

    private mutating func replay(_ request: TraceRequest) throws {
        try Task.checkCancellation()
        bound.add(request)
        for number in runs.indices {
            let began = ContinuousClock.now
            _ = try runs[number].simulation.request(request.key, byteCount: request.byteCount)
            runs[number].duration += ContinuousClock.now - began
        }
    }
}
