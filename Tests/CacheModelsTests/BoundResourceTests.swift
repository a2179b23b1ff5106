import CacheModels
import TestSupport

private typealias Bound = BoundResource<String, Int>

/// An action of the program, a load or an observer.
private enum Step: CustomTestStringConvertible {
    case bind(String?)
    /// The value is available synchronously.
    case bindNow(String, Int)
    case reload
    case reloadAs(String)
    case cancel
    /// The load by its number, starting at 1.
    case prior(Int, of: UInt64)
    case progress(Int64, of: UInt64)
    case value(Int, of: UInt64)
    case fail(of: UInt64)
    case cancelled(of: UInt64)
    case observe
    case observeNow(Int)
    case unobserve
    case release

    var testDescription: String { "\(self)" }

    func take(on bound: inout Bound) -> Bound.Action {
        switch self {
        case .bind(let request): return bound.bind(request) { _ in nil }
        case .bindNow(let request, let value):
            return bound.bind(request) { $0 == request ? Loaded(value, of: $0) : nil }
        case .reload: return bound.reload()
        case .reloadAs(let variation): return bound.reload(variation)
        case .cancel: return bound.cancel()
        case .prior(let value, let number): bound.receive(.cached(value), of: number)
        case .progress(let count, let number): bound.receive(.progress(received: count, total: nil), of: number)
        case .value(let value, let number): bound.receive(.completed(value), of: number)
        case .fail(let number): bound.receive(.failed(.offline), of: number)
        case .cancelled(let number): bound.receive(.cancelled, of: number)
        case .observe: return bound.beginObserving { _ in nil }
        case .observeNow(let value): return bound.beginObserving { Loaded(value, of: $0) }
        case .unobserve: bound.endObserving()
        case .release: return bound.releaseIfUnobserved()
        }
        return .none
    }
}

private struct Case: CustomTestStringConvertible {
    let name: String
    let steps: [Step]
    /// The states after each step that changes the state.
    let states: [ResourceState<Int>]
    /// The requests to the owner: the request of a new load, or "stop".
    let actions: [String]

    init(_ name: String, _ steps: [Step], states: [ResourceState<Int>], actions: [String]) {
        (self.name, self.steps, self.states, self.actions) = (name, steps, states, actions)
    }

    var testDescription: String { name }
}

