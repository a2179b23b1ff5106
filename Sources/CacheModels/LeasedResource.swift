public import CacheFoundation
public import CacheLoader
internal import Synchronization

/// A load that several parts of a program share, and that lasts while one of them holds a lease.
///
/// ```swift
/// let catalogue = LeasedResource(ResourceRequest("https://example.com/catalogue.json"), loader: loader)
///
/// catalogue.acquire()                      // the first lease begins the load
/// for await state in catalogue.states() { … }
/// try catalogue.release()                  // without leases, the current load is cancelled
/// ```
///
/// ``withValue(_:)`` loads the value and holds a lease while a closure uses it.
///
/// A loaded value stays without leases until memory is short: a signal of the loader's
/// ``/CacheLoader/ResourceLoader/Configuration/memoryPressure`` then drops it. After that, and after a cancellation or
/// a failure, the next ``acquire()`` loads it again. May be used from any thread. The resource retains its loader.
/// Releasing the resource ends its wait for the load.
public final class LeasedResource<Output: Sendable>: Sendable {
    private typealias Model = ResourceModel<Output>
    private typealias Bound = Model.Bound

    /// The request to load.
    public let request: ResourceRequest

    /// Guards the leases, the state and the readers. States are queued under the lock, so that each reader receives
    /// every state, in order. After unlocking, the queue is delivered and tasks are cancelled.
    private let guarded = Mutex(Model())

    private let begin: @Sendable (ResourceRequest) -> AsyncStream<LoadEvent<Output>>
    private let now: @Sendable (ResourceRequest) -> Loaded<Output>?

    /// The resource reads the events of `begin` to the end; releasing the sequence cancels the load. `now` returns the
    /// value if it is available without waiting and needs no load. Signals of `pressure` drop a value without leases.
    package init(
        _ request: ResourceRequest,
        begin: @escaping @Sendable (ResourceRequest) -> AsyncStream<LoadEvent<Output>>,
        now: @escaping @Sendable (ResourceRequest) -> Loaded<Output>? = { _ in nil },
        pressure: MemoryPressureSource? = nil
    ) {
        self.request = request
        self.begin = begin
        self.now = now
        let observation = pressure?.observe { [weak self] _ in self?.releaseIfUnobserved() }
        guarded.withLock { $0.pressure = observation }
    }

    deinit {
        let model = guarded.withLock { $0 }
        model.end()
    }

    // MARK: Leases

    /// Adds a lease, which ``release()`` ends. Loads the request unless its value is loaded or loading.
    public func acquire() {
        // Call `now` before locking: no user code runs under the lock.
        let value = guarded.withLock({ $0.bound.state.value }) == nil ? now(request) : nil
        apply { $0.acquire(request) { _ in value } }
    }

    /// Removes a lease. Removing the last one cancels the current load.
    ///
    /// - Throws: ``LeaseError/notAcquired``; the resource is then unchanged.
    public func release() throws(LeaseError) {
        try apply { bound throws(LeaseError) in try bound.release() }
    }

    /// Loads the value, and runs `body` with it. Holds a lease during both, so that the value stays.
    ///
    /// ```swift
    /// let count = try await catalogue.withValue { catalogue in try await index(catalogue) }
    /// ```
    ///
    /// Returns the result of `body`, which runs where the caller runs. Cancelling the calling task ends the wait for
    /// the value immediately.
    ///
    /// - Throws: The ``/CacheLoader/LoadError`` of the load, or the error of `body`.
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
        guarded.withLock { model in
            model.readers.add(model.bound.state) { [weak self] id in
                self?.guarded.withLock { $0.readers.remove(id) }
            }
        }
    }

    // MARK: Transitions

    private func apply<Failure: Error>(
        _ change: (inout Bound) throws(Failure) -> Bound.Action
    ) throws(Failure) {
        let changed = try guarded.withLock { model throws(Failure) -> Model.Change in
            try model.apply(change) { load($0, $1) }
        }
        changed.complete()
    }

    private func load(_ request: ResourceRequest, _ number: Bound.Number) -> Task<Void, Never> {
        // Called under the lock: the task calls `begin` later.
        Task { [weak self, begin] in
            guard !Task.isCancelled else { return }
            await Model.read(begin(request)) { event in
                self?.apply { bound in
                    bound.receive(event, of: number)
                    return .none
                }
            }
        }
    }
}

extension LeasedResource where Output == Data {
    /// Creates a resource that `loader` loads when it is acquired.
    public convenience init(_ request: ResourceRequest, loader: ResourceLoader) {
        self.init(request, loader: loader, as: DataProcessor())
    }
}

extension LeasedResource {
    /// Creates a resource that `loader` loads when it is acquired. `processor` makes the value from the bytes.
    ///
    /// A value in the loader's memory is available immediately.
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
