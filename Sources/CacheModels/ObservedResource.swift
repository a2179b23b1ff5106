public import CacheFoundation
public import CacheLoader
public import Observation

/// A resource for a view: it is bound to a request and publishes the state of that request.
///
/// ```swift
/// struct Portrait: View {
///     let url: String
///     @State private var image: ObservedResource<Data>
///
///     var body: some View {
///         Picture(image.presentation)
///             .task(id: url) {
///                 image.bind(ResourceRequest(url))
///                 for await _ in image.states() {}     // observes while the view exists
///             }
///     }
/// }
/// ```
///
/// The latest bound request wins: events of an earlier request change nothing. Each transition is one change. A value
/// stays when its renewal fails. The resource retains its loader. Releasing the resource ends its wait for the load.
///
/// A signal of the loader's ``/CacheLoader/ResourceLoader/Configuration/memoryPressure`` releases the value if the
/// resource has no observers. The request stays bound; the next observer loads it again: from memory, from disk or from
/// its origin. Reading a property does not count as observing, since its end cannot be detected. A view observes
/// explicitly: as above, or with ``beginObserving()`` and ``endObserving()``.
@MainActor @Observable
public final class ObservedResource<Output: Sendable> {
    private typealias Model = ResourceModel<Output>
    private typealias Bound = Model.Bound

    private struct Snapshot {
        let bound: Bound
        let placeholder: Output?
    }

    /// All observable state but the progress, in one property, so that a transition is one change.
    private var snapshot: Snapshot

    /// The part of the body that has arrived, while a load is receiving a body.
    public private(set) var progress: LoadProgress?

    @ObservationIgnored private var model = Model()
    @ObservationIgnored private var shownPlaceholder: Output?
    /// Changes not yet published: an observer of one change may make another.
    @ObservationIgnored private var unpublished: [(snapshot: Snapshot, isTransition: Bool)] = []
    @ObservationIgnored private var isPublishing = false

    private let begin: @MainActor (ResourceRequest) -> AsyncStream<LoadEvent<Output>>
    private let now: @MainActor (ResourceRequest) -> Loaded<Output>?

    /// The resource reads the events of `begin` to the end; releasing the sequence cancels the load. `now` returns the
    /// value if it is available without waiting and needs no load. Signals of `pressure` release a value without
    /// observers.
    package init(
        begin: @escaping @MainActor (ResourceRequest) -> AsyncStream<LoadEvent<Output>>,
        now: @escaping @MainActor (ResourceRequest) -> Loaded<Output>? = { _ in nil },
        pressure: MemoryPressureSource? = nil
    ) {
        self.begin = begin
        self.now = now
        snapshot = Snapshot(bound: Bound(), placeholder: nil)
        model.pressure = pressure?.observe { [weak self] _ in
            Task { @MainActor in self?.releaseIfUnobserved() }
        }
    }

    deinit {
        model.end()
    }

    // MARK: State

    /// The bound request.
    public var request: ResourceRequest? { snapshot.bound.request }

    /// The state of the bound request.
    public var state: ResourceState<Loaded<Output>> { snapshot.bound.state }

    /// The value. A prior value counts until a newer one replaces it.
    public var value: Output? { state.value?.value }

    /// The content that a view shows.
    public var presentation: ResourcePresentation<Output> {
        ResourcePresentation(snapshot.bound, placeholder: snapshot.placeholder)
    }

    /// The content to show while there is no value, or `nil`, the default, for nothing. While there is a value, a
    /// change of the placeholder is not visible.
    public var placeholder: Output? {
        get { shownPlaceholder }
        set {
            shownPlaceholder = newValue
            guard model.bound.state.value == nil else { return }
            publish(isTransition: true)
        }
    }

