public import CacheFoundation
internal import CacheStore
internal import Synchronization

extension ResourceLoader {
    /// Loads a request and returns the events of the load; ``LoadEvent`` lists them.
    ///
    /// The load begins immediately, even if the events are not read. Releasing the sequence, or cancelling the task
    /// that reads it, cancels the load for this caller.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - processor: Makes the values from the bytes.
    ///   - deliversStale: Whether a stored value that is no longer fresh comes first, as ``LoadEvent/cached(_:)``. A
    ///     value that its origin forbids to serve stale never comes first.
    public func events<P: Processor>(
        for request: ResourceRequest, as processor: P = DataProcessor(), deliversStale: Bool = true
    ) -> AsyncStream<LoadEvent<P.Output>> where P.Input == Data {
        events(for: request, ProcessingPlan(processor), deliversStale: deliversStale)
    }

    /// Loads a request and passes the events of ``events(for:as:deliversStale:)`` to a handler on an actor.
    ///
    /// The handler runs on the actor, never synchronously within this call. Its last call receives the end of the load.
    ///
    /// - Returns: A task that ends after the last call. Cancelling the task cancels the load for this caller: the
    ///   handler receives ``LoadEvent/cancelled``, unless the load has ended.
    @discardableResult
    public func start<P: Processor, Home: Actor>(
        _ request: ResourceRequest, as processor: P = DataProcessor(), deliversStale: Bool = true, on actor: Home,
        handler: @escaping @Sendable (isolated Home, LoadEvent<P.Output>) -> Void
    ) -> Task<Void, Never> where P.Input == Data {
        start(request, ProcessingPlan(processor), deliversStale: deliversStale) { await handler(actor, $0) }
    }

    /// Loads a request and passes the events of ``events(for:as:deliversStale:)`` to a handler on the main actor.
    ///
    /// The handler never runs synchronously within this call. Its last call receives the end of the load.
    ///
    /// - Returns: A task that ends after the last call. Cancelling the task cancels the load for this caller: the
    ///   handler receives ``LoadEvent/cancelled``, unless the load has ended.
    @discardableResult
    public func start<P: Processor>(
        _ request: ResourceRequest, as processor: P = DataProcessor(), deliversStale: Bool = true,
        handler: (@MainActor @Sendable (LoadEvent<P.Output>) -> Void)? = nil
    ) -> Task<Void, Never> where P.Input == Data {
        start(request, ProcessingPlan(processor), deliversStale: deliversStale) { await handler?($0) }
    }

    // MARK: Events

    func start<Output>(
        _ request: ResourceRequest, _ plan: ProcessingPlan, deliversStale: Bool,
        handler: @escaping @Sendable (LoadEvent<Output>) async -> Void
    ) -> Task<Void, Never> {
        let (events, cancel) = observe(request, plan, deliversStale: deliversStale, as: Output.self)
        // Not cancelled with the returned task, because the handler receives the end of the load.
        let reading = Task {
            for await event in events { await handler(event) }
        }
        return Task {
            await withTaskCancellationHandler {
                await reading.value
            } onCancel: {
                cancel()
            }
        }
    }

    package func events<Output>(
        for request: ResourceRequest, _ plan: ProcessingPlan, deliversStale: Bool
    ) -> AsyncStream<LoadEvent<Output>> {
        observe(request, plan, deliversStale: deliversStale, as: Output.self).events
    }

    private func observe<Output>(
        _ request: ResourceRequest, _ plan: ProcessingPlan, deliversStale: Bool, as type: Output.Type
    ) -> (events: AsyncStream<LoadEvent<Output>>, cancel: @Sendable () -> Void) {
        let ticket = makeTicket()
        let (stream, continuation) = AsyncStream<LoadEvent<Output>>.makeStream()
        let observation = LoadObservation(continuation)
        context.meters.requests.add()
        let task = Task { await observe(request, plan, deliversStale: deliversStale, observation, ticket) }
        let cancel = { @Sendable [weak self] in
            // Cancel both: before the waiter joins the load, only the task exists. Afterwards the task may have ended.
            task.cancel()
            _ = self?.leave(ticket)
            // After a failure no waiter is left, and a processor of the stored value may ignore its cancellation.
            observation.end(.failure(.cancelled))
        }
        continuation.onTermination = { termination in
            if case .cancelled = termination { cancel() }
        }
        return (stream, cancel)
    }

