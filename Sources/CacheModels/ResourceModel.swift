internal import CacheLoader

/// A bound resource with the task of its load and the readers of its states: the common part of ``LeasedResource`` and
/// ``ObservedResource``. The owner guards it with a lock or with an actor.
///
/// The module `CacheModels` has resources for views, observed or leased, and their common state machine. The module may
/// use the loader, its events and processing plans, and memory pressure. The module knows no store and no transport.
struct ResourceModel<Output: Sendable>: Sendable {
    typealias Bound = BoundResource<ResourceRequest, Output>
    typealias State = ResourceState<Loaded<Output>>

    /// A change whose effects the owner completes after unlocking.
    struct Change: Sendable {
        let isTransition: Bool
        /// Retained until the owner has unlocked: releasing a value may run user code.
        fileprivate let formerState: State
        fileprivate let formerTask: Task<Void, Never>?
        fileprivate let deliveries: DeliveryQueue<State>

        /// Delivers the states to their readers, and cancels the former load. Must not be called under a lock.
        func complete() {
            deliveries.deliver()
            formerTask?.cancel()
        }
    }

    private(set) var bound = Bound()
    private var task: Task<Void, Never>?
    var readers = StateReaders<State>()
    /// Ends the signals of memory pressure when the owner is released.
    var pressure: MemoryPressureSource.Observation?

    /// Changes the resource, and queues a new state for the readers. Calls `load` before the former load is cancelled:
    /// a transfer that both share must not be abandoned.
    mutating func apply<Failure: Error>(
        _ change: (inout Bound) throws(Failure) -> Bound.Action,
        load: (ResourceRequest, Bound.Number) -> Task<Void, Never>
    ) throws(Failure) -> Change {
        let (formerState, transitions) = (bound.state, bound.transitions)
        var formerTask: Task<Void, Never>?
        switch try change(&bound) {
        case .none: break
        case .stop:
            formerTask = task
            task = nil
        case .begin(let request, let number):
            formerTask = task
            task = load(request, number)
        }
        let isTransition = bound.transitions != transitions
        if isTransition { readers.notify(bound.state) }
        return Change(
            isTransition: isTransition, formerState: formerState, formerTask: formerTask,
            deliveries: readers.deliveries)
    }

    /// Passes the events of a load to `receive`.
    static func read(_ events: AsyncStream<LoadEvent<Output>>, _ receive: (LoadEvent<Output>) -> Void) async {
        for await event in events { receive(event) }
        // The stream may end without a final event: end the load, so that no reader waits for one.
        receive(.cancelled)
    }

    /// Ends the load and all streams, when the owner is released. Must not be called under a lock.
    func end() {
        task?.cancel()
        readers.finish()
        readers.deliveries.deliver()
    }
}
