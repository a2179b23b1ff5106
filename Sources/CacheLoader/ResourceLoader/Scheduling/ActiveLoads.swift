internal import CacheStore
internal import HTTPCaching
internal import Logging
internal import Synchronization

/// The state of all loads that a loader has under way.
struct Flights: Sendable {
    var board: LoadBoard<Load, LoadWaiter>
    var cancellations = Cancellations()
    /// The task of each load: its transfer, or its wait for another attempt.
    var tasks: [UInt64: Task<Void, Never>] = [:]
    /// The key of the stored response that no processor accepted, for each load that asks the origin for the whole
    /// instead.
    var refused: [UInt64: CacheKey] = [:]
    /// The time that each load has waited for other processes.
    var waits: [UInt64: Duration] = [:]

    init(widths: LaneWidths) {
        board = LoadBoard(widths: widths)
    }

    /// Removes the state of loads that have ended.
    mutating func discardEnded() {
        guard !refused.isEmpty || !waits.isEmpty else { return }
        refused = refused.filter { [board] flight, _ in board.waiters(of: flight) != nil }
        waits = waits.filter { [board] flight, _ in board.waiters(of: flight) != nil }
    }
}

/// Carries out the actions of the ``LoadBoard``.
extension ResourceLoader {
    /// Changes the board, and carries out the resulting actions.
    func change(_ change: (inout LoadBoard<Load, LoadWaiter>) -> [LoadBoard<Load, LoadWaiter>.Action]) {
        changeFlights { flights in ((), change(&flights.board)) }
    }

    /// Changes the state, and carries out the resulting actions. Cancels tasks after it has released the lock, because
    /// a cancellation handler may take the lock.
    func changeFlights<Result>(
        _ change: (inout sending Flights) -> sending (Result, [LoadBoard<Load, LoadWaiter>.Action])
    ) -> Result {
        let (result, stopped) = flights.withLock { flights in
            let (result, actions) = change(&flights)
            flights.discardEnded()
            return (result, perform(actions, in: &flights))
        }
        for task in stopped { task.cancel() }
        return result
    }

    /// Starts tasks as the actions demand, and returns the tasks to cancel.
    private func perform(
        _ actions: [LoadBoard<Load, LoadWaiter>.Action], in flights: inout Flights
    ) -> [Task<Void, Never>] {
        var stopped: [Task<Void, Never>] = []
        for action in actions {
            switch action {
            case .start(let flight, let load, let attempt):
                flights.tasks[flight] = Task { await self.fly(flight, load, attempt) }
            case .stop(let flight):
                if let task = flights.tasks.removeValue(forKey: flight) { stopped.append(task) }
            }
        }
        return stopped
    }

    // MARK: Waiters

    /// Waits for the result of a load. A cancellation of the calling task ends the wait at once; the load continues for
    /// its other waiters.
    func join<Output>(
        _ load: Load, _ request: ResourceRequest, _ recipe: Recipe, as type: Output.Type = Output.self
    ) async throws(LoadError) -> Loaded<Output> {
        // Otherwise the transfer could start, and even end, before the waiter leaves.
        guard !Task.isCancelled else { throw .cancelled }
        let ticket = makeTicket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = LoadWaiter(recipe: recipe, memoryKey: memoryKey(request, recipe)) { event in
                    if case .ended(let result) = event { continuation.resume(returning: result) }
                }
                attach(waiter, ticket, to: load, request)
                // An earlier cancellation has found no waiter to remove.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        return try result.get().cast()
    }

    func makeTicket() -> UInt64 { flights.withLock { $0.board.ticket() } }

    /// The result of an attempt to join a load.
    private enum Joining {
        case cancelled
        case joined(LoadBoard<Load, LoadWaiter>.Arrival)
        /// The store has had removals since the equal load with this number began.
        case unchecked(UInt64, since: StoreGeneration?)
    }

