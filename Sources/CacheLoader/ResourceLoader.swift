public import CacheStore
internal import HTTPTypes
public import Logging
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
/// one flight for each URL, however many callers want it. Redirects are followed, each hop cached under its own URL.
/// A status that is no success is an error; it is counted, and leaves the last good content as it is.
///
/// May be used from any task. A failing store fails no load that the origin answers.
public final class ResourceLoader: Sendable {
    /// How a loader behaves.
    public struct Configuration: Sendable {
        /// What may be answered from the store, and for how long; RFC 9111 for a private cache by default.
        ///
        /// But that a stored response stands in for an error of its origin, however stale, unless the origin forbids that;
        /// ``Resource/failure`` tells.
        public var policy: CachePolicy = CachePolicy(staleIfError: .seconds(Int64.max))
        /// Part of every key: user, tenant or site; none by default.
        public var partition: String = ""
        /// Bodies of more bytes end in ``LoadError/bodyTooLarge(url:limit:)``; 1 GiB by default.
        public var maxBodyBytes: Int64 = 1 << 30
        /// Redirects that one load follows; 20 by default.
        public var maxRedirects: Int = 20
        /// Tells the time. The system clock by default.
        public var clock: @Sendable () -> Date = { Date() }
        /// Is told when the store could not be read or written. Silent by default.
        public var logger: Logger = Logger(label: "CacheLoader") { _ in SwiftLogNoOpLogHandler() }

        /// The defaults.
        public init() {}

        var cache: HTTPCache.Configuration {
            var cache = HTTPCache.Configuration()
            cache.policy = policy
            cache.partition = partition
            cache.maxBodyBytes = maxBodyBytes
            cache.clock = clock
            cache.logger = logger
            cache.cacheStatus = nil
            return cache
        }
    }

    /// Where responses are kept.
    public var store: ResponseStore { context.store }

    private let context: CacheContext

    private struct Settings {
        var configuration: Configuration
        /// Counts the changes: loads before and after one do not share a flight.
        var generation: UInt64 = 0
    }

    /// Guards the configuration.
    private let settings: Mutex<Settings>

    private typealias Waiter = CheckedContinuation<Result<Resource, LoadError>, Never>

    /// Flights by what they load. Guards only the table; continuations are resumed outside.
    private let flights = Mutex(FlightTable<Load, Waiter, Task<Void, Never>>())

    /// Creates a loader that keeps responses in `store` and asks origins through `transport`.
    public init(store: ResponseStore, transport: any HTTPTransport, configuration: Configuration = Configuration()) {
        context = CacheContext(store: store, transport: transport)
        settings = Mutex(Settings(configuration: configuration))
    }

    #if URLSessionTransport
    /// Creates a loader that keeps responses in `store` and asks origins through `URLSession`.
    public convenience init(store: ResponseStore, configuration: Configuration = Configuration()) {
        self.init(store: store, transport: URLSessionTransport(), configuration: configuration)
    }
    #endif

    /// How the loader behaves. A change affects loads that begin afterwards.
    public var configuration: Configuration {
        get { settings.withLock { $0.configuration } }
        set {
            settings.withLock { settings in
                settings.configuration = newValue
                settings.generation += 1
            }
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
        let settings = settings.withLock { $0 }
        let load = try Load(request, settings)
        if let resource = try await loadFromStore(load, settings.configuration) { return resource }
        return try await join(load, settings.configuration)
    }

    /// What two callers must agree on to share a flight.
    private struct Load: Hashable {
        let target: LoadTarget
        /// Equal whatever the order of fields of different names.
        let headerFields: HTTPFields
        let policy: CachePolicy
        let generation: UInt64

        init(_ request: ResourceRequest, _ settings: Settings) throws(LoadError) {
            target = try LoadTarget(request, partition: settings.configuration.partition)
            headerFields = request.headerFields
            policy = request.policy ?? settings.configuration.policy
            generation = settings.generation
        }
    }

    /// A hit does not wait for anybody, and nobody for it.
    private func loadFromStore(_ load: Load, _ configuration: Configuration) async throws(LoadError) -> Resource? {
        let transaction = transaction(load.target, load.headerFields, load.policy, configuration)
        guard let response = try transaction.contentFromStore() else { return nil }
        do throws(LoadError) {
            return try await Resource(response, load.target)
        } catch .store {
            // A body that cannot be read after all: a flight finds another way.
            return nil
        }
    }

    private func join(_ load: Load, _ configuration: Configuration) async throws(LoadError) -> Resource {
        let ticket = flights.withLock { $0.ticket() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (waiter: Waiter) in
                flights.withLock { flights in
                    flights.join(load, ticket, waiter) { number in
                        Task { await self.fly(load, number, configuration) }
                    }
                }
                // A cancellation before this point found nobody to tell.
                if Task.isCancelled { leave(load, ticket) }
            }
        } onCancel: {
            leave(load, ticket)
        }
        return try result.get()
    }

