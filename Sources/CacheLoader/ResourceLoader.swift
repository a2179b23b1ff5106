public import CacheFoundation
public import CacheStore
internal import CoreMetrics
internal import Synchronization

/// Loads resources: takes a URL, and returns the bytes and their source.
///
/// ```swift
/// let loader = ResourceLoader(store: store)
/// let feed = try await loader.load("https://example.com/feed.json")
/// print(feed.source)                       // network, disk or notModified
/// ```
///
/// Answers with fresh stored content on the calling thread, with one lookup and one read. Equal requests that need the
/// network share one transfer, regardless of the number of callers. The transfer runs in a lane, and is retried where
/// that may help. Follows redirects, and caches each redirect step under its own URL. An unsuccessful status is an
/// error. The loader counts the error, and keeps the last good content.
///
/// Safe to use from any task. A load that the origin answers succeeds even if the store fails.
public final class ResourceLoader: Sendable {
    /// The store of the responses.
    public var store: ResponseStore { context.store }

    let context: CacheContext

    /// The metrics of the loader, in addition to those of the context.
    let meters: LoaderMeters

    /// Guards the current settings.
    private let settings: Mutex<LoaderSettings>

    let memory: LoaderMemory

    /// The active loads. The lock guards only the table; waiters receive their results outside the lock.
    let loads: Mutex<ActiveLoads>

    /// Tasks that listen to ``Configuration/reachability``. The mutex guards the tasks.
    let watches = Mutex<[Task<Void, Never>]>([])

    /// Creates a loader that keeps responses in `store` and sends requests through `transport`.
    public init(store: ResponseStore, transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        let metrics = configuration.metrics ?? MetricsSystem.factory
        let meters = LoaderMeters(metrics, configuration.log)
        memory = LoaderMemory(store, configuration) { meters.note($0) }
        context = CacheContext(store: store, transport: transport, meters: CacheMeters(metrics))
        settings = Mutex(LoaderSettings(configuration))
        self.meters = meters
        loads = Mutex(ActiveLoads(configuration))
        context.setRevalidator { [weak self] transaction, ended in
            guard let self else { return ended(.cancelled) }
            self.revalidate(transaction, ended: ended)
        }
        watchReachability()
    }

    #if Curl || canImport(Darwin)
    /// Creates a loader that keeps responses in `store` and sends requests through a
    /// ``/CacheTransport/DefaultTransport``.
    public convenience init(store: ResponseStore, configuration: Configuration = Configuration()) {
        self.init(store: store, transport: DefaultTransport(), configuration: configuration)
    }
    #endif

    deinit {
        for watch in watches.withLock({ $0 }) { watch.cancel() }
        // Only transfers retain the loader. Loads that wait for a host, or in a lane of width 0, would wait forever.
        cancelAll()
        context.meters.activity.finish()
    }

    /// The configuration. A change affects loads that begin afterwards. If values in memory depend on the changed
    /// property, such as the policy or the credentials, the change empties the memory.
    ///
    /// Changes of ``Configuration/lanes`` and ``Configuration/heldBack`` also affect loads that wait for their turn.
    /// With another ``Configuration/reachability``, loads that wait for a host are retried. Changes of
    /// ``Configuration/memoryPressure``, ``Configuration/memoryStress`` and ``Configuration/metrics`` have no effect.
    /// The memory also keeps its first ``Configuration/clock``.
    public var configuration: Configuration {
        get { settings.withLock { $0.configuration } }
        set {
            let (isOtherSource, makesOtherValues) = settings.withLock { settings in
                let former = settings
                settings = LoaderSettings(newValue, after: former)
                let source = former.configuration.reachability
                return (
                    source !== newValue.reachability,
                    settings.valueGeneration != former.valueGeneration
                )
            }
            meters.setLog(newValue.log)
            if makesOtherValues { memory.removeAll() }
            // Read the latest limit: of two concurrent changes, the earlier one may get here last.
            memory.setLimit { settings.withLock { $0.configuration.memoryLimit } }
            // Apply the new settings in one step, so that no load starts under only a part of them.
            let conditions = isOtherSource ? presentConditions : nil
            change { table in
                let latest = settings.withLock { $0.configuration }
                return table.set(widths: latest.lanes, heldBack: latest.heldBack, conditions: conditions)
            }
            guard isOtherSource else { return }
            watchReachability()
            // Loads that wait for a report of the earlier source ask the new one.
            becameReachable(nil)
        }
    }

    // MARK: Loading

