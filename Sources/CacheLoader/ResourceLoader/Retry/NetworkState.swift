/// The last report of the system about the network as a whole, and Low Power Mode.
package struct NetworkState: Sendable {
    /// The effect of a report.
    package struct Change: Equatable, Sendable {
        package var becameAvailable = false
        package var conditionsChanged = false

        package init(becameAvailable: Bool = false, conditionsChanged: Bool = false) {
            self.becameAvailable = becameAvailable
            self.conditionsChanged = conditionsChanged
        }
    }

    package private(set) var isSatisfied = true
    /// Until the first report of a network, assume a constrained and expensive one.
    package private(set) var conditions: NetworkConditions = [.constrained, .expensive]

    package init() {}

    /// Applies a report. The report of a lost network says nothing about the next one, so the conditions stay.
    package mutating func update(isSatisfied: Bool, isConstrained: Bool, isExpensive: Bool) -> Change {
        let former = self
        self.isSatisfied = isSatisfied
        if isSatisfied {
            conditions.set(.constrained, isConstrained)
            conditions.set(.expensive, isExpensive)
        }
        return change(since: former)
    }

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
