import CacheModels
import TestSupport

@Suite("BoundResource: leases") struct BoundResourceLeaseTests {
    private typealias Bound = BoundResource<String, Int>

    enum Step {
        case acquire
        /// The value is available synchronously.
        case acquireNow(Int)
        case release
        /// Memory pressure.
        case pressure
        case value(Int)
        case prior(Int)
        case fail
        case cancelled
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let steps: [Step]
        /// The counts after each step.
        let counts: [Int]
        let state: ResourceState<Int>
        /// The actions "begin" and "stop".
        let actions: [String]

        init(_ name: String, _ steps: [Step], counts: [Int], state: ResourceState<Int>, actions: [String]) {
            (testDescription, self.steps, self.counts) = (name, steps, counts)
            (self.state, self.actions) = (state, actions)
        }
    }

    @Test(
        "Leases",
        arguments: [
            Case(
                "E7: 0, 1, 2, 1, 0 while loading: the last stops", [.acquire, .acquire, .release, .release, .value(1)],
                counts: [1, 2, 1, 0, 0], state: .cancelled(prior: nil), actions: ["begin", "stop"]),
            Case(
                "E7: 0, 1, 2, 1, 0 with a value: it is kept", [.acquire, .acquire, .value(1), .release, .release],
                counts: [1, 2, 2, 1, 0], state: .loaded(1), actions: ["begin"]),
            Case(
                "E7: 0, 1, 2, 1: one is left, it goes on", [.acquire, .acquire, .release], counts: [1, 2, 1],
                state: .loading(prior: nil), actions: ["begin"]),
            Case(
                "E7: acquired again when loaded", [.acquire, .value(1), .release, .acquire, .acquire],
                counts: [1, 1, 0, 1, 2], state: .loaded(1), actions: ["begin"]),
            Case(
                "E7: acquired again when failed", [.acquire, .fail, .release, .acquire, .value(2)],
                counts: [1, 1, 0, 1, 1], state: .loaded(2), actions: ["begin", "begin"]),
            Case(
                "E7: acquired again when failed, while another holds it", [.acquire, .fail, .acquire],
                counts: [1, 1, 2], state: .loading(prior: nil), actions: ["begin", "begin"]),
            Case(
                "E7: acquired again when cancelled by the last release", [.acquire, .release, .acquire, .value(2)],
                counts: [1, 0, 1, 1], state: .loaded(2), actions: ["begin", "stop", "begin"]),
            Case(
                "E7: acquired again when cancelled by the loader", [.acquire, .cancelled, .acquire], counts: [1, 1, 2],
                state: .loading(prior: nil), actions: ["begin", "begin"]),
            Case(
                "E7: acquired again when cancelled with a stored value",
                [.acquire, .prior(1), .release, .acquire, .fail],
                counts: [1, 1, 0, 1, 1], state: .failed(.offline, prior: 1), actions: ["begin", "stop", "begin"]),
            Case(
                "E7: a release after a failure stops nothing", [.acquire, .fail, .release], counts: [1, 1, 0],
                state: .failed(.offline, prior: nil), actions: ["begin"]),
            Case(
                "E7, I7: memory pressure drops a value without leases, and the next lease loads it",
                [.acquire, .value(1), .release, .pressure, .acquire, .value(2)], counts: [1, 1, 0, 0, 1, 1],
                state: .loaded(2), actions: ["begin", "begin"]),
            Case(
                "E7, I7: memory pressure leaves a value with a lease",
                [.acquire, .acquire, .value(1), .release, .pressure], counts: [1, 2, 2, 1, 1], state: .loaded(1),
                actions: ["begin"]),
            Case(
                "E7, I7: memory pressure drops a prior value, too", [.acquire, .prior(1), .release, .pressure],
                counts: [1, 1, 0, 0], state: .released, actions: ["begin", "stop"]),
            Case(
                "E7: a value that can be had at once", [.acquireNow(1), .release], counts: [1, 0], state: .loaded(1),
                actions: []),
        ])
    func leases(_ c: Case) throws {
        var bound = Bound()
        var number: UInt64 = 0
        var (actions, counts): ([String], [Int]) = ([], [])
        func note(_ action: Bound.Action) {
            switch action {
            case .none: break
            case .stop: actions.append("stop")
            case .begin(let request, let next):
                #expect(request == "a")
                number = next
                actions.append("begin")
            }
        }
        for step in c.steps {
            switch step {
            case .acquire: note(bound.acquire("a") { _ in nil })
            case .acquireNow(let value): note(bound.acquire("a") { Loaded(value, of: $0) })
            case .release: note(try bound.release())
            case .pressure: note(bound.releaseIfUnobserved())
            case .value(let value): bound.receive(.completed(value), of: number)
            case .prior(let value): bound.receive(.cached(value), of: number)
            case .fail: bound.receive(.failed(.offline), of: number)
            case .cancelled: bound.receive(.cancelled, of: number)
            }
            counts.append(bound.observers)
        }
        #expect(counts == c.counts)
        #expect(bound.state.map(\.value) == c.state)
        #expect(actions == c.actions)
    }
}
