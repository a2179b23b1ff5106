public import CacheFoundation

/// Loads values instead of bytes.
///
/// A processor runs once for a coalesced load, regardless of the number of callers. Callers with different processors
/// also share the transfer.
///
/// If no caller's processor accepts a response, its entry is removed from the store, and other entries of its key stay.
/// If that response came from the store, or has `Age`, the load asks the origin once for the whole response. That
/// request has `no-cache`, because an upstream cache may also have the response. A load that must not ask the origin
/// fails and leaves the entry.
extension ResourceLoader {
    /// Loads a value for a request.
    ///
    /// ```swift
    /// let feed = try await loader.load("https://example.com/feed.json", as: .json(Feed.self))
    /// ```
    ///
    /// - Throws: As ``load(_:)``, and ``LoadError/processing(url:reason:)``.
    public func load<Output>(
        _ request: some ResourceRequestConvertible, as processor: some Processor<Data, Output>
    ) async throws(LoadError) -> Loaded<Output> {
        try await load(request.resourceRequest, ProcessingPlan(processor))
    }

    /// Loads a value and returns the events of the load, like ``events(for:deliversStale:)``.
    public func events<Output>(
        for request: ResourceRequest, as processor: some Processor<Data, Output>, deliversStale: Bool = true
    ) -> AsyncStream<LoadEvent<Output>> {
        events(for: request, ProcessingPlan(processor), deliversStale: deliversStale)
    }

    /// Loads a value and passes the events to a handler on an actor, like ``start(_:deliversStale:on:handler:)``.
    @discardableResult
    public func start<Output, Home: Actor>(
        _ request: ResourceRequest, as processor: some Processor<Data, Output>, deliversStale: Bool = true,
        on actor: Home, handler: @escaping @Sendable (isolated Home, LoadEvent<Output>) -> Void
    ) -> Task<Void, Never> {
        start(request, ProcessingPlan(processor), deliversStale: deliversStale) { await handler(actor, $0) }
    }

    /// Loads a value and passes the events to a handler on the main actor, like ``start(_:deliversStale:handler:)``.
    @discardableResult
    public func start<Output>(
        _ request: ResourceRequest, as processor: some Processor<Data, Output>, deliversStale: Bool = true,
        handler: @escaping @MainActor @Sendable (LoadEvent<Output>) -> Void
    ) -> Task<Void, Never> {
        start(request, ProcessingPlan(processor), deliversStale: deliversStale) { await handler($0) }
    }
}
