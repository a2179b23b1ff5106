public import CacheLoader
public import CacheStore
public import Logging
public import ServiceLifecycle

/// Runs a store, with its loader or cache, as a service of a program.
///
/// The store is open before the service runs, so that other services can use its loader:
///
/// ```swift
/// let store = try ResponseStore(directory: directory)
/// let loader = ResourceLoader(store: store)
/// let service = CacheService(loader: loader, evictingAtStart: [.unusedFor(.seconds(30 * 86_400))])
/// let group = ServiceGroup(services: [service, server], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// List the service before the services that use the store, because a group shuts down its services in reverse order.
///
/// At its start the service evicts. On graceful shutdown it cancels the loads and the background validations, waits
/// until arriving bodies are stored, and closes the store. A cancellation of ``run()`` does the same without waiting.
/// After the service of a loader has ended, the loader remains usable without a store.
public struct CacheService: Service {
    private let store: ResponseStore
    private let rules: [EvictionRule]
    private let logger: Logger
    /// Stops the background work.
    private let stop: @Sendable () -> Void
    /// Waits for the bodies that are being stored.
    private let drain: @Sendable () async -> Void

    /// Creates a service of a loader and its store.
    ///
    /// - Parameters:
    ///   - loader: The loader.
    ///   - rules: The evictions at the start, in order, in addition to those by the limits of the store.
    ///   - logger: Receives the report of each eviction at the level debug, and a failed eviction as a warning. Silent
    ///     by default.
    public init(
        loader: ResourceLoader, evictingAtStart rules: [EvictionRule] = [],
        logger: Logger = Logger(label: "CacheLifecycle") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.init(loader.store, rules, logger, stop: { loader.cancelAll() }, drain: { await loader.waitForBodies() })
    }

    /// Creates a service of a cache and its store, like ``init(loader:evictingAtStart:logger:)``.
    ///
    /// Requests belong to their callers: the service waits for bodies that callers still read.
    public init(
        cache: HTTPCache, evictingAtStart rules: [EvictionRule] = [],
        logger: Logger = Logger(label: "CacheLifecycle") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.init(
            cache.store, rules, logger, stop: { cache.cancelRevalidations() }, drain: { await cache.waitForBodies() })
    }

    /// Creates a service of a store, like ``init(loader:evictingAtStart:logger:)``.
    public init(
        store: ResponseStore, evictingAtStart rules: [EvictionRule] = [],
        logger: Logger = Logger(label: "CacheLifecycle") { _ in SwiftLogNoOpLogHandler() }
    ) {
        self.init(store, rules, logger, stop: {}, drain: {})
    }

    private init(
        _ store: ResponseStore, _ rules: [EvictionRule], _ logger: Logger, stop: @escaping @Sendable () -> Void,
        drain: @escaping @Sendable () async -> Void
    ) {
        self.store = store
        self.rules = rules
        self.logger = logger
        self.stop = stop
        self.drain = drain
    }

    /// Evicts, waits for a graceful shutdown or a cancellation, and closes the store.
    ///
    /// Never throws, because a failed eviction must not end the program. Closing blocks the thread for some
    /// milliseconds, until pending accesses are written.
    public func run() async {
        for rule in rules where !Task.isShuttingDownGracefully && !Task.isCancelled {
            do throws(StoreError) {
                let report = try await store.evict(rule)
                logger.debug("evicted at start", metadata: ["rule": "\(rule)", "report": "\(report)"])
            } catch {
                logger.warning("could not evict at start", metadata: ["rule": "\(rule)", "error": "\(error)"])
            }
        }
        // Throws only after a cancellation, which also ends the service.
        try? await gracefulShutdown()
        stop()
        await drain()
        store.close()
    }
}
