internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResourceLoader {
    /// What happens to the load of a request, from now on and up to its end, as ``LoadEvent`` says.
    ///
    /// The load begins at once, whether anybody reads the events or not. Letting go of the sequence, or cancelling the task
    /// that reads it, is to wait no longer.
    ///
    /// - Parameters:
    ///   - request: What is loaded.
    ///   - deliversStale: Whether a stored value that is not fresh comes first, as ``LoadEvent/cached(_:)``. Never one that
    ///     its origin forbids to serve stale.
    public func events(for request: ResourceRequest, deliversStale: Bool = true) -> AsyncStream<LoadEvent<Data>> {
        events(for: request, .bytes, deliversStale: deliversStale)
    }

    /// Loads a request and tells an actor what happens to it, as ``events(for:deliversStale:)`` does.
    ///
    /// The handler is called on the actor, never within this call, and for the last time with the end of the load.
    ///
    /// - Returns: What cancels the load. To let go of it does not.
    @discardableResult
    public func start<Home: Actor>(
        _ request: ResourceRequest, deliversStale: Bool = true, on actor: Home,
        handler: @escaping @Sendable (isolated Home, LoadEvent<Data>) -> Void
    ) -> LoadHandle {
        start(request, .bytes, deliversStale: deliversStale) { (events: AsyncStream<LoadEvent<Data>>) in
            for await event in events { await handler(actor, event) }
        }
    }

    /// Loads a request and tells the main actor what happens to it, as ``events(for:deliversStale:)`` does.
    ///
    /// The handler is never called within this call, and for the last time with the end of the load.
    ///
    /// - Returns: What cancels the load. To let go of it does not.
    @discardableResult
    public func start(
        _ request: ResourceRequest, deliversStale: Bool = true,
        handler: (@MainActor @Sendable (LoadEvent<Data>) -> Void)? = nil
    ) -> LoadHandle {
        start(request, .bytes, deliversStale: deliversStale) { (events: AsyncStream<LoadEvent<Data>>) in
            for await event in events { await handler?(event) }
        }
    }

    // MARK: Events

    func start<Output>(
        _ request: ResourceRequest, _ recipe: Recipe, deliversStale: Bool,
        read: @escaping @Sendable (AsyncStream<LoadEvent<Output>>) async -> Void
    ) -> LoadHandle {
        let (events, cancel) = observe(request, recipe, deliversStale: deliversStale, as: Output.self)
        Task { await read(events) }
        return LoadHandle(cancel)
    }

    func events<Output>(
        for request: ResourceRequest, _ recipe: Recipe, deliversStale: Bool
    ) -> AsyncStream<LoadEvent<Output>> {
        observe(request, recipe, deliversStale: deliversStale, as: Output.self).events
    }

    private func observe<Output>(
        _ request: ResourceRequest, _ recipe: Recipe, deliversStale: Bool, as type: Output.Type
    ) -> (events: AsyncStream<LoadEvent<Output>>, cancel: @Sendable () -> Void) {
        let ticket = makeTicket()
        let (stream, continuation) = AsyncStream<LoadEvent<Output>>.makeStream()
        let observation = LoadObservation(continuation)
        let task = Task { await observe(request, recipe, deliversStale: deliversStale, observation, ticket) }
        let cancel = { @Sendable [weak self] in
            // Before it waits for a flight, the task is all there is to cancel; afterwards it may have ended.
            task.cancel()
            _ = self?.leave(ticket)
        }
        continuation.onTermination = { termination in
            if case .cancelled = termination { cancel() }
        }
        return (stream, cancel)
    }

    private func observe<Output>(
        _ request: ResourceRequest, _ recipe: Recipe, deliversStale: Bool, _ observation: LoadObservation<Output>,
        _ ticket: UInt64
    ) async {
        do throws(LoadError) {
            let load: Load
            switch try await loadLocally(request, recipe) {
            case .loaded(let loaded):
                guard !Task.isCancelled else { throw .cancelled }
                return observation.end(.success(loaded.cast()))
            case .missing(let missing): load = missing
            }
            let stale = deliversStale ? await loadStaleFromStore(load) : nil
            if stale != nil { observation.awaitCached() }
            if let stale, let error = blockingError(load, transaction(load)) {
                observation.cached(await loaded(recipe, stale, load))
                throw Task.isCancelled ? .cancelled : error
            }
            let fallback = try await loadWhileBlocked(load, recipe)
            // Else its transfer could begin, and even end, before it leaves.
            guard !Task.isCancelled else { throw .cancelled }
            if let fallback { return observation.end(.success(fallback.cast())) }
            let waiter = LoadWaiter(recipe: recipe, memoryKey: memoryKey(request, recipe)) { observation.receive($0) }
            attach(waiter, ticket, to: load, request)
            // A cancellation before this point found nobody to tell.
            if Task.isCancelled { leave(ticket) }
            // What the flight has to tell waits for this, but its end does not.
            if let stale { observation.cached(await loaded(recipe, stale, load)) }
        } catch {
            observation.end(.failure(error))
        }
    }

    private func loaded<Output>(_ recipe: Recipe, _ arrived: Arrived, _ load: Load) async -> Loaded<Output>? {
        (try? await value(recipe, of: arrived, load).get()).map { arrived.resource.with($0).cast() }
    }
}

/// A load that was begun with a handler.
public final class LoadHandle: Sendable {
    private let leave: @Sendable () -> Void

    init(_ leave: @escaping @Sendable () -> Void) {
        self.leave = leave
    }

    /// Does not want the load any more: its handler is told so, unless it has been told of an end. May be called again.
    public func cancel() {
        leave()
    }
}
