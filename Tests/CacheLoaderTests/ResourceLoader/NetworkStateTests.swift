import TestSupport

@Suite("NetworkState") struct NetworkStateTests {
    struct Report: Sendable {
        var isSatisfied = true
        var isConstrained = false
        var isExpensive = false
        let conditions: NetworkConditions
        var change = NetworkState.Change()
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reports: [Report]
    }

    @Test(
        "The conditions belong to the latest network; before the first network, every condition applies",
        .requirement("H9"),
        arguments: [
            Case(
                testDescription: "a network without conditions",
                reports: [
                    Report(conditions: [], change: .init(conditionsChanged: true)),
                    Report(conditions: []),
                ]),
            Case(
                testDescription: "a launch without a network",
                reports: [
                    Report(isSatisfied: false, conditions: [.constrained, .expensive]),
                    Report(conditions: [], change: .init(becameAvailable: true, conditionsChanged: true)),
                ]),
            Case(
                testDescription: "a cellular network that is lost and comes back",
                reports: [
                    Report(isExpensive: true, conditions: .expensive, change: .init(conditionsChanged: true)),
                    Report(isSatisfied: false, conditions: .expensive),
                    Report(isExpensive: true, conditions: .expensive, change: .init(becameAvailable: true)),
                ]),
            Case(
                testDescription: "from Wi-Fi by way of no network to a cellular one",
                reports: [
                    Report(conditions: [], change: .init(conditionsChanged: true)),
                    Report(isSatisfied: false, isExpensive: true, conditions: []),
                    Report(
                        isConstrained: true, isExpensive: true, conditions: [.constrained, .expensive],
                        change: .init(becameAvailable: true, conditionsChanged: true)),
                ]),
        ])
    func reports(_ c: Case) {
        var state = NetworkState()
        #expect(state.conditions == [.constrained, .expensive])
        for report in c.reports {
            let change = state.update(
                isSatisfied: report.isSatisfied, isConstrained: report.isConstrained, isExpensive: report.isExpensive)
            #expect(change == report.change)
            #expect(state.conditions == report.conditions)
            #expect(state.isSatisfied == report.isSatisfied)
        }
    }

    @Test("Low Power Mode is a condition in addition to those of the network", .requirement("H9"))
    func lowPower() {
        var state = NetworkState()
        #expect(state.update(isLowPower: true) == .init(conditionsChanged: true))
        #expect(state.update(isLowPower: true) == .init())
        _ = state.update(isSatisfied: true, isConstrained: false, isExpensive: false)
        #expect(state.conditions == .lowPower)
        #expect(state.update(isLowPower: false) == .init(conditionsChanged: true))
    }
}