@Suite("BoundResource") struct BoundResourceTests {
    @Test(
        "Transitions",
        arguments: [
            Case(
                "I4: a load that succeeds", [.bind("a"), .value(1, of: 1)],
                states: [.loading(prior: nil), .loaded(1)], actions: ["a"]),
            Case(
                "I4: a stored value first", [.bind("a"), .prior(1, of: 1), .value(2, of: 1)],
                states: [.loading(prior: nil), .loading(prior: 1), .loaded(2)], actions: ["a"]),
            Case("I4: a value that is there at once", [.bindNow("a", 1)], states: [.loaded(1)], actions: []),
            Case(
                "I4: a failure without a value", [.bind("a"), .fail(of: 1)],
                states: [.loading(prior: nil), .failed(.offline, prior: nil)], actions: ["a"]),
            Case(
                "I4: a prior value survives a failure, a cancellation and the next load",
                [.bindNow("a", 1), .reload, .fail(of: 1), .reload, .cancel, .reload, .value(2, of: 3)],
                states: [
                    .loaded(1), .loading(prior: 1), .failed(.offline, prior: 1), .loading(prior: 1),
                    .cancelled(prior: 1), .loading(prior: 1), .loaded(2),
                ], actions: ["a", "a", "stop", "a"]),
            Case(
                "I4: a second end changes nothing",
                [.bind("a"), .value(1, of: 1), .value(2, of: 1), .fail(of: 1), .cancelled(of: 1), .prior(3, of: 1)],
                states: [.loading(prior: nil), .loaded(1)], actions: ["a"]),
            Case(
                "I4: what comes after a cancellation changes nothing",
                [.bind("a"), .cancel, .value(1, of: 1), .cancel],
                states: [.loading(prior: nil), .cancelled(prior: nil)], actions: ["a", "stop"]),
            Case(
                "I4, C6: a stored value does not follow one that was loaded",
                [.bind("a"), .value(2, of: 1), .reload, .prior(1, of: 2), .fail(of: 2)],
                states: [.loading(prior: nil), .loaded(2), .loading(prior: 2), .failed(.offline, prior: 2)],
                actions: ["a", "a"]),
            Case("I4: nothing to reload or cancel", [.reload, .cancel, .reloadAs("a")], states: [], actions: []),
            Case(
                "I4: a reload while loading goes on with what is under way, unless it is of something else",
                [.bind("a"), .reload, .reloadAs("a2"), .reloadAs("a2"), .reload, .value(1, of: 1), .value(2, of: 2)],
                states: [.loading(prior: nil), .loaded(2)], actions: ["a", "a2"]),

            Case(
                "I5: the latest bind wins", [.bind("a"), .bind("b"), .value(2, of: 2), .value(1, of: 1)],
                states: [.loading(prior: nil), .loading(prior: nil), .loaded(2)], actions: ["a", "b"]),
            Case(
                "I5: also before it has its value", [.bind("a"), .bind("b"), .value(1, of: 1), .prior(1, of: 1)],
                states: [.loading(prior: nil), .loading(prior: nil)], actions: ["a", "b"]),
            Case(
                "I5: also with a value that is there at once", [.bind("a"), .bindNow("b", 2), .value(1, of: 1)],
                states: [.loading(prior: nil), .loaded(2)], actions: ["a", "stop"]),
            Case(
                "I5: back to the first", [.bind("a"), .bind("b"), .bind("a"), .value(1, of: 1), .value(3, of: 3)],
                states: [.loading(prior: nil), .loading(prior: nil), .loading(prior: nil), .loaded(3)],
                actions: ["a", "b", "a"]),
            Case(
                "I5: the value of another request is no prior value", [.bindNow("a", 1), .bind("b")],
                states: [.loaded(1), .loading(prior: nil)], actions: ["b"]),
            Case(
                "I5: nothing bound is as in the beginning",
                [.bind("a"), .bind(nil), .value(1, of: 1), .bind(nil), .reload],
                states: [.loading(prior: nil), .idle], actions: ["a", "stop"]),
            Case(
                "I5: the same request again", [.bind("a"), .bind("a"), .value(1, of: 1), .bind("a")],
                states: [.loading(prior: nil), .loaded(1)], actions: ["a"]),
            Case(
                "I5: the same request after a failure and a cancellation",
                [.bindNow("a", 1), .reload, .fail(of: 1), .bind("a"), .cancel, .bindNow("a", 2)],
                states: [
                    .loaded(1), .loading(prior: 1), .failed(.offline, prior: 1), .loading(prior: 1),
                    .cancelled(prior: 1), .loaded(2),
                ], actions: ["a", "a", "stop"]),

            Case(
                "I7: a value that nobody looks at goes, and comes back",
                [.bindNow("a", 1), .release, .release, .observe, .value(2, of: 1)],
                states: [.loaded(1), .released, .loading(prior: nil), .loaded(2)], actions: ["a"]),
            Case(
                "I7: it comes back at once", [.bindNow("a", 1), .release, .observeNow(1)],
                states: [.loaded(1), .released, .loaded(1)], actions: []),
            Case(
                "I7: a value that somebody looks at stays",
                [.observe, .observe, .bindNow("a", 1), .release, .unobserve, .release, .unobserve, .release],
                states: [.loaded(1), .released], actions: []),
            Case(
                "I7: a load with a prior value is stopped, and begins again",
                [.bindNow("a", 1), .reload, .release, .value(2, of: 1), .observe],
                states: [.loaded(1), .loading(prior: 1), .released, .loading(prior: nil)], actions: ["a", "stop", "a"]),
            Case(
                "I7: a load without a value goes on", [.bind("a"), .release, .value(1, of: 1)],
                states: [.loading(prior: nil), .loaded(1)], actions: ["a"]),
            Case(
                "I7: where there is no value there is nothing to let go of",
                [.release, .bind("a"), .fail(of: 1), .release, .observe],
                states: [.loading(prior: nil), .failed(.offline, prior: nil)], actions: ["a"]),
            Case(
                "I7: a prior value goes as well", [.bindNow("a", 1), .reload, .fail(of: 1), .release],
                states: [.loaded(1), .loading(prior: 1), .failed(.offline, prior: 1), .released], actions: ["a"]),
            Case(
                "I7: bound or loaded again, it is there without observers, too",
                [.bindNow("a", 1), .release, .bindNow("a", 2), .release, .reload, .value(3, of: 1)],
                states: [.loaded(1), .released, .loaded(2), .released, .loading(prior: nil), .loaded(3)], actions: ["a"]
            ),
        ])
    private func transitions(_ c: Case) {
        var bound = Bound()
        var states: [ResourceState<Int>] = []
        var actions: [String] = []
        for step in c.steps {
            let before = bound.transitions
            switch step.take(on: &bound) {
            case .none: break
            case .stop: actions.append("stop")
            case .begin(let request, _): actions.append(request)
            }
            #expect(bound.transitions - before <= 1, "\(step) is one change at most")
            if bound.transitions != before { states.append(bound.state.map(\.value)) }
        }
        #expect(states == c.states)
        #expect(actions == c.actions)
    }

