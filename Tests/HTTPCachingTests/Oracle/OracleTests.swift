internal import TestSupport

/// Compares a million decisions with those of an oracle that shares no code with the tested rules.
@Suite struct OracleTests {
    /// The number of all cases; half of them are about reuse.
    private static let rounds = Repetitions.count(1_000_000, debug: 10_000)
    /// The parallel runs, each with a different seed.
    private static let runs = 4
    private static let reuseRounds = rounds / runs / 2
    private static let storingRounds = rounds / runs / 4
    private static let staleFallbackRounds = rounds / runs / 4

    /// Counts the compared outcomes: a run without hits would prove nothing.
    private struct Tally {
        var counts: [String: Int] = [:]

        mutating func count(_ what: String) { counts[what, default: 0] += 1 }

        func expectAll(_ names: [String], of total: Int, _ seed: Comment) {
            for name in names { #expect(counts[name, default: 0] > total / 500, "\(name): \(counts). \(seed)") }
        }
    }

    /// Yields the thread to other tests, some of which have short time limits.
    private static func breathe(_ round: Int) async {
        if round % 500 == 0 { await Task.yield() }
    }

    @Test(
        "Reuse matches the oracle",
        .requirement(
            "F01", "F02", "F03", "F04", "F05", "F06", "F08", "R01", "Q01", "Q02", "Q03", "Q04", "Q05", "E01", "E02",
            "E03", "M01", "V02"),
        arguments: 0..<runs)
    func reuse(run: Int) async {
        let seed = SeededGenerator()
        var generator = OracleGenerator(seed)
        var tally = Tally()
        for round in 0..<Self.reuseRounds {
            await Self.breathe(round)
            let example = generator.next()
            let oracle = ReuseOracle(example)
            guard let stored = example.stored else {
                let isStar = example.response("vary").contains { $0.contains("*") }
                if !isStar { Issue.record("not selectable, round \(round), \(seed)\n\(example)") }
                continue
            }
            let decision = ReuseDecision(
                for: example.httpRequest, candidates: [stored], policy: example.policy,
                now: HTTPDate(secondsSince1970: example.now), fingerprint: Sample.fingerprint
            ).action
            if let complaint = Self.complaint(decision, oracle, stored) {
                Issue.record("\(complaint), oracle: \(oracle), round \(round), \(seed)\n\(example)")
                return
            }
            tally.count("\(oracle.isCertain ? "certain" : "uncertain") \(oracle.answer)")
        }
        tally.expectAll(
            [
                "certain fresh", "certain stale", "certain staleAndValidated", "certain none", "uncertain fresh",
                "uncertain none",
            ], of: Self.reuseRounds, "\(seed)")
    }

    private static func complaint(_ decision: ReuseDecision.Action, _ oracle: ReuseOracle, _ stored: StoredResponse)
        -> String?
    {
        let outcome = Outcome(decision)
        let expected: Outcome? =
            switch oracle.answer {
            case .fresh: .hit
            case .stale: .staleHit
            case .staleAndValidated: .revalidatedHit
            case .none: nil
            }
        let isAnswer = [.hit, .staleHit, .revalidatedHit].contains(outcome)
        if isAnswer, expected == nil { return "\(decision) without the right to" }
        if outcome == .hit, expected != .hit { return "\(decision) is not fresh" }
        if oracle.isCertain, isAnswer ? outcome != expected : expected != nil {
            return "\(decision), not \(oracle.answer)"
        }
        switch decision {
        case .hit(_, let age, _), .hitWhileRevalidating(_, let age):
            if age != oracle.age { return "age \(age), not \(oracle.age)" }
            let head = stored.head(age: age)
            let names = head.headerFields.map(\.name.canonicalName)
            if let name = oracle.withheld.first(where: names.contains) { return "\(name) was not validated" }
        default: break
        }
        return nil
    }

    @Test(
        "Storing matches the oracle",
        .requirement("S01", "S02", "S03", "S04", "S06", "S07", "S08", "S09", "S10", "S19", "S20"), arguments: 0..<runs)
    func storing(run: Int) async {
        let seed = SeededGenerator()
        var generator = OracleGenerator(seed)
        var tally = Tally()
        for round in 0..<Self.storingRounds {
            await Self.breathe(round)
            let example = generator.next()
            let oracle = StorageOracle(example)
            let decision = StorageDecision(
                status: HTTPResponse.Status(code: example.status), fields: example.fields, request: example.httpRequest,
                policy: example.policy)
            if decision.isStorable ? oracle.isForbidden : oracle.isPlainlyAllowed {
                Issue.record("\(decision), oracle: \(oracle), round \(round), \(seed)\n\(example)")
                return
            }
            tally.count(oracle.isForbidden ? "forbidden" : oracle.isPlainlyAllowed ? "allowed" : "open")
        }
        tally.expectAll(["forbidden", "allowed"], of: Self.storingRounds, "\(seed)")
    }

    @Test(
        "Serves stale on error only where the oracle permits it", .requirement("E03", "E04", "E05", "R01", "R03"),
        arguments: 0..<runs)
    func staleFallback(run: Int) async {
        let seed = SeededGenerator()
        var generator = OracleGenerator(seed)
        var tally = Tally()
        for round in 0..<Self.staleFallbackRounds {
            await Self.breathe(round)
            let first = generator.next()
            let examples = [first, generator.sibling(of: first)].filter { $0.stored != nil }
            let isDisconnected = round % 2 == 0
            let choice = StaleFallback.choose(
                for: first.httpRequest, candidates: examples.compactMap(\.stored),
                status: isDisconnected ? nil : .serviceUnavailable, policy: first.policy,
                now: HTTPDate(secondsSince1970: first.now), fingerprint: Sample.fingerprint)
            let oracles = examples.map(ReuseOracle.init)
            let may = oracles.map { isDisconnected ? $0.mayServeStaleWhenDisconnected : $0.mayServeStaleForStatus }
            if let choice, !may[choice] {
                Issue.record("\(choice) is served stale, round \(round), \(seed)\n\(examples)")
                return
            }
            if choice == nil, zip(may, oracles).contains(where: { $0 && $1.isCertain }) {
                Issue.record("none is served stale, round \(round), \(seed)\n\(examples)")
                return
            }
            tally.count(choice == nil ? "none" : "some")
        }
        tally.expectAll(["none", "some"], of: Self.staleFallbackRounds, "\(seed)")
    }
}