    private func observe<Output>(
        _ request: ResourceRequest, _ plan: ProcessingPlan, deliversStale: Bool, _ observation: LoadObservation<Output>,
        _ ticket: UInt64
    ) async {
        do throws(LoadError) {
            let load: Load
            switch try await loadLocally(request, plan) {
            case .loaded(let loaded):
                guard !Task.isCancelled else { throw .cancelled }
                return observation.end(.success(loaded.cast()))
            case .missing(let missing): load = missing
            }
            let stale = deliversStale ? await loadStaleFromStore(load) : nil
            if stale != nil { observation.awaitCached() }
            if let stale, let error = blockingError(load, transaction(load)) {
                observation.cached(await loaded(plan, stale, load))
                throw Task.isCancelled ? .cancelled : error
            }
            let fallback = try await loadWhileBlocked(load, plan)
            // Otherwise the transfer could start, and even end, before the waiter leaves.
            guard !Task.isCancelled else { throw .cancelled }
            if let fallback { return observation.end(.success(fallback.cast())) }
            let memoryKey = LoaderMemory.Key.of(request, plan, load.settings)
            let waiter = LoadWaiter(plan: plan, memoryKey: memoryKey) { observation.receive($0) }
            attach(waiter, ticket, to: load, request)
            // An earlier cancellation found no waiter to remove.
            if Task.isCancelled { leave(ticket) }
            // Other events of the load wait for the stale value, and so does its failure.
            if let stale { observation.cached(await loaded(plan, stale, load)) }
        } catch {
            // Nothing else would deliver a failure that waits for the stored value.
            observation.cached(nil)
            observation.end(.failure(error))
        }
    }

    private func loaded<Output>(
        _ plan: ProcessingPlan, _ arrived: LoadedResource, _ load: Load
    ) async -> Loaded<Output>? {
        (try? await value(plan, of: arrived, load).get()).map { arrived.resource.with($0).cast() }
    }
}

extension ResourceLoader {
    /// Loads a request whose value the program already has, and returns events like ``events(for:as:deliversStale:)``.
    ///
    /// The prior value comes first, as ``LoadEvent/cached(_:)``, in place of a stored value that is no longer fresh.
    /// The load ends with the prior value if it finds nothing newer. The source is then ``ResponseSource/notModified``
    /// for an equal version, and ``ResponseSource/local`` for an older one.
    ///
    /// - Parameters:
    ///   - request: The request to load.
    ///   - prior: The value that the program has.
    ///   - version: Its version; a greater version is newer.
    ///   - versionOf: Returns the version of a loaded value. A value without a version counts as newer. Called at most
    ///     once, on any thread.
    public func events<Version: Comparable & Sendable>(
        for request: ResourceRequest, prior: Data, version: Version,
        versionOf: @escaping @Sendable (Loaded<Data>) -> Version?
    ) -> AsyncStream<LoadEvent<Data>> {
        let first = Loaded(prior, of: request.url)
        return events(for: request, deliversStale: false).mapped(after: .cached(first)) { event in
            switch event {
            case .cached: nil
            case .requesting: .requesting(hadCached: true)
            case .progress, .retrying, .storeFailed, .completed, .failed, .cancelled:
                event.map { loaded in
                    guard let found = versionOf(loaded), found <= version else { return loaded }
                    return found == version ? loaded.with(prior, source: .notModified) : first
                }
            }
        }
    }
}