    @Test(
        "In any order, only the latest load counts, one load runs while loading, and no event loses a value",
        .requirement("I4", "I5"))
    func anyOrder() {
        var generator = SeededGenerator()
        let failure = "\(generator)"
        for _ in 0..<300 {
            var bound = Bound()
            var underWay: UInt64?
            var last: UInt64 = 0
            for value in 1..<60 {
                let number = UInt64.random(in: 0...last, using: &generator)
                let request = ["a", "b"].randomElement(using: &generator) ?? "a"
                let steps: [Step] = [
                    .bind(request), .bindNow(request, value), .bind(nil), .reload, .reloadAs(request + "'"), .cancel,
                    .prior(value, of: number), .value(value, of: number), .fail(of: number), .cancelled(of: number),
                    .value(value, of: last), .progress(Int64(value), of: number), .observe,
                    bound.observers > 0 ? .unobserve : .observeNow(value), .release,
                ]
                guard let step = steps.randomElement(using: &generator) else { continue }
                let (before, lastBefore) = (bound, last)
                switch step.take(on: &bound) {
                case .none:
                    if !bound.state.isLoading { underWay = nil }
                case .stop:
                    #expect(underWay != nil, "\(step) stops nothing; \(failure)")
                    underWay = nil
                case .begin(_, let number):
                    #expect(number == last + 1, "\(step); \(failure)")
                    (underWay, last) = (number, number)
                }
                #expect(bound.state.isLoading == (underWay != nil), "\(step); \(failure)")
                #expect(bound.state.isLoading || bound.progress == nil, "\(step); \(failure)")
                let changes = bound.transitions - before.transitions
                #expect(
                    changes == 1 || changes == 0 && bound.state.map(\.value) == before.state.map(\.value),
                    "\(step); \(failure)")
                switch step {
                case .prior(_, let number), .value(_, let number), .progress(_, let number), .fail(let number),
                    .cancelled(let number):
                    let isHeard = number == lastBefore && before.state.isLoading
                    #expect(isHeard || changes == 0, "\(step) is of an earlier load; \(failure)")
                    #expect(before.state.value == nil || bound.state.value != nil, "\(step); \(failure)")
                case .reload, .reloadAs, .cancel, .observe, .unobserve:
                    #expect(bound.state.value?.value == before.state.value?.value, "\(step) loses a value; \(failure)")
                case .bind, .bindNow, .observeNow, .release: break
                }
            }
        }
    }

    @Test("The progress belongs to the latest load while it runs, and is not a transition")
    func progress() {
        var bound = Bound()
        var log: [Int64?] = []
        let steps: [Step] = [
            .bind("a"), .progress(1, of: 1), .prior(1, of: 1), .progress(2, of: 1),
            .reloadAs("a2"), .progress(3, of: 1), .progress(4, of: 2), .value(2, of: 2), .progress(5, of: 2),
            .reload, .progress(6, of: 3), .fail(of: 3), .reload, .progress(7, of: 4), .cancel,
            .bind("b"), .progress(8, of: 5), .bind("c"), .progress(9, of: 6), .bindNow("d", 1),
        ]
        for step in steps {
            let before = bound.transitions
            _ = step.take(on: &bound)
            if case .progress = step { #expect(bound.transitions == before) }
            log.append(bound.progress?.received)
        }
        #expect(log == [nil, 1, 1, 2, nil, nil, 4, nil, nil, nil, 6, nil, nil, 7, nil, nil, 8, nil, 9, nil])
    }

    @Test("The revision changes only with the value", .requirement("I6"))
    func revision() {
        var bound = Bound()
        var revisions: [UInt64] = []
        let steps: [Step] = [
            .bind("a"), .prior(1, of: 1), .value(2, of: 1), .reload, .fail(of: 2), .reload, .cancel, .bind("b"),
            .fail(of: 4), .bindNow("c", 3), .bindNow("d", 3), .release, .bind(nil),
        ]
        for step in steps {
            _ = step.take(on: &bound)
            revisions.append(bound.revision)
        }
        #expect(revisions == [0, 1, 2, 2, 2, 2, 2, 3, 3, 4, 5, 6, 6])
    }
}
