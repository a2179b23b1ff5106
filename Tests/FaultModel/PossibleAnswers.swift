/// What a store may answer after some steps of a scenario.
package struct PossibleAnswers: Sendable {
    /// For each key what may be found, `nil` for a miss. A key that is not here is a miss.
    package private(set) var versions: [String: Set<Version?>] = [:]
    /// For each key how many failures may be counted.
    package private(set) var failures: [String: Set<Int>] = [:]
    /// For each key everything that was ever put there, and `nil`.
    package private(set) var history: [String: Set<Version?>] = [:]

    /// Whether the store may have evicted anything, as it does by itself when the disk is full.
    package let mayEvict: Bool

    package init(mayEvict: Bool = false) {
        self.mayEvict = mayEvict
    }

    /// What may be found for a key, `nil` for a miss.
    package func possible(_ key: String) -> Set<Version?> {
        let versions = versions[key] ?? [nil]
        return mayEvict ? versions.union([nil]) : versions
    }

    /// After `acknowledged` steps, and perhaps part of the next.
    package init(_ scenario: Scenario, acknowledged: Int, mayEvict: Bool = false) {
        self.init(mayEvict: mayEvict)
        let steps = scenario.steps
        for step in steps.prefix(acknowledged) {
            begin(step)
            acknowledge(step)
        }
        if acknowledged < steps.count { begin(steps[acknowledged]) }
    }

    /// The step may have happened, or not.
    package mutating func begin(_ step: Step) {
        switch step {
        case .put(let key, let version):
            versions[key, default: [nil]].insert(version)
            failures[key, default: [0]].insert(0)
            history[key, default: [nil]].insert(version)
        case .remove(let key):
            versions[key, default: [nil]].insert(nil)
            failures[key, default: [0]].insert(0)
        case .fail(let key):
            let counts = failures[key, default: [0]]
            failures[key] = counts.union(counts.map { $0 + 1 })
        case .evict:
            // Which ones is for other tests to say.
            for key in versions.keys { versions[key]?.insert(nil) }
        case .abandon, .get, .freshen, .sweep, .flush, .reopen, .handOver: break
        }
    }

    /// The step has happened.
    package mutating func acknowledge(_ step: Step) {
        switch step {
        case .put(let key, let version):
            versions[key] = [version]
            failures[key] = [0]
        case .remove(let key):
            versions[key] = [nil]
            failures[key] = [0]
        case .fail(let key):
            // Once in the tries that failed, if at all, and once for certain.
            failures[key]?.remove(0)
        case .abandon, .get, .freshen, .evict, .sweep, .flush, .reopen, .handOver: break
        }
    }
}
