public import CacheFoundation
public import HTTPCaching
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
/// A signal of the loader's ``ResourceLoader/Configuration/memoryPressure`` releases the value if the resource has no
/// observers. The request stays bound; the next observer loads it again: from memory, from disk or from its origin.
/// Reading a property does not count as observing, since its end cannot be detected. A view observes explicitly: as
/// above, or with ``beginObserving()`` and ``endObserving()``.
@MainActor @Observable
public final class ObservedResource<Output: Sendable> {
    private struct Snapshot {
        let request: ResourceRequest?
        let state: ResourceState<Loaded<Output>>
        let presentation: ResourcePresentation<Output>

        init(_ bound: Bound, placeholder: Output?) {
            request = bound.request
            state = bound.state
            presentation = ResourcePresentation(bound, placeholder: placeholder)
        }
    }

    private typealias Bound = BoundResource<ResourceRequest, Loaded<Output>>

    /// All observable state, in one property, so that a transition is one change.
    private var snapshot: Snapshot

    /// The part of the body that has arrived; `nil` unless a load is under way and receives one.
    public private(set) var progress: LoadProgress?

    @ObservationIgnored private var bound: Bound
    /// The latest load.
    @ObservationIgnored private var latest: Bound.Number?
    @ObservationIgnored private var shownPlaceholder: Output?
    @ObservationIgnored private var task: Task<Void, Never>?
    @ObservationIgnored private var readers = StateReaders<ResourceState<Loaded<Output>>>()
    /// Changes not yet published: an observer of one change may make another.
    @ObservationIgnored private var unseen: [(snapshot: Snapshot, isTransition: Bool)] = []
    @ObservationIgnored private var isTelling = false

    /// Ends the signals of memory pressure when the resource is released.
    @ObservationIgnored private var pressure: MemoryPressureSource.Observation?

    private let begin: @MainActor (ResourceRequest) -> AsyncStream<LoadEvent<Output>>
    private let now: @MainActor (ResourceRequest) -> Loaded<Output>?

    /// - Parameters:
    ///   - begin: Begins a load. The resource reads its events to the end; releasing the sequence cancels the load.
    ///   - now: Returns the value if it is available without waiting and needs no load.
    ///   - pressure: Signals that release a value without observers; `nil` for none.
    package init(
        begin: @escaping @MainActor (ResourceRequest) -> AsyncStream<LoadEvent<Output>>,
        now: @escaping @MainActor (ResourceRequest) -> Loaded<Output>? = { _ in nil },
        pressure: MemoryPressureSource? = nil
    ) {
        self.begin = begin
        self.now = now
        let bound = Bound()
        self.bound = bound
        snapshot = Snapshot(bound, placeholder: nil)
        self.pressure = pressure?.observe { [weak self] _ in
            Task { @MainActor in self?.releaseIfUnobserved() }
        }
    }

    deinit {
        task?.cancel()
        readers.finish()
        readers.deliver()
    }

    // MARK: State

    /// The bound request.
    public var request: ResourceRequest? { snapshot.request }

    /// The state of the bound request.
    public var state: ResourceState<Loaded<Output>> { snapshot.state }

    /// The value. A prior value counts until a newer one replaces it.
    public var value: Output? { snapshot.state.value?.value }

    /// The content that a view shows.
    public var presentation: ResourcePresentation<Output> { snapshot.presentation }

    /// The content to show while there is no value; `nil`, the default, for nothing. While there is a value, a change
    /// of the placeholder is not visible.
    public var placeholder: Output? {
        get { shownPlaceholder }
        set {
            shownPlaceholder = newValue
            guard bound.state.value == nil else { return }
            notify(isTransition: false)
        }
    }

    /// Returns a stream of every state from now on, in order, beginning with the current one. The stream ends when the
    /// resource is released.
    ///
    /// The stream counts as an observer, so a released value is loaded again. Shortly after the sequence is released or
    /// its reading task is cancelled, it no longer counts.
    public func states() -> AsyncStream<ResourceState<Loaded<Output>>> {
        beginObserving()
        return readers.add(snapshot.state) { [weak self] id in
            Task { @MainActor [weak self] in self?.removeReader(id) }
        }
    }

