public import CacheFoundation
internal import HTTPCaching
internal import Synchronization

/// A load that several parts of a program share, and that lasts while one of them holds a lease.
///
/// ```swift
/// let catalogue = LeasedResource(ResourceRequest("https://example.com/catalogue.json"), loader: loader)
///
/// catalogue.acquire()                      // the first lease begins the load
/// for await state in catalogue.states() { … }
/// try catalogue.release()                  // without leases, a load under way is cancelled
/// ```
///
/// ``withValue(_:)`` loads the value and holds a lease while a closure uses it.
///
/// A loaded value stays without leases until memory is short: a signal of the loader's
/// ``ResourceLoader/Configuration/memoryPressure`` then drops it. After that, and after a cancellation or a failure, the
/// next ``acquire()`` loads it again. May be used from any thread. The resource retains its loader. Releasing the
/// resource ends its wait for the load.
public final class LeasedResource<Output: Sendable>: Sendable {
    private typealias Bound = BoundResource<ResourceRequest, Loaded<Output>>

    /// The state and the task before a transition.
    private typealias Former = (state: ResourceState<Loaded<Output>>, task: Task<Void, Never>?)

    private struct Guarded {
        var bound = Bound()
        var task: Task<Void, Never>?
        var readers: StateReaders<ResourceState<Loaded<Output>>>
        /// Ends the signals of memory pressure when the resource is released.
        var pressure: MemoryPressureSource.Observation?
    }

    /// The request to load.
    public let request: ResourceRequest

    /// Guards the leases, the state and the readers. Events are queued under the lock, so that each reader receives
    /// every state, in order. After unlocking, the queue is delivered and tasks are cancelled.
    private let guarded: Mutex<Guarded>
    private let deliveries: StateReaders<ResourceState<Loaded<Output>>>.DeliveryQueue

    private let begin: @Sendable (ResourceRequest) -> AsyncStream<LoadEvent<Output>>
    private let now: @Sendable (ResourceRequest) -> Loaded<Output>?

    /// - Parameters:
    ///   - begin: Begins a load. The resource reads its events to the end; releasing the sequence cancels the load.
    ///   - now: Returns the value if it is available without waiting and needs no load.
    ///   - pressure: Signals that drop a value without leases; `nil` for none.
    package init(
        _ request: ResourceRequest,
        begin: @escaping @Sendable (ResourceRequest) -> AsyncStream<LoadEvent<Output>>,
        now: @escaping @Sendable (ResourceRequest) -> Loaded<Output>? = { _ in nil },
        pressure: MemoryPressureSource? = nil
    ) {
        self.request = request
        self.begin = begin
        self.now = now
        let deliveries = StateReaders<ResourceState<Loaded<Output>>>.DeliveryQueue()
        self.deliveries = deliveries
        guarded = Mutex(Guarded(readers: StateReaders(deliveries)))
        let observation = pressure?.observe { [weak self] _ in self?.releaseIfUnobserved() }
        guarded.withLock { $0.pressure = observation }
    }

    deinit {
        let (task, readers) = guarded.withLock { ($0.task, $0.readers) }
        task?.cancel()
        readers.finish()
        readers.deliver()
    }

    // MARK: Leases

    /// Adds a lease, which ``release()`` ends. Loads the request unless its value is loaded or loading.
    public func acquire() {
        // Call `now` before locking: no user code runs under the lock.
        let value = guarded.withLock({ $0.bound.state.value }) == nil ? now(request) : nil
        apply { $0.acquire(request) { _ in value } }
    }

    /// Removes a lease. Removing the last one cancels a load under way.
    ///
    /// - Throws: ``LeaseError/notAcquired``; the resource is then unchanged.
    public func release() throws(LeaseError) {
        try apply { bound throws(LeaseError) in try bound.release() }
    }

    /// Loads the value, and runs `body` with it. Holds a lease meanwhile, so that the value stays.
    ///
    /// ```swift
    /// let count = try await catalogue.withValue { catalogue in try await index(catalogue) }
    /// ```
    ///
    /// Returns the result of `body`, which runs where the caller runs. Cancelling the calling task ends the wait for
    /// the value at once.
    ///
    /// - Throws: The ``LoadError`` of the load, or the error of `body`.
    public func withValue<Result>(_ body: (Output) async throws -> Result) async throws -> Result {
        acquire()
        defer { try? release() }
        return try await body(try await loadedValue())
    }

