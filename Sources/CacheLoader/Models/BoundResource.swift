package import HTTPCaching

/// What is bound, how its load stands, and who looks at it. Pure: each method says what its owner has to do.
///
/// There is one load at a time, the latest. Whatever an earlier one has to tell changes nothing, nor does a second end.
package struct BoundResource<Request: Equatable & Sendable, Value: Sendable>: Sendable {
    /// Names a load.
    package typealias Number = UInt64

    /// What the owner has to do.
    package enum Action {
        case none
        /// Stop the load under way.
        case stop
        /// Begin a load, in place of any under way. What it has to tell is given to ``receive(_:of:)``.
        case begin(Request, Number)
    }

    /// What a load has to tell.
    package enum Event: Sendable {
        /// A stored value, which is not fresh any more.
        case prior(Value)
        case value(Value)
        case failed(LoadError)
        case cancelled
    }

    package private(set) var state = ResourceState<Value>.idle
    package private(set) var request: Request?
    /// How often the state has changed.
    package private(set) var transitions: UInt64 = 0
    /// How often a value came or went.
    package private(set) var revision: UInt64 = 0
    /// Whether the value was there when it was asked for.
    package private(set) var cameAtOnce = false
    /// How many look at it.
    package private(set) var observers = 0

    /// What is being loaded: the request, or a variation of it.
    private var underWay: Request?
    private var lastNumber: Number = 0

    package init() {}

    // MARK: The program

    /// Another request is bound: the value of the one before goes. Nothing changes if it is the same, and its value there
    /// or on its way.
    ///
    /// - Parameter now: The value, if it can be had at once and need not be asked for.
    package mutating func bind(_ request: Request?, now: (Request) -> Value?) -> Action {
        guard let request else { return reset() }
        guard request == self.request else {
            self.request = request
            return start(request, prior: nil, now: now)
        }
        switch state {
        case .loading, .loaded: return .none
        case .idle, .failed, .cancelled, .released: return start(request, prior: state.value, now: now)
        }
    }

    /// The bound request is loaded again, or `variation` in its place. A load of the same that is under way goes on.
    package mutating func reload(_ variation: Request? = nil) -> Action {
        guard let request else { return .none }
        guard state.isLoading else { return begin(variation ?? request, prior: state.value) }
        guard let variation, variation != underWay else { return .none }
        return number(variation)
    }

    /// The load under way is not wanted any more.
    package mutating func cancel() -> Action {
        guard case .loading(let prior) = state else { return .none }
        become(.cancelled(prior: prior))
        return .stop
    }

    private mutating func reset() -> Action {
        guard request != nil else { return .none }
        let action = stop
        request = nil
        become(.idle)
        return action
    }

    private mutating func start(_ request: Request, prior: Value?, now: (Request) -> Value?) -> Action {
        guard let value = now(request) else { return begin(request, prior: prior) }
        let action = stop
        become(.loaded(value), hasArrived: true)
        cameAtOnce = true
        return action
    }

    private mutating func begin(_ request: Request, prior: Value?) -> Action {
        become(.loading(prior: prior))
        return number(request)
    }

    private mutating func number(_ request: Request) -> Action {
        lastNumber += 1
        underWay = request
        return .begin(request, lastNumber)
    }

    private var stop: Action { state.isLoading ? .stop : .none }

    // MARK: The load

    /// A load has something to tell.
    package mutating func receive(_ event: Event, of number: Number) {
        guard number == lastNumber, case .loading(let prior) = state else { return }
        switch event {
        case .prior(let value):
            // A stored value never follows one that a load has ended with.
            if prior == nil { become(.loading(prior: value), hasArrived: true) }
        case .value(let value): become(.loaded(value), hasArrived: true)
        case .failed(let error): become(.failed(error, prior: prior))
        case .cancelled: become(.cancelled(prior: prior))
        }
    }

    // MARK: Those who look at it

    /// One more looks at it: a value that was let go of is loaded again.
    package mutating func beginObserving(now: (Request) -> Value?) -> Action {
        observers += 1
        guard case .released = state, let request else { return .none }
        return start(request, prior: nil, now: now)
    }

    /// One less looks at it.
    package mutating func endObserving() {
        precondition(observers > 0, "an observer ends that has not begun")
        observers -= 1
    }

    /// Lets go of the value, prior ones included, if nobody looks at it. A load without a value goes on.
    package mutating func releaseIfUnobserved() -> Action {
        guard observers == 0, state.value != nil else { return .none }
        let action = stop
        become(.released)
        return action
    }

    private mutating func become(_ next: ResourceState<Value>, hasArrived: Bool = false) {
        if hasArrived || (state.value == nil) != (next.value == nil) { revision += 1 }
        if hasArrived { cameAtOnce = false }
        transitions += 1
        state = next
    }
}

extension BoundResource.Event {
    /// What of an event changes a state.
    init?<Output>(_ event: LoadEvent<Output>) where Value == Loaded<Output> {
        switch event {
        case .cached(let loaded): self = .prior(loaded)
        case .completed(let loaded): self = .value(loaded)
        case .failed(let error): self = .failed(error)
        case .cancelled: self = .cancelled
        case .requesting, .progress, .retrying, .storeFailed: return nil
        }
    }
}
