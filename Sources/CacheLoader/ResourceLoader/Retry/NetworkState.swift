/// The last report of the system about the network as a whole, and Low Power Mode.
package struct NetworkState: Sendable {
    /// The effect of a report.
    package struct Change: Equatable, Sendable {
        /// Whether a network has become available.
        package var becameAvailable = false
        package var conditionsChanged = false

        package init(becameAvailable: Bool = false, conditionsChanged: Bool = false) {
            self.becameAvailable = becameAvailable
            self.conditionsChanged = conditionsChanged
        }
    }

    package private(set) var isSatisfied = true
    /// Until the first report of a network, that network may be of any kind.
    package private(set) var conditions: NetworkConditions = [.constrained, .expensive]

    package init() {}

    /// Takes over a report. The report of a lost network says nothing of the next one, so the conditions stay.
    package mutating func update(isSatisfied: Bool, isConstrained: Bool, isExpensive: Bool) -> Change {
        let former = self
        self.isSatisfied = isSatisfied
        if isSatisfied {
            conditions.set(.constrained, isConstrained)
            conditions.set(.expensive, isExpensive)
        }
        return change(since: former)
    }

    /// Takes over whether Low Power Mode is on.
    package mutating func update(isLowPower: Bool) -> Change {
        let former = self
        conditions.set(.lowPower, isLowPower)
        return change(since: former)
    }

    private func change(since former: NetworkState) -> Change {
        Change(
            becameAvailable: isSatisfied && !former.isSatisfied, conditionsChanged: conditions != former.conditions)
    }
}

extension NetworkConditions {
    fileprivate mutating func set(_ condition: NetworkConditions, _ isPresent: Bool) {
        if isPresent { insert(condition) } else { remove(condition) }
    }
}