    private func loadedValue() async throws(LoadError) -> Output {
        for await state in states() {
            switch state {
            case .loaded(let loaded): return loaded.value
            case .failed(let error, _): throw error
            case .cancelled: throw .cancelled
            case .idle, .loading, .released: break
            }
        }
        // The calling task was cancelled.
        throw .cancelled
    }

    /// Drops the value if there are no leases.
    private func releaseIfUnobserved() {
        apply { $0.releaseIfUnobserved() }
    }

    /// The number of leases.
    public var leases: Int { guarded.withLock { $0.bound.observers } }

    // MARK: State

    /// The state of the load.
    public var state: ResourceState<Loaded<Output>> { guarded.withLock { $0.bound.state } }

    /// The value. A prior value counts until a newer one replaces it.
    public var value: Output? { state.value?.value }

    /// Returns a stream of every state from now on, in order, beginning with the current one. The stream ends when the
    /// resource is released. Reading it does not count as a lease.
    public func states() -> AsyncStream<ResourceState<Loaded<Output>>> {
        guarded.withLock { guarded in
            guarded.readers.add(guarded.bound.state) { [weak self] id in
                self?.guarded.withLock { $0.readers.remove(id) }
            }
        }
    }

    // MARK: Transitions

    private func apply<Failure: Error>(
        _ change: (inout Bound) throws(Failure) -> Bound.Action
    ) throws(Failure) {
        // Return the former state, so that its value is released outside the lock.
        let last = try guarded.withLock { guarded throws(Failure) -> Former in
            let state = guarded.bound.state
            let before = guarded.bound.transitions
            let action = try change(&guarded.bound)
            if guarded.bound.transitions != before {
                guarded.readers.notify(guarded.bound.state)
            }
            let task = guarded.task
            switch action {
            case .none: return (state, nil)
            case .stop: guarded.task = nil
            case .begin(let request, let number): guarded.task = load(request, number)
            }
            return (state, task)
        }
        deliveries.deliver()
        last.task?.cancel()
    }

    private func load(_ request: ResourceRequest, _ number: Bound.Number) -> Task<Void, Never> {
        Task { [weak self, begin] in
            guard !Task.isCancelled else { return }
            for await event in begin(request) {
                guard let event = Bound.Event(event) else { continue }
                self?.receive(event, of: number)
            }
            // The stream may end without a final event: end the load, so that no reader waits for one.
            self?.receive(.cancelled, of: number)
        }
    }

    private func receive(_ event: Bound.Event, of number: Bound.Number) {
        _ = guarded.withLock { guarded in
            let last = guarded.bound.state
            let before = guarded.bound.transitions
            guarded.bound.receive(event, of: number)
            if guarded.bound.transitions != before {
                guarded.readers.notify(guarded.bound.state)
            }
            // Return the former state, so that its value is released outside the lock.
            return last
        }
        deliveries.deliver()
    }
}

extension LeasedResource where Output == Data {
    /// Creates a resource that `loader` loads when it is acquired.
    public convenience init(_ request: ResourceRequest, loader: ResourceLoader) {
        self.init(request, loader, .bytes)
    }
}

extension LeasedResource {
    /// Creates a resource that `loader` loads when it is acquired. `processor` makes the value from the bytes.
    ///
    /// A value in the loader's memory is available at once.
    public convenience init(
        _ request: ResourceRequest, loader: ResourceLoader, as processor: some Processor<Data, Output>
    ) {
        self.init(request, loader, ProcessingPlan(processor))
    }

    private convenience init(_ request: ResourceRequest, _ loader: ResourceLoader, _ plan: ProcessingPlan) {
        self.init(
            request, begin: { loader.events(for: $0, plan, deliversStale: true) },
            now: { loader.valueInMemory(for: $0, plan) }, pressure: loader.configuration.memoryPressure)
    }
}

/// An incorrect use of a ``LeasedResource``.
@nonexhaustive
public enum LeaseError: Error, Hashable, Sendable {
    /// The resource was released more often than it was acquired.
    case notAcquired
}

extension LeaseError: CustomStringConvertible {
    /// A description of the error.
    public var description: String {
        switch self {
        case .notAcquired: "the resource was released more often than it was acquired"
        }
    }
}