    /// Adds a waiter to a load, or begins one. If this load was cancelled after its creation, the waiter receives
    /// ``LoadError/cancelled``.
    ///
    /// A load that began before a removal of the key may deliver the removed content. The waiter does not join it.
    func attach(_ waiter: LoadWaiter, _ ticket: UInt64, to load: Load, _ request: ResourceRequest) {
        var load = load
        load.generation = try? store.generation()
        // A load that no removal of its key has followed.
        var current: UInt64?
        while true {
            let joining: Joining = changeFlights { [load, current] flights in
                guard !flights.cancellations.include(load) else { return (.cancelled, []) }
                if let (flight, first) = flights.board.flight(of: load), flight != current,
                    first.generation != load.generation
                {
                    return (.unchecked(flight, since: first.generation), [])
                }
                let (arrival, actions) = flights.board.attach(
                    waiter, ticket, to: load, host: load.host, lane: request.lane, abandonment: request.abandonment)
                return (.joined(arrival), actions)
            }
            switch joining {
            case .cancelled: return waiter.receive(.ended(.failure(.cancelled)))
            case .joined(.joinedRunning): return waiter.receive(.requesting)
            case .joined: return
            // The store is asked without the lock.
            case .unchecked(let flight, let generation):
                if wasRemoved(load.target.key, since: generation) {
                    flights.withLock { $0.board.supersede(flight) }
                } else {
                    current = flight
                }
            }
        }
    }

    /// Returns whether a key was removed since `generation`. An unreadable store counts as a removal.
    private func wasRemoved(_ key: CacheKey, since generation: StoreGeneration?) -> Bool {
        guard let generation else { return true }
        return (try? store.wasRemoved(key, since: generation)) != false
    }

    /// Removes a waiter. It receives ``LoadError/cancelled``, unless its load has ended.
    func leave(_ ticket: UInt64) {
        let waiter = changeFlights { $0.board.detach(ticket) }
        waiter?.receive(.ended(.failure(.cancelled)))
    }

    func becameReachable(_ host: String?) {
        change { $0.becameReachable(host) }
    }

    func tell(_ flight: UInt64, _ event: FlightEvent) {
        for waiter in flights.withLock({ $0.board.waiters(of: flight) }) ?? [] { waiter.receive(event) }
    }

    // MARK: Running a load

    private func fly(_ flight: UInt64, _ load: Load, _ attempt: Int) async {
        // The task was cancelled before it started.
        guard !Task.isCancelled else { return }
        if waitForProcess(flight, load, attempt) { return }
        tell(flight, .requesting)
        let epoch = memory.epoch(of: load.target.key)
        let (refused, waited) = flights.withLock { ($0.refused[flight], $0.waits[flight] ?? .zero) }
        let timeLimit = load.timeout.map { $0 - waited }
        // The closure may outlive the load, and must not retain the loader.
        let result = await transfer(load, attempt, within: timeLimit, bypassing: refused) { [weak self] in
            self?.tell(flight, $0)
        }
        switch result {
        case .success(let arrived):
            forgetReplaced(by: arrived, load)
            change { $0.land(flight) }
            await land(flight, load, attempt, arrived, since: epoch)
        case .failure(let failure):
            if !failure.isFinal, retry(flight, load, attempt + failure.extraAttempts, after: failure) { return }
            end(flight, with: .failure(failure.error))
        }
    }

    /// Schedules another attempt if the failure may be temporary.
    ///
    /// - Returns: Whether another attempt follows.
    private func retry(_ flight: UInt64, _ load: Load, _ attempt: Int, after failure: TransferFailure) -> Bool {
        let configuration = load.configuration
        // Ask the current source: the loader no longer listens to an earlier one.
        let reachability = self.configuration.reachability
        // Without a source, no report says when the origin is reachable again.
        if reachability == nil, case .transport(let error, _) = failure.error,
            error.code == .cannotConnect
        {
            return false
        }
        let delay = load.retry.delay(
            after: failure.error, attempt: attempt, retryAfter: failure.retryAfter, chance: configuration.chance())
        guard let delay else { return false }
        let isParked = failure.isOfTransport && reachability?.isReachable(load.host) == false
        let isRetried = changeFlights { flights in
            let (isRetried, actions) = flights.board.fail(
                flight, retry: isParked ? .whenReachable : .later, extra: failure.extraAttempts)
            if isRetried {
                flights.tasks[flight] =
                    isParked ? nil : Task { await self.wait(delay, configuration.sleep, for: flight, attempt) }
            }
            return (isRetried, actions)
        }
        if isRetried {
            let retry = LoadRetry(failedAttempts: attempt, delay: isParked ? nil : delay, error: failure.error)
            tell(flight, .retrying(retry))
            // The source may have changed, or have reported the host, before the load was parked.
            if isParked, self.configuration.reachability?.isReachable(load.host) != false {
                change { $0.retry(flight, after: attempt) }
            }
        }
        return isRetried
    }