    /// Returns a stream of every state from now on, in order, beginning with the current one. The stream ends when the
    /// resource is released.
    ///
    /// The stream counts as an observer, so a released value is loaded again. Shortly after the sequence is released or
    /// its reading task is cancelled, it no longer counts.
    public func states() -> AsyncStream<ResourceState<Loaded<Output>>> {
        beginObserving()
        return model.readers.add(model.bound.state) { [weak self] id in
            Task { @MainActor [weak self] in self?.removeReader(id) }
        }
    }

    // MARK: Requests

    /// Binds a request and begins to load it. `nil` binds none and restores the placeholder.
    ///
    /// The resource drops the value of the former request, and no longer waits for its load
    /// (``/CacheLoader/ResourceRequest/abandonment``). Binding the same request again changes nothing while it is
    /// loading or loaded. Otherwise the resource loads it again.
    public func bind(_ request: ResourceRequest?) {
        apply { $0.bind(request, now: now) }
    }

    /// Loads the bound request again. The value stays until a new one arrives. A current load continues. Does nothing
    /// without a bound request.
    ///
    /// - Parameter policy: Changes properties of the policy of the request for this load, for example to validate with
    ///   the origin. If the policy of the current load differs, a new load replaces it.
    public func reload(policy: CachePolicy.Override? = nil) {
        var variation: ResourceRequest?
        if let policy, var request = model.bound.request {
            request.policy = request.policy.applying(policy)
            variation = request
        }
        apply { $0.reload(variation) }
    }

    /// Stops waiting for the current load. A prior value stays.
    public func cancel() {
        apply { $0.cancel() }
    }

    // MARK: Observers

    /// Adds an observer. Loads a released value again.
    public func beginObserving() {
        apply { $0.beginObserving(now: now) }
    }

    /// Removes an observer. A call without a matching ``beginObserving()`` is a programmer's mistake.
    public func endObserving() {
        apply { bound in
            bound.endObserving()
            return .none
        }
    }

    package var observers: Int { model.bound.observers }

    private func releaseIfUnobserved() {
        apply { $0.releaseIfUnobserved() }
    }

    private func removeReader(_ id: UInt64) {
        model.readers.remove(id)
        endObserving()
    }

    // MARK: Transitions

    private func apply(_ change: (inout Bound) -> Bound.Action) {
        let changed = model.apply(change) { load($0, $1) }
        publish(isTransition: changed.isTransition)
        changed.complete()
    }

    private func load(_ request: ResourceRequest, _ number: Bound.Number) -> Task<Void, Never> {
        let events = begin(request)
        return Task { [weak self] in
            await Model.read(events) { event in
                self?.apply { bound in
                    bound.receive(event, of: number)
                    return .none
                }
            }
        }
    }

    /// `isTransition` tells whether more than the progress may have changed.
    private func publish(isTransition: Bool) {
        unpublished.append((Snapshot(bound: model.bound, placeholder: shownPlaceholder), isTransition))
        guard !isPublishing else { return }
        isPublishing = true
        defer { isPublishing = false }
        while !unpublished.isEmpty {
            let next = unpublished.removeFirst()
            let arrived = next.snapshot.bound.progress
            if progress != arrived { progress = arrived }
            if next.isTransition { snapshot = next.snapshot }
        }
    }
}

extension ObservedResource where Output == Data {
    /// Creates a resource that `loader` loads, bound to no request.
    public convenience init(loader: ResourceLoader) {
        self.init(loader: loader, as: DataProcessor())
    }
}

extension ObservedResource {
    /// Creates a resource that `loader` loads, bound to no request. `processor` makes the value from the bytes.
    ///
    /// A value in the loader's memory is available immediately.
    public convenience init(loader: ResourceLoader, as processor: some Processor<Data, Output>) {
        self.init(loader, ProcessingPlan(processor))
    }

    private convenience init(_ loader: ResourceLoader, _ plan: ProcessingPlan) {
        self.init(
            begin: { loader.events(for: $0, plan, deliversStale: true) },
            now: { loader.valueInMemory(for: $0, plan) }, pressure: loader.configuration.memoryPressure)
    }
}