    // MARK: Requests

    /// Binds a request and begins to load it; `nil` binds none and restores the placeholder.
    ///
    /// The resource drops the value of the former request, and no longer waits for its load
    /// (``ResourceRequest/abandonment``). Binding the same request again changes nothing while it is loading or loaded.
    /// Otherwise the resource loads it again.
    public func bind(_ request: ResourceRequest?) {
        apply { $0.bind(request, now: now) }
    }

    /// Loads the bound request again. The value stays until a new one arrives. A load under way goes on. Does nothing
    /// if no request is bound.
    ///
    /// - Parameter policy: Changes properties of the policy of the request for this load, for example to validate with
    ///   the origin. If the policy of a load under way differs, a new load replaces it.
    public func reload(policy: CachePolicy.Override? = nil) {
        var variation: ResourceRequest?
        if let policy, var request = bound.request {
            request.policy = request.policy.applying(policy)
            variation = request
        }
        apply { $0.reload(variation) }
    }

    /// Stops waiting for the load under way. A prior value stays.
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
        bound.endObserving()
    }

    package var observers: Int { bound.observers }

    private func releaseIfUnobserved() {
        apply { $0.releaseIfUnobserved() }
    }

    private func removeReader(_ id: UInt64) {
        readers.remove(id)
        endObserving()
    }

    // MARK: Transitions

    private func apply(_ change: (inout Bound) -> Bound.Action) {
        let before = bound.transitions
        let action = change(&bound)
        let last = task
        switch action {
        case .none: break
        case .stop:
            task = nil
            last?.cancel()
        case .begin(let request, let number):
            latest = number
            if progress != nil { progress = nil }
            // Begin the new load before cancelling the old one: a transfer that both share must not be abandoned.
            task = load(request, number)
            last?.cancel()
        }
        if !bound.state.isLoading, progress != nil { progress = nil }
        if bound.transitions != before { notify(isTransition: true) }
    }

    private func load(_ request: ResourceRequest, _ number: Bound.Number) -> Task<Void, Never> {
        let events = begin(request)
        return Task { [weak self] in
            for await event in events {
                if case .progress(let received, let total) = event {
                    self?.receive(LoadProgress(received: received, total: total), of: number)
                } else if let event = Bound.Event(event) {
                    self?.receive(event, of: number)
                }
            }
            // The stream may end without a final event: end the load, so that no reader waits for one.
            self?.receive(.cancelled, of: number)
        }
    }

    private func receive(_ event: Bound.Event, of number: Bound.Number) {
        apply { bound in
            bound.receive(event, of: number)
            return .none
        }
    }

    private func receive(_ arrived: LoadProgress, of number: Bound.Number) {
        guard number == latest, bound.state.isLoading else { return }
        progress = arrived
    }

    private func notify(isTransition: Bool) {
        unseen.append((Snapshot(bound, placeholder: shownPlaceholder), isTransition))
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while !unseen.isEmpty {
            let (next, isTransition) = unseen.removeFirst()
            snapshot = next
            if isTransition {
                readers.notify(next.state)
                readers.deliver()
            }
        }
    }
}

extension ObservedResource where Output == Data {
    /// Creates a resource that `loader` loads, bound to no request.
    public convenience init(loader: ResourceLoader) {
        self.init(loader, .bytes)
    }
}

extension ObservedResource {
    /// Creates a resource that `loader` loads, bound to no request. `processor` makes the value from the bytes.
    ///
    /// A value in the loader's memory is available at once.
    public convenience init(loader: ResourceLoader, as processor: some Processor<Data, Output>) {
        self.init(loader, ProcessingPlan(processor))
    }

    private convenience init(_ loader: ResourceLoader, _ plan: ProcessingPlan) {
        self.init(
            begin: { loader.events(for: $0, plan, deliversStale: true) },
            now: { loader.valueInMemory(for: $0, plan) }, pressure: loader.configuration.memoryPressure)
    }
}
