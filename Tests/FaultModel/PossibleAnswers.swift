/// The answers that a store may give after some steps of a scenario.
package struct PossibleAnswers: Sendable {
    /// For each key the versions that may be found, `nil` for a miss. A key that is not here is a miss.
    package private(set) var versions: [String: Set<Version?>] = [:]
    /// For each key how many failures may be counted.
    package private(set) var failures: [String: Set<Int>] = [:]
    /// For each key all versions that were ever stored, and `nil`.
    package private(set) var history: [String: Set<Version?>] = [:]

    /// For each key the numbers of the bodies from which its representation may be derived, `nil` for none.
    private var forms: [String: Set<UInt64?>] = [:]

    /// Whether the store may have evicted anything, as it does by itself when the disk is full.
    package let mayEvict: Bool

    package init(mayEvict: Bool = false) {
        self.mayEvict = mayEvict
    }

    /// The versions that may be found for a key, `nil` for a miss.
    package func possible(_ key: String) -> Set<Version?> {
        let versions = versions[key] ?? [nil]
        return mayEvict ? versions.union([nil]) : versions
    }

    /// The numbers of the bodies from which a key's representation may be derived, `nil` for none.
    package func possibleForms(_ key: String) -> Set<UInt64?> {
        let forms = forms[key] ?? [nil]
        return mayEvict ? forms.union([nil]) : forms
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
        case .put(let key, let version), .grow(let key, let version):
            versions[key, default: [nil]].insert(version)
            failures[key, default: [0]].insert(0)
            history[key, default: [nil]].insert(version)
            forms[key, default: [nil]].formUnion(forms(of: key, after: version))
        case .breakOff(let key, _):
            // A lookup finds no parts.
            failures[key, default: [0]].insert(0)
            history[key, default: [nil]].insert(nil)
        case .remove(let key):
            versions[key, default: [nil]].insert(nil)
            forms[key, default: [nil]].insert(nil)
            failures[key, default: [0]].insert(0)
        case .fail(let key):
            let counts = failures[key, default: [0]]
            failures[key] = counts.union(counts.map { $0 + 1 })
        case .evict:
            // Other tests check which entries are evicted.
            for key in versions.keys { versions[key]?.insert(nil) }
            for key in forms.keys { forms[key]?.insert(nil) }
        case .derive(let key):
            forms[key, default: [nil]].formUnion(possible(key).map { $0?.number })
        case .abandon, .get, .freshen, .sweep, .flush, .reopen, .handOver: break
        }
    }

    /// The step has happened.
    package mutating func acknowledge(_ step: Step) {
        switch step {
        case .put(let key, let version), .grow(let key, let version):
            versions[key] = [version]
            forms[key] = forms(of: key, after: version)
            failures[key] = [0]
        case .breakOff(let key, _):
            failures[key] = [0]
        case .derive(let key):
            forms[key] = Set(possible(key).map { $0?.number })
        case .remove(let key):
            versions[key] = [nil]
            forms[key] = [nil]
            failures[key] = [0]
        case .fail(let key):
            // The failed tries may have counted it; the last one has counted it.
            failures[key]?.remove(0)
        case .abandon, .get, .freshen, .evict, .sweep, .flush, .reopen, .handOver: break
        }
    }

    /// The derived representations that a key may keep when it gets `version`: those of the same bytes.
    private func forms(of key: String, after version: Version) -> Set<UInt64?> {
        Set((forms[key] ?? [nil]).map { $0 == version.number ? $0 : nil })
    }
}
