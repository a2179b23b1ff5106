public import CacheStore
internal import CoreMetrics
internal import HTTPTypes
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Loads resources: a URL in, bytes out, and where they came from.
///
/// ```swift
/// let loader = ResourceLoader(store: store)
/// let feed = try await loader.load("https://example.com/feed.json")
/// print(feed.source)                       // network, disk or notModified
/// ```
///
/// What is fresh in the store is answered on the calling thread, with one lookup and one read. Anything else goes through
/// one flight for each URL, however many callers want it: in its lane, with other attempts where they may help. Redirects
/// are followed, each hop cached under its own URL. A status that is no success is an error; it is counted, and leaves the
/// last good content as it is.
///
/// May be used from any task. A failing store fails no load that the origin answers.
public final class ResourceLoader: Sendable {
    /// Where responses are kept.
    public var store: ResponseStore { context.store }

    let context: CacheContext

    /// What is counted and timed besides that of the context.
    let meters: LoaderMeters

    /// Guards which configuration it is.
    private let settings: Mutex<LoaderSettings>

    /// The values in memory.
    let memory: LoaderMemory

    /// Tells the memory about changes of the store.
    private let storeObserving: StoreObserving

    /// What is under way. Guards only the table; waiters are told outside.
    let flights: WatchedFlights

    /// Listens to ``Configuration/reachability``. The mutex guards the task.
    private let watch = Mutex<Task<Void, Never>?>(nil)

    /// Creates a loader that keeps responses in `store` and asks origins through `transport`.
    public init(store: ResponseStore, transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        let metrics = configuration.metrics ?? MetricsSystem.factory
        let meters = LoaderMeters(metrics, configuration.log)
        let memory = LoaderMemory(configuration) { meters.note($0) }
        context = CacheContext(store: store, transport: transport, meters: CacheMeters(metrics))
        storeObserving = store.changes.observe { [weak memory] in memory?.note($0) }
        settings = Mutex(LoaderSettings(configuration, generation: 0))
        self.memory = memory
        self.meters = meters
        flights = WatchedFlights(Flights(widths: configuration.lanes), meters)
        context.setRevalidator { [weak self] transaction, ended in
            guard let self else { return ended(.cancelled) }
            self.revalidate(transaction, ended: ended)
        }
        watchReachability()
    }

    /// Listens to the present source of reachability, and no longer to an earlier one.
    private func watchReachability() {
        watch.withLock { task in
            task?.cancel()
            task = settings.withLock { $0.configuration.reachability }.map { source in
                let changes = source.changes()
                return Task { [weak self] in
                    for await host in changes { self?.becameReachable(host) }
                }
            }
        }
    }

    #if URLSessionTransport
    /// Creates a loader that keeps responses in `store` and asks origins through `URLSession`.
    public convenience init(store: ResponseStore, configuration: Configuration = Configuration()) {
        self.init(store: store, transport: URLSessionTransport(), configuration: configuration)
    }
    #endif

    deinit {
        watch.withLock { $0?.cancel() }
        // Who waits for a host, or in a lane that is closed, would wait for ever: a transfer keeps the loader, they do not.
        cancelAll()
        context.meters.activity.finish()
    }

    /// How the loader behaves. A change affects loads that begin afterwards, and empties the memory; that of
    /// ``Configuration/lanes`` also affects loads that wait for their turn. With another ``Configuration/reachability``, loads
    /// that wait for a host are tried again. Clock, ``Configuration/memoryPressure``, ``Configuration/memoryStress`` and
    /// ``Configuration/metrics`` never change.
    public var configuration: Configuration {
        get { settings.withLock { $0.configuration } }
        set {
            let isOtherSource = settings.withLock { settings in
                defer { settings = LoaderSettings(newValue, generation: settings.generation + 1) }
                let source = settings.configuration.reachability
                return (source as AnyObject?) !== (newValue.reachability as AnyObject?)
            }
            meters.setLog(newValue.log)
            // The latest, whoever of two that change it at a time comes here last.
            memory.setLimit { settings.withLock { $0.configuration.memoryLimit } }
            change { board in board.setWidths(settings.withLock { $0.configuration.lanes }) }
            guard isOtherSource else { return }
            watchReachability()
            // Loads that wait for a report of the earlier source ask the new one.
            becameReachable(nil)
        }
    }

    // MARK: Loading