    private func leave(_ load: Load, _ ticket: UInt64) {
        let (waiter, stop) = flights.withLock { $0.leave(load, ticket) }
        stop?.cancel()
        waiter?.resume(returning: .failure(.cancelled))
    }

    private func fly(_ load: Load, _ number: UInt64, _ configuration: Configuration) async {
        let result: Result<Resource, LoadError>
        do throws(LoadError) {
            result = .success(try await follow(load, configuration))
        } catch {
            result = .failure(error)
        }
        let waiters = flights.withLock { $0.land(load, number) }
        for waiter in waiters { waiter.resume(returning: result) }
    }

    // MARK: Redirects

    /// Loads hop by hop until something else than a redirect answers.
    private func follow(_ load: Load, _ configuration: Configuration) async throws(LoadError) -> Resource {
        var (target, fields) = (load.target, load.headerFields)
        for _ in 0...max(0, configuration.maxRedirects) {
            let transaction = transaction(target, fields, load.policy, configuration)
            let response = try await transaction.answer()
            guard let next = try Redirect.target(of: response.head, from: target.url) else {
                return try await finish(response, target, transaction)
            }
            if !Redirect.isSameOrigin(target.url, next) { Redirect.removeCredentials(from: &fields) }
            await Self.drain(response)
            target = LoadTarget(next)
        }
        throw .tooManyRedirects(url: load.target.url.text, limit: configuration.maxRedirects)
    }

    private func finish(
        _ response: CachedResponse, _ target: LoadTarget, _ transaction: CacheTransaction
    ) async throws(LoadError) -> Resource {
        guard response.head.status.kind == .successful else {
            if response.source == .network {
                if response.head.status.code >= 400 { await transaction.recordFailure(response) }
                await Self.drain(response)
            }
            throw .httpStatus(response.head.status.code, url: target.url.text)
        }
        do throws(LoadError) {
            return try await Resource(response, target)
        } catch .store(let error) where response.source != .network && !transaction.forbidsNetwork {
            transaction.log("could not read a stored body", error)
            return try await Resource(transaction.answerFromOrigin(), target)
        }
    }

    /// Reads a body that nobody wants to its end, if that is near: then the response is stored, if it may be, and its
    /// connection used again.
    private static func drain(_ response: CachedResponse) async {
        var rest = 65_536
        var chunks = response.body.makeAsyncIterator()
        while rest > 0, let chunk = try? await chunks.next() { rest -= chunk.count }
    }

    func transaction(
        _ target: LoadTarget, _ fields: HTTPFields, _ policy: CachePolicy, _ configuration: Configuration
    ) -> CacheTransaction {
        CacheTransaction(
            HTTPRequest(key: target.url, fields: fields), key: target.key, target: target.url,
            context: context, configuration: configuration.cache, policy: policy, keepsErrors: false)
    }
}

extension Resource {
    fileprivate init(_ response: CachedResponse, _ target: LoadTarget) async throws(LoadError) {
        data = try await response.data()
        url = target.url.text
        status = response.head.status
        headerFields = response.head.headerFields
        source = response.source
        age = response.age
        isStale = response.isStale
        expiresAt = response.expiresAt
        failure = response.failure
    }
}
