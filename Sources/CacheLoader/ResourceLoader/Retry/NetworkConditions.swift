/// Properties of the network, and of the device, that make a transfer costly.
///
/// ``Reachability/conditions`` reports them. ``ResourceLoader/Configuration/heldBack`` and
/// ``ResourceLoader/prefetch(_:heldBackBy:)`` name the conditions in which loads wait.
public struct NetworkConditions: OptionSet, Hashable, Sendable {
    /// The conditions as bits.
    public let rawValue: UInt8

    /// Creates conditions from their bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The user asks for little traffic, such as with Low Data Mode.
    public static let constrained = NetworkConditions(rawValue: 1)
    /// The traffic may cost money, as in a cellular network or through a hotspot.
    public static let expensive = NetworkConditions(rawValue: 2)
    /// The device saves energy, as in Low Power Mode.
    public static let lowPower = NetworkConditions(rawValue: 4)
}

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

    /// Applies a report.
    package mutating func update(isSatisfied: Bool, isConstrained: Bool, isExpensive: Bool) -> Change {
        let former = self
        self.isSatisfied = isSatisfied
        // The report of a lost network says nothing about the next network, so the conditions stay.
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