    private func wait(
        _ delay: Duration, _ sleep: @Sendable (Duration) async throws -> Void, for flight: UInt64, _ attempt: Int
    ) async {
        // A cancellation means that a new waiter has queued the next attempt, or that no waiter is left.
        guard (try? await sleep(delay)) != nil else { return }
        change { $0.retry(flight, after: attempt) }
    }

    /// Runs the processing plans of all waiters on the body, each plan once. Includes waiters that join meanwhile.
    private func land(
        _ flight: UInt64, _ load: Load, _ attempt: Int, _ arrived: Arrived, since epoch: Epoch
    ) async {
        let resource = arrived.resource
        var values: [Recipe.Identity: Result<any Sendable, LoadError>] = [:]
        var isUsable = true
        while let waiters = flights.withLock({ $0.board.waiters(of: flight) }) {
            if let missing = waiters.first(where: { values[$0.recipe.identity] == nil })?.recipe {
                values[missing.identity] = await value(missing, of: arrived, load)
                continue
            }
            if isUsable, values.values.allSatisfy(\.isRefusal), !values.isEmpty {
                isUsable = false
                if await replaceRefused(arrived, flight, load, attempt, by: Set(values.keys)) { return }
                continue
            }
            let landed: [LoadWaiter]? = changeFlights { flights in
                // A waiter that has joined meanwhile may have another processing plan.
                let waiters = flights.board.waiters(of: flight) ?? []
                guard waiters.allSatisfy({ values[$0.recipe.identity] != nil }) else { return (nil, []) }
                flights.tasks[flight] = nil
                return flights.board.end(flight)
            }
            guard let landed else { continue }
            remember(landed, values, of: arrived, load, since: epoch)
            for waiter in landed {
                guard let value = values[waiter.recipe.identity] else { continue }
                waiter.receive(.ended(value.map { resource.with($0) }))
            }
            flights.withLock { $0.board.told(flight) }
            return
        }
    }

    private func remember(
        _ waiters: [LoadWaiter], _ values: [Recipe.Identity: Result<any Sendable, LoadError>], of arrived: Arrived,
        _ load: Load, since epoch: Epoch
    ) {
        guard let entry = arrived.entry else { return }
        var remembered: [LoaderMemory.Key: any Sendable] = [:]
        for waiter in waiters {
            guard let key = waiter.memoryKey, remembered[key] == nil else { continue }
            if case .success(let value)? = values[waiter.recipe.identity] { remembered[key] = value }
        }
        remember(remembered, of: arrived.resource, arrived.resource.data.count, entry, load, since: epoch)
    }

    private func end(_ flight: UInt64, with result: Result<Loaded<any Sendable>, LoadError>) {
        let waiters = changeFlights { flights in
            flights.tasks[flight] = nil
            return flights.board.end(flight)
        }
        for waiter in waiters { waiter.receive(.ended(result)) }
        flights.withLock { $0.board.told(flight) }
    }
}

extension Result where Failure == LoadError {
    /// Whether a processor has refused the body.
    fileprivate var isRefusal: Bool {
        if case .failure(let error) = self { error.isRefusal } else { false }
    }
}

extension Loaded<any Sendable> {
    /// Returns the same result with the value as the type that its processing plan makes.
    func cast<Value>(as type: Value.Type = Value.self) -> Loaded<Value> {
        guard let value = value as? Value else { preconditionFailure("a recipe makes what its identity says") }
        return with(value)
    }
}
