public import HTTPCaching
public import Observation

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A resource that a view shows: it is bound to a request, and tells how that stands.
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
///                 for await _ in image.states() {}     // observed for as long as the view is there
///             }
///     }
/// }
/// ```
///
/// The latest request that is bound wins: whatever an earlier one still has to tell changes nothing. Each transition is one
/// change; a value stays when its renewal fails. The resource keeps its loader, and letting go of it is to wait for its load
/// no longer.
///
/// ``releaseIfUnobserved()`` makes room when memory is short. Reading a property does not count as observing, since nothing
/// tells when it ends: a view says so, as above, or with ``beginObserving()`` and ``endObserving()``.
@MainActor @Observable
public final class ObservedResource<Output: Sendable> {
    /// How its request stands.
    public typealias State = ResourceState<Loaded<Output>>

    private struct Snapshot {
        let request: ResourceRequest?
        let state: State
        let presentation: ResourcePresentation<Output>

        init(_ bound: Bound, placeholder: Output?) {
            request = bound.request
            state = bound.state
            presentation = ResourcePresentation(bound, placeholder: placeholder)
        }
    }

    private typealias Bound = BoundResource<ResourceRequest, Loaded<Output>>

    /// All that is observed, in one property, so that a transition is one change.
    private var snapshot: Snapshot

    @ObservationIgnored private var bound: Bound
    @ObservationIgnored private var shownPlaceholder: Output?
    @ObservationIgnored private var task: Task<Void, Never>?
    @ObservationIgnored private var readers = StateReaders<State>()
    /// Changes that are still to be seen: whoever is told of one may make another.
    @ObservationIgnored private var unseen: [(snapshot: Snapshot, isTransition: Bool)] = []
    @ObservationIgnored private var isTelling = false

    private let begin: @MainActor (ResourceRequest) -> AsyncStream<LoadEvent<Output>>
    private let now: @MainActor (ResourceRequest) -> Loaded<Output>?

    /// - Parameters:
    ///   - begin: Begins a load, whose events are then read to their end. To let go of them is to cancel it.
    ///   - now: The value, if it can be had without waiting and need not be asked for.
    package init(
        begin: @escaping @MainActor (ResourceRequest) -> AsyncStream<LoadEvent<Output>>,
        now: @escaping @MainActor (ResourceRequest) -> Loaded<Output>? = { _ in nil }
    ) {
        self.begin = begin
        self.now = now
        let bound = Bound()
        self.bound = bound
        snapshot = Snapshot(bound, placeholder: nil)
    }

    deinit {
        task?.cancel()
        readers.finish()
        readers.deliver()
    }

    // MARK: What is seen

    /// The request that is bound.
    public var request: ResourceRequest? { snapshot.request }

    /// How the request stands.
    public var state: State { snapshot.state }

    /// The value, one from before included as long as no other takes its place.
    public var value: Output? { snapshot.state.value?.value }

    /// What a view shows.
    public var presentation: ResourcePresentation<Output> { snapshot.presentation }

    /// What is shown as long as there is no value; `nil`, the default, for nothing. While there is a value a change of it is
    /// not seen.
    public var placeholder: Output? {
        get { shownPlaceholder }
        set {
            shownPlaceholder = newValue
            guard bound.state.value == nil else { return }
            tell(isTransition: false)
        }
    }

    /// Every state from now on, in order, the present one first. Ends when the resource goes.
    ///
    /// To read it is to observe: a value that was let go of is loaded again. Letting go of the sequence, or cancelling the
    /// task that reads it, ends that, a moment later.
    public func states() -> AsyncStream<State> {
        beginObserving()
        return readers.add(snapshot.state) { [weak self] id in
            Task { @MainActor [weak self] in self?.removeReader(id) }
        }
    }

    // MARK: What is wanted

    /// Binds another request, and begins to load it; `nil` for none, back to the placeholder.
    ///
    /// What the request before had comes to nothing: its value goes, and its load is not waited for any more
    /// (``ResourceRequest/abandonment``). Binding the same again changes nothing as long as its value is there or on its
    /// way; else it is loaded again.
    public func bind(_ request: ResourceRequest?) {
        apply { $0.bind(request, now: now) }
    }

    /// Loads what is bound again; the value stays until there is another. A load under way goes on. Does nothing if nothing
    /// is bound.
    ///
    /// - Parameter policy: Takes the place of the request's for this load, such as one that has the origin asked. If it is
    ///   not that of a load under way, that makes place.
    public func reload(policy: CachePolicy? = nil) {
        var variation: ResourceRequest?
        if let policy {
            variation = bound.request
            variation?.policy = policy
        }
        apply { $0.reload(variation) }
    }

    /// Does not want the load any more that is under way. The value of before stays.
    public func cancel() {
        apply { $0.cancel() }
    }

    // MARK: Observers

    /// Somebody looks at it from now on: a value that was let go of is loaded again.
    public func beginObserving() {
        apply { $0.beginObserving(now: now) }
    }

    /// Somebody who began looks at it no more. It is a programmer's mistake to end what has not begun.
    public func endObserving() {
        bound.endObserving()
    }

    /// How many look at it.
    package var observers: Int { bound.observers }

    /// Lets go of the value if nobody looks at it, to be called when memory is short. The request stays bound, and is
    /// loaded again when somebody looks: from memory, from disk or from its origin.
    public func releaseIfUnobserved() {
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
            // First the new, then the old: where both want the same, it is not given up between them.
            task = load(request, number)
            last?.cancel()
        }
        if bound.transitions != before { tell(isTransition: true) }
    }

    private func load(_ request: ResourceRequest, _ number: Bound.Number) -> Task<Void, Never> {
        let events = begin(request)
        return Task { [weak self] in
            for await event in events {
                guard let event = Bound.Event(event) else { continue }
                self?.receive(event, of: number)
            }
            // Events that break off without an end: nobody is to wait for one.
            self?.receive(.cancelled, of: number)
        }
    }

    private func receive(_ event: Bound.Event, of number: Bound.Number) {
        apply { bound in
            bound.receive(event, of: number)
            return .none
        }
    }

    private func tell(isTransition: Bool) {
        unseen.append((Snapshot(bound, placeholder: shownPlaceholder), isTransition))
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while !unseen.isEmpty {
            let (next, isTransition) = unseen.removeFirst()
            snapshot = next
            if isTransition {
                readers.tell(next.state)
                readers.deliver()
            }
        }
    }
}

extension ObservedResource where Output == Data {
    /// Creates a resource that `loader` loads, bound to nothing.
    public convenience init(loader: ResourceLoader) {
        self.init(loader, .bytes)
    }
}

extension ObservedResource {
    /// Creates a resource that `loader` loads and `processor` makes of bytes, bound to nothing.
    ///
    /// What is in the loader's memory is there at once.
    public convenience init(loader: ResourceLoader, as processor: some Processor<Data, Output>) {
        self.init(loader, Recipe(processor))
    }

    private convenience init(_ loader: ResourceLoader, _ recipe: Recipe) {
        self.init(
            begin: { loader.events(for: $0, recipe, deliversStale: true) },
            now: { loader.loadFromMemory(loader.memoryKey($0, recipe))?.cast() })
    }
}