    /// Loads the content that answers a request, as bytes or as a value that a processor makes.
    ///
    /// ```swift
    /// let page = try await loader.load("https://example.com/index.html")
    /// let feed = try await loader.load("https://example.com/feed.json", as: .json(Feed.self))
    /// ```
    ///
    /// A `String` or a `URL` must be an absolute `http` or `https` URL, or name a file that
    /// ``Configuration/loadsFiles`` allows.
    ///
    /// A processor runs once for a coalesced load, regardless of the number of callers. Callers with different
    /// processors share the transfer, too. If no caller's processor accepts a response, its entry is removed from the
    /// store, and other entries of its key stay. If that response came from the store, or has `Age`, the load asks the
    /// origin once for the whole response. That request has `no-cache`, because an upstream cache may also have the
    /// response. A load that must not ask the origin fails and leaves the entry.
    ///
    /// - Throws: ``LoadError``; ``LoadError/processing(url:reason:)`` if the processor fails. Cancelling the calling
    ///   task ends the load with ``LoadError/cancelled`` immediately. The transfer continues for other waiters, and
    ///   stops if no other waiter is left.
    @specialized(where P == DataProcessor, R == String)
    public func load<P: Processor, R: ResourceRequestConvertible>(
        _ request: R, as processor: P = DataProcessor()
    ) async throws(LoadError) -> Loaded<P.Output> where P.Input == Data {
        // Specialized, because generic code would add a seventh to the instructions of a load from memory.
        try await load(request.resourceRequest, ProcessingPlan(processor))
    }

    func load<Output>(_ request: ResourceRequest, _ plan: ProcessingPlan) async throws(LoadError) -> Loaded<Output> {
        context.meters.requests.add()
        let answer: Loaded<any Sendable>
        switch try await loadLocally(request, plan) {
        case .loaded(let loaded): answer = loaded
        case .missing(let load):
            guard let loaded = try await loadWhileBlocked(load, plan) else {
                return try await join(load, request, plan)
            }
            answer = loaded
        }
        // A processor may ignore its cancellation.
        guard !Task.isCancelled else { throw .cancelled }
        return answer.cast()
    }

    /// The result of a load without the network.
    enum LocalResult {
        case loaded(Loaded<any Sendable>)
        /// The load needs the network.
        case missing(Load)
    }

    /// Answers a request without the network: from memory, a file or the store. Uses no slot in a lane.
    func loadLocally(_ request: ResourceRequest, _ plan: ProcessingPlan) async throws(LoadError) -> LocalResult {
        let key = memoryKey(request, plan)
        if let loaded = loadFromMemory(key) { return .loaded(loaded) }
        if let resource = try loadFile(request) {
            return .loaded(resource.with(try await make(plan, of: resource).get()))
        }
        var load = try load(for: request)
        guard let found = try await loadFromStore(&load, plan) else { return .missing(load) }
        if let key, let entry = found.response.entry {
            remember([key: found.value.value], of: found.value, found.byteCount, entry, found.response.found, load)
        }
        return .loaded(found.value)
    }

    func memoryKey(_ request: ResourceRequest, _ plan: ProcessingPlan) -> LoaderMemory.Key? {
        LoaderMemory.Key.of(request, plan, settings.withLock { $0 })
    }

    /// Whether values that were made under earlier settings are still valid.
    func isCurrent(_ settings: LoaderSettings) -> Bool {
        self.settings.withLock { $0.valueGeneration == settings.valueGeneration }
    }

    func load(for request: ResourceRequest) throws(LoadError) -> Load {
        try Load(request, settings.withLock { $0 }, cancellations: loads.withLock { $0.cancellations.count })
    }

    func backgroundLoad(of request: ResourceRequest, _ target: LoadTarget, _ policy: CachePolicy) -> Load {
        Load(
            request, target, settings.withLock { $0 }, cancellations: loads.withLock { $0.cancellations.count },
            isBackground: true, policy: policy)
    }

    // MARK: Active loads

    /// Returns whether a request is being loaded: from its first waiter until all waiters have the result, and until an
    /// abandoned transfer is finished. Of the changes of the configuration during the load, only that of
    /// ``Configuration/partition`` matters.
    ///
    /// Takes time proportional to the number of active loads.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    public func isLoading(_ request: ResourceRequest) throws(LoadError) -> Bool {
        let load = try load(for: request)
        return loads.withLock { $0.table.isLoading(where: load.hasSameRequest) }
    }

    package func waiterCount(of request: ResourceRequest) -> Int {
        guard let load = try? load(for: request) else { return 0 }
        return loads.withLock { $0.table.waiterCount(where: load.hasSameRequest) }
    }

    /// Puts the loads of a request, with all their waiters, into a lane. A load that waits for its turn now waits in
    /// that lane. A running transfer continues. Does nothing if the request is not being loaded.
    ///
    /// Takes time proportional to the number of active loads.
    ///
    /// - Throws: ``LoadError/invalidURL(_:reason:)``, ``LoadError/invalidKey(_:reason:)``.
    public func setLane(_ lane: Lane, of request: ResourceRequest) throws(LoadError) {
        let load = try load(for: request)
        change { $0.setLane(lane, where: load.hasSameRequest) }
    }

    /// Returns once every arriving body is stored, as a whole or a part, or will not be stored, or once the calling
    /// task is cancelled.
    ///
    /// A process that ends calls ``cancelAll()``, then this method, and then closes the store.
    public func waitForBodies() async {
        await context.bodies.waitForAll()
    }
}
