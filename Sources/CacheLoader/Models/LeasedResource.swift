internal import HTTPCaching
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One load that several parts of a program use, and that lasts as long as one of them does.
///
/// ```swift
/// let catalogue = LeasedResource(ResourceRequest("https://example.com/catalogue.json"), loader: loader)
///
/// catalogue.acquire()                      // the first begins the load
/// for await state in catalogue.states() { … }
/// try catalogue.release()                  // the last ends it, if it is still under way
/// ```
///
/// A value that is there stays, also when nobody uses it: it goes with the resource. After a cancellation or a failure the
/// next to acquire has it loaded again. May be used from any thread. The resource keeps its loader, and letting go of it is
/// to wait for its load no longer.
public final class LeasedResource<Output: Sendable>: Sendable {
    /// How its load stands.
    public typealias State = ResourceState<Loaded<Output>>

    private typealias Count = LeaseCount<ResourceRequest, Loaded<Output>>

    private struct Guarded {
        var leases: Count
        var task: Task<Void, Never>?
        var readers: StateReaders<State>
    }

    /// What is loaded.
    public let request: ResourceRequest

    /// Guards the count, the state and who reads it. What readers are told is readied under the lock, so that none misses a
    /// state or sees two in the wrong order. They are told, and tasks cancelled, after it is unlocked.
    private let guarded: Mutex<Guarded>
    private let outbox: StateReaders<State>.Outbox

    private let begin: @Sendable (ResourceRequest) -> AsyncStream<LoadEvent<Output>>
    private let now: @Sendable (ResourceRequest) -> Loaded<Output>?

    /// - Parameters:
    ///   - begin: Begins a load, whose events are then read to their end. To let go of them is to cancel it.
    ///   - now: The value, if it can be had without waiting and need not be asked for.
    package init(
        _ request: ResourceRequest,
        begin: @escaping @Sendable (ResourceRequest) -> AsyncStream<LoadEvent<Output>>,
        now: @escaping @Sendable (ResourceRequest) -> Loaded<Output>? = { _ in nil }
    ) {
        self.request = request
        self.begin = begin
        self.now = now
        let outbox = StateReaders<State>.Outbox()
        self.outbox = outbox
        guarded = Mutex(Guarded(leases: Count(request), readers: StateReaders(outbox)))
    }

    deinit {
        let (task, readers) = guarded.withLock { ($0.task, $0.readers) }
        task?.cancel()
        readers.finish()
        readers.deliver()
    }

    // MARK: Leases

    /// One more uses it, until ``release()``: it is loaded, unless its value is there or on its way.
    public func acquire() {
        // Nobody else's code runs under the lock.
        let value = guarded.withLock({ $0.leases.resource.state.value }) == nil ? now(request) : nil
        apply { $0.acquire { _ in value } }
    }

    /// One less uses it. The last ends a load that is under way.
    ///
    /// - Throws: ``LeaseError/notAcquired``; then nothing has changed.
    public func release() throws(LeaseError) {
        try apply { leases throws(LeaseError) in try leases.release() }
    }

    /// How many use it.
    public var leases: Int { guarded.withLock { $0.leases.count } }

    // MARK: What is seen

    /// How the load stands.
    public var state: State { guarded.withLock { $0.leases.resource.state } }

    /// The value, one from before included as long as no other takes its place.
    public var value: Output? { state.value?.value }

    /// Every state from now on, in order, the present one first. Ends when the resource goes. To read it is no use of it.
    public func states() -> AsyncStream<State> {
        guarded.withLock { guarded in
            guarded.readers.add(guarded.leases.resource.state) { [weak self] id in
                self?.guarded.withLock { $0.readers.remove(id) }
            }
        }
    }

    // MARK: Transitions

    private func apply<Failure>(
        _ change: (inout Count) throws(Failure) -> Count.Resource.Action
    ) throws(Failure) {
        // A value that goes with the last state is released outside the lock.
        let last = try guarded.withLock { guarded throws(Failure) -> (state: State, task: Task<Void, Never>?) in
            let state = guarded.leases.resource.state
            let before = guarded.leases.resource.transitions
            let action = try change(&guarded.leases)
            if guarded.leases.resource.transitions != before {
                guarded.readers.tell(guarded.leases.resource.state)
            }
            let task = guarded.task
            switch action {
            case .none: return (state, nil)
            case .stop: guarded.task = nil
            case .begin(let request, let number): guarded.task = load(request, number)
            }
            return (state, task)
        }
        outbox.deliver()
        last.task?.cancel()
    }

    private func load(_ request: ResourceRequest, _ number: Count.Resource.Number) -> Task<Void, Never> {
        Task { [weak self, begin] in
            guard !Task.isCancelled else { return }
            for await event in begin(request) {
                guard let event = Count.Resource.Event(event) else { continue }
                self?.receive(event, of: number)
            }
            // Events that break off without an end: nobody is to wait for one.
            self?.receive(.cancelled, of: number)
        }
    }

    private func receive(_ event: Count.Resource.Event, of number: Count.Resource.Number) {
        _ = guarded.withLock { guarded in
            let last = guarded.leases.resource.state
            let before = guarded.leases.resource.transitions
            guarded.leases.receive(event, of: number)
            if guarded.leases.resource.transitions != before {
                guarded.readers.tell(guarded.leases.resource.state)
            }
            // Released outside the lock.
            return last
        }
        outbox.deliver()
    }
}

extension LeasedResource where Output == Data {
    /// Creates a resource that `loader` loads once somebody uses it.
    public convenience init(_ request: ResourceRequest, loader: ResourceLoader) {
        self.init(request, loader, .bytes)
    }
}

extension LeasedResource {
    /// Creates a resource that `loader` loads, and `processor` makes of bytes, once somebody uses it.
    ///
    /// What is in the loader's memory is there at once.
    public convenience init(
        _ request: ResourceRequest, loader: ResourceLoader, as processor: some Processor<Data, Output>
    ) {
        self.init(request, loader, Recipe(processor))
    }

    private convenience init(_ request: ResourceRequest, _ loader: ResourceLoader, _ recipe: Recipe) {
        self.init(
            request, begin: { loader.events(for: $0, recipe, deliversStale: true) },
            now: { loader.loadFromMemory(loader.memoryKey($0, recipe))?.cast() })
    }
}
