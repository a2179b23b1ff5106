/// The answers that a store may give after some steps of a scenario.
package struct PossibleAnswers: Sendable {
    /// For each key, the possible versions. `nil` is a miss. An absent key is a miss.
    package private(set) var versions: [String: Set<Version?>] = [:]
    /// For each key, the possible numbers of failures.
    package private(set) var failures: [String: Set<Int>] = [:]
    /// For each key, all versions that were ever stored, and `nil`.
    package private(set) var history: [String: Set<Version?>] = [:]

    /// For each key, the numbers of the bodies that its representation may derive from. `nil` means no representation.
    private var forms: [String: Set<UInt64?>] = [:]

    /// Whether the store may have evicted any entry, as on a full disk.
    package let mayEvict: Bool

    package init(mayEvict: Bool = false) {
        self.mayEvict = mayEvict
    }

    /// The possible versions of a key. `nil` is a miss.
    package func possible(_ key: String) -> Set<Version?> {
        let versions = versions[key] ?? [nil]
        return mayEvict ? versions.union([nil]) : versions
    }

    /// The numbers of the bodies that a key's representation may derive from. `nil` means no representation.
    package func possibleForms(_ key: String) -> Set<UInt64?> {
        let forms = forms[key] ?? [nil]
        return mayEvict ? forms.union([nil]) : forms
    }

    /// The state after `acknowledged` steps, and perhaps part of the next.
    package init(_ scenario: Scenario, acknowledged: Int, mayEvict: Bool = false) {
        self.init(mayEvict: mayEvict)
        let steps = scenario.steps
        for step in steps.prefix(acknowledged) {
            begin(step)
            acknowledge(step)
        }
        if acknowledged < steps.count { begin(steps[acknowledged]) }
    }

    /// A step that may have happened.
    package mutating func begin(_ step: Step) {
        switch step {
        case .put(let key, let version), .grow(let key, let version):
            versions[key, default: [nil]].insert(version)
            failures[key, default: [0]].insert(0)
            history[key, default: [nil]].insert(version)
            forms[key, default: [nil]].formUnion(forms(of: key, after: version))
        case .breakOff(let key, _):
            // A lookup does not find parts.
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

    /// A step that has happened.
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
            // Failed tries may have counted the failure; the last try has.
            failures[key]?.remove(0)
        case .abandon, .get, .freshen, .evict, .sweep, .flush, .reopen, .handOver: break
        }
    }

    /// The derived representations that a key may keep when it gets `version`: those of the same bytes.
    private func forms(of key: String, after version: Version) -> Set<UInt64?> {
        Set((forms[key] ?? [nil]).map { $0 == version.number ? $0 : nil })
    }
}
