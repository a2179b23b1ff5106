package import CacheLoader

/// The bound request of a resource, the state and the progress of its load, and the number of observers. A state
/// machine: each method returns the action that its owner has to take. Only the latest load counts. Events of an
/// earlier load, and a second end of the same load, change nothing.
package struct BoundResource<Request: Equatable & Sendable, Output: Sendable>: Sendable {
    package typealias Number = UInt64
    package typealias Value = Loaded<Output>

    /// The action that the owner has to take.
    package enum Action {
        case none
        case stop
        /// Begin a load in place of the current one, if any. Pass its events to ``receive(_:of:)``.
        case begin(Request, Number)
    }

    package private(set) var state = ResourceState<Value>.idle
    package private(set) var request: Request?
    /// The part of the body that has arrived, while a load is receiving a body.
    package private(set) var progress: LoadProgress?
    /// The number of state changes.
    package private(set) var transitions: UInt64 = 0
    /// The number of times that a value arrived or was dropped.
    package private(set) var revision: UInt64 = 0
    /// Whether the value was available immediately, without a load.
    private(set) var cameAtOnce = false
    package private(set) var observers = 0

    /// The request being loaded: the bound one or a variation of it.
    private var underWay: Request?
    private var lastNumber: Number = 0

    package init() {}

    // MARK: Requests

    /// Binds a request. A new request drops the former value. The same request changes nothing while it is loading or
    /// loaded. `now` returns the value if it is available immediately and needs no load.
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

    /// Loads the bound request again, or `variation` in its place. A current load of the same request continues.
    package mutating func reload(_ variation: Request? = nil) -> Action {
        guard let request else { return .none }
        guard state.isLoading else { return begin(variation ?? request, prior: state.value) }
        guard let variation, variation != underWay else { return .none }
        return number(variation)
    }

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
        progress = nil
        return .begin(request, lastNumber)
    }

    private var stop: Action { state.isLoading ? .stop : .none }

    // MARK: Events

    package mutating func receive(_ event: LoadEvent<Output>, of number: Number) {
        guard number == lastNumber, case .loading(let prior) = state else { return }
        switch event {
        case .cached(let value):
            // A stored value never replaces the value of a completed load.
            if prior == nil { become(.loading(prior: value), hasArrived: true) }
        // Progress is not a transition.
        case .progress(let received, let total): progress = LoadProgress(received: received, total: total)
        case .completed(let value): become(.loaded(value), hasArrived: true)
        case .failed(let error): become(.failed(error, prior: prior))
        case .cancelled: become(.cancelled(prior: prior))
        case .requesting, .retrying, .storeFailed: break
        }
    }

    // MARK: Observers

    /// Adds a lease: an observer that needs the value. Loads the request unless its value is loaded or loading.
    package mutating func acquire(_ request: Request, now: (Request) -> Value?) -> Action {
        observers += 1
        return bind(request, now: now)
    }

    /// Removes a lease. Removing the last one cancels the current load, but keeps a loaded value.
    package mutating func release() throws(LeaseError) -> Action {
        guard observers > 0 else { throw .notAcquired }
        endObserving()
        return observers == 0 ? cancel() : .none
    }

    /// Adds an observer. Loads a released value again.
    package mutating func beginObserving(now: (Request) -> Value?) -> Action {
        observers += 1
        guard case .released = state, let request else { return .none }
        return start(request, prior: nil, now: now)
    }

    package mutating func endObserving() {
        precondition(observers > 0, "an observer ends that has not begun")
        observers -= 1
    }

    /// Responds to memory pressure: releases the value, even a prior one, if there are no observers. A load without a
    /// value continues.
    package mutating func releaseIfUnobserved() -> Action {
        guard observers == 0, state.value != nil else { return .none }
        let action = stop
        become(.released)
        return action
    }

    private mutating func become(_ next: ResourceState<Value>, hasArrived: Bool = false) {
        if hasArrived || (state.value == nil) != (next.value == nil) { revision += 1 }
        if hasArrived { cameAtOnce = false }
        if !next.isLoading { progress = nil }
        transitions += 1
        state = next
    }
}