    /// Loads what is at an absolute `http` or `https` URL.
    ///
    /// - Throws: ``LoadError``. Cancelling the calling task ends the load with ``LoadError/cancelled`` at once; the transfer
    ///   goes on for others who wait for it, and is stopped if there are none.
    public func load(_ url: String) async throws(LoadError) -> Resource {
        try await load(ResourceRequest(url))
    }

    /// Loads what is at an absolute `http` or `https` URL.
    ///
    /// - Throws: As ``load(_:)-(String)``.
    public func load(_ url: URL) async throws(LoadError) -> Resource {
        try await load(ResourceRequest(url))
    }

    /// Loads what is requested.
    ///
    /// - Throws: As ``load(_:)-(String)``.
    public func load(_ request: ResourceRequest) async throws(LoadError) -> Resource {
        try await load(request, .bytes)
    }

    func load<Output>(_ request: ResourceRequest, _ recipe: Recipe) async throws(LoadError) -> Loaded<Output> {
        let answer: Loaded<any Sendable>
        switch try await loadLocally(request, recipe) {
        case .loaded(let loaded): answer = loaded
        case .missing(let load):
            guard let loaded = try await loadWhileBlocked(load, recipe) else {
                return try await join(load, request, recipe)
            }
            answer = loaded
        }
        // A processor need not heed its cancellation.
        guard !Task.isCancelled else { throw .cancelled }
        return answer.cast()
    }

    /// What came of looking for something here.
    enum LocalResult {
        case loaded(Loaded<any Sendable>)
        /// It takes the network.
        case missing(Load)
    }

    /// What answers without the network: memory, a file, or the store. Takes no place in a lane.
    func loadLocally(_ request: ResourceRequest, _ recipe: Recipe) async throws(LoadError) -> LocalResult {
        let key = memoryKey(request, recipe)
        if let loaded = loadFromMemory(key) { return .loaded(loaded) }
        if let resource = try await loadFile(request) {
            return .loaded(resource.with(try await make(recipe, of: resource).get()))
        }
        let load = try load(for: request)
        let epoch = key.map { _ in memory.epoch(of: load.target.key) }
        guard let found = try await loadFromStore(load, recipe) else { return .missing(load) }
        if let key, let epoch, let entry = found.entry {
            remember([key: found.value.value], of: found.value, found.byteCount, entry, load, since: epoch)
        }
        return .loaded(found.value)
    }

    func memoryKey(_ request: ResourceRequest, _ recipe: Recipe) -> LoaderMemory.Key? {
        LoaderMemory.Key(request, recipe, settings.withLock { $0 })
    }

    func load(for request: ResourceRequest) throws(LoadError) -> Load {
        try Load(request, settings.withLock { $0 }, cancellations: flights.withLock { $0.cancellations })
    }

    func backgroundLoad(of request: ResourceRequest, _ target: LoadTarget, _ policy: CachePolicy) -> Load {
        Load(
            request, target, settings.withLock { $0 }, cancellations: flights.withLock { $0.cancellations },
            isBackground: true, policy: policy)
    }

    // MARK: What is under way

    /// Whether a request is being loaded: from the first who waits for it until the last has been told.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    public func isLoading(_ request: ResourceRequest) throws(LoadError) -> Bool {
        let load = try load(for: request)
        return flights.withLock { $0.board.isLoading(load) }
    }

    /// How many wait for a request.
    package func waiterCount(of request: ResourceRequest) -> Int {
        guard let load = try? load(for: request) else { return 0 }
        return flights.withLock { $0.board.waiterCount(of: load) }
    }

    /// Puts what is under way for a request into a lane, with all who wait for it: a transfer that has begun goes on, one
    /// that waits for its turn now waits in that lane. Does nothing if there is none.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    public func setLane(_ lane: Lane, of request: ResourceRequest) throws(LoadError) {
        let load = try load(for: request)
        change { $0.setLane(lane, of: load) }
    }

    /// Returns once every arriving body is stored, whole or in part, or will not be.
    ///
    /// A process that ends after a cancellation waits here, and then closes the store.
    package func waitForBodies() async {
        await context.bodies.waitForAll()
    }

    /// Cancels all that is under way: who waits is told so at once, transfers are stopped. Later loads are as ever.
    public func cancelAll() {
        let waiters = changeFlights { flights in
            flights.cancellations += 1
            return flights.board.detachAll()
        }
        for waiter in waiters { waiter.receive(.ended(.failure(.cancelled))) }
    }
}
