internal import CacheFoundation
internal import CacheStore
internal import Logging
internal import Synchronization

/// The state of all active loads of a loader.
struct ActiveLoads: Sendable {
    /// The state of a load, in addition to its waiters and its task.
    struct Details {
        /// The key of the refused response, if the load asks the origin for the whole instead.
        var refused: CacheKey?
        /// The time that the load has waited for other processes.
        var waited = Duration.zero
        /// The date from which new loads no longer join, once the response of the load has come from the origin.
        var expiry: Date?
        /// The keys of the redirect steps.
        var steps: Set<CacheKey> = []
        /// The scope, if an observer follows the load.
        var observed: ObservedLoad?
    }

    var table: LoadTable<Load, LoadWaiter>
    var cancellations = Cancellations()
    /// The task of each load: its transfer, or its wait for another attempt.
    var tasks: [UInt64: Task<Void, Never>] = [:]
    private var details: [UInt64: Details] = [:]
    /// The numbers last reported to the meters.
    private var reported = LoadOccupancy()

    subscript(id: UInt64) -> Details {
        get { details[id] ?? Details() }
        set { details[id] = newValue }
    }

    init(_ configuration: ResourceLoader.Configuration) {
        table = LoadTable(widths: configuration.lanes, heldBack: configuration.heldBack)
    }

    /// Removes the details of ended loads.
    mutating func discardEnded() {
        // Wait until they are the majority, because the search visits all details.
        guard details.count > 2 * table.occupancy.loads else { return }
        details = details.filter { [table] id, _ in table.waiters(of: id) != nil }
    }

    /// Returns the changes of the numbers since the last call, for the meters.
    mutating func takeOccupancyChange() -> LoadOccupancy {
        let present = table.occupancy
        defer { reported = present }
        return present - reported
    }
}

/// Carries out the actions of the ``LoadTable``.
extension ResourceLoader {
    /// Changes the table, and carries out the resulting actions.
    func change(_ change: (inout LoadTable<Load, LoadWaiter>) -> [LoadTable<Load, LoadWaiter>.Action]) {
        changeLoads { loads in ((), change(&loads.table)) }
    }

    /// Changes the state, and carries out the resulting actions.
    func changeLoads<Result>(
        _ change: (inout sending ActiveLoads) -> sending (Result, [LoadTable<Load, LoadWaiter>.Action])
    ) -> Result {
        let (result, stopped, occupancyChange) = loads.withLock { loads in
            let (result, actions) = change(&loads)
            loads.discardEnded()
            return (result, perform(actions, in: &loads), loads.takeOccupancyChange())
        }
        // Outside the lock: the meters belong to the program, and the handler of a cancellation may take the lock.
        meters.note(occupancyChange)
        for task in stopped { task.cancel() }
        return result
    }

    /// Starts tasks as the actions demand, and returns the tasks to cancel.
    private func perform(
        _ actions: [LoadTable<Load, LoadWaiter>.Action], in loads: inout ActiveLoads
    ) -> [Task<Void, Never>] {
        var stopped: [Task<Void, Never>] = []
        for action in actions {
            switch action {
            case .start(let id, let load, let attempt):
                loads.tasks[id] = task(loads[id].observed?.scope) { await self.run(id, load, attempt) }
            case .stop(let id):
                if let task = loads.tasks.removeValue(forKey: id) { stopped.append(task) }
            }
        }
        return stopped
    }

    // MARK: Waiters

    /// Waits for the result. A cancellation of the calling task ends only this wait; the load continues for the others.
    func join<Output>(
        _ load: Load, _ request: ResourceRequest, _ plan: ProcessingPlan, as type: Output.Type = Output.self,
        heldBackBy: NetworkConditions = []
    ) async throws(LoadError) -> Loaded<Output> {
        // Otherwise the transfer could start, and even end, before the waiter leaves.
        guard !Task.isCancelled else { throw .cancelled }
        let ticket = makeTicket()
        let beganAt = load.configuration.observer.map { _ in load.configuration.clock() }
        var isFirst = false
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = LoadWaiter(plan: plan, memoryKey: .of(request, plan, load.settings)) { event in
                    if case .ended(let result) = event { continuation.resume(returning: result) }
                }
                isFirst = attach(waiter, ticket, to: load, request, heldBackBy: heldBackBy)
                // An earlier cancellation found no waiter to remove.
                if Task.isCancelled { leave(ticket) }
            }
        } onCancel: {
            leave(ticket)
        }
        if !isFirst { load.report(.wait(.sharedRequest), since: beganAt) }
        return try result.get().cast()
    }

    func makeTicket() -> UInt64 { loads.withLock { $0.table.ticket() } }

    /// The result of an attempt to join a load.
    private enum Joining {
        case cancelled
        case joined(LoadTable<Load, LoadWaiter>.Arrival)
        /// The store has had removals since the equal load with this number began.
        case unchecked(UInt64, since: StoreGeneration?, steps: Set<CacheKey>)
    }

    /// Adds a waiter to a load, or begins one. Returns whether the waiter has begun the load. If this load was
    /// cancelled after its creation, the waiter receives ``LoadError/cancelled``. In the conditions `heldBackBy`, the
    /// waiter allows the load to wait.
    @discardableResult
    func attach(
        _ waiter: LoadWaiter, _ ticket: UInt64, to load: Load, _ request: ResourceRequest,
        heldBackBy: NetworkConditions = []
    ) -> Bool {
        let observed = ObservedLoad(load)
        var load = load
        load.generation =
            load.snapshot.flatMap { store.isCurrent($0) ? $0.generation : nil } ?? (try? store.generation())
        let isHoldable = isHoldable(load, heldBackBy)
        let now = load.configuration.clock()
        // A load that no removal of its key has followed.
        var current: UInt64?
        while true {
            let joining: Joining = changeLoads { [load, current] loads in
                guard !loads.cancellations.include(load) else { return (.cancelled, []) }
                if let (id, first) = loads.table.loadToJoin(load) {
                    // A response whose body takes longer than its freshness lifetime answers no later request (RFC 9111
                    // §4.2).
                    if let expiry = loads[id].expiry, expiry <= now {
                        loads.table.supersede(id)
                    } else if id != current, first.generation != load.generation {
                        // A load that began before a removal of its key, or of a key to which it was redirected, may
                        // deliver the removed content.
                        return (.unchecked(id, since: first.generation, steps: loads[id].steps), [])
                    }
                }
                let (arrival, actions) = loads.table.attach(
                    waiter, ticket, to: load, host: load.host, lane: request.lane, abandonment: request.abandonment,
                    heldBackBy: heldBackBy, isHoldable: isHoldable)
                if var observed, arrival == .first, let (id, _) = loads.table.loadToJoin(load) {
                    if actions.contains(where: { $0.isStart(of: id) }) { observed.queuedAt = nil }
                    loads[id].observed = observed
                }
                return (.joined(arrival), actions)
            }
            switch joining {
            case .cancelled:
                waiter.receive(.ended(.failure(.cancelled)))
                return true
            case .joined(.joinedRunning):
                waiter.receive(.requesting)
                return false
            case .joined(let arrival): return arrival == .first
            // Query the store without the lock.
            case .unchecked(let id, let generation, let steps):
                if steps.union([load.target.key]).contains(where: { wasRemoved($0, since: generation) }) {
                    loads.withLock { $0.table.supersede(id) }
                } else {
                    current = id
                }
            }
        }
    }

    /// Returns whether a key was removed since `generation`. Treats an unreadable store as a removal.
    private func wasRemoved(_ key: CacheKey, since generation: StoreGeneration?) -> Bool {
        guard let generation else { return true }
        return (try? store.wasRemoved(key, since: generation)) != false
    }

    /// Removes a waiter. It receives ``LoadError/cancelled``, unless its load has ended.
    func leave(_ ticket: UInt64) {
        let waiter = changeLoads { $0.table.detach(ticket) }
        waiter?.receive(.ended(.failure(.cancelled)))
    }

    func notify(_ id: UInt64, _ event: WaiterEvent) {
        switch event {
        case .responding(let expiry): loads.withLock { $0[id].expiry = expiry }
        case .redirected(let key): loads.withLock { _ = $0[id].steps.insert(key) }
        default: break
        }
        for waiter in loads.withLock({ $0.table.waiters(of: id) }) ?? [] { waiter.receive(event) }
    }

    // MARK: Running a load

    private func run(_ id: UInt64, _ load: Load, _ attempt: Int) async {
        // The task was cancelled before it started.
        guard !Task.isCancelled else { return }
        endWaitForTurn(id, load)
        if waitForProcess(id, load, attempt) { return }
        notify(id, .requesting)
        let (refused, waited) = loads.withLock { ($0[id].refused, $0[id].waited) }
        // The wait for other processes counts toward the timeout.
        let timeLimit = load.timeout.map { $0 - waited }
        // The closure may outlive the load, and must not retain the loader.
        let notify: @Sendable (WaiterEvent) -> Void = { [weak self] in self?.notify(id, $0) }
        let result = await transfer(load, attempt, within: timeLimit, bypassing: refused, notify: notify)
        let arrived: LoadedResource
        switch result {
        case .success(let resource): arrived = resource
        case .failure(let failure):
            if replaceRefused(failure, id, attempt) { return }
            if !failure.isFinal, retry(id, load, attempt + failure.extraAttempts, after: failure) { return }
            guard let stale = await staleAnswer(load, after: failure, bypassing: refused, notify: notify) else {
                return end(id, with: .failure(failure.error))
            }
            arrived = stale
        }
        change { $0.finishTransfer(id) }
        await processAndDeliver(id, load, attempt, arrived)
    }

    /// Schedules another attempt if the failure may be temporary. Returns whether another attempt follows.
    private func retry(_ id: UInt64, _ load: Load, _ attempt: Int, after failure: TransferFailure) -> Bool {
        let configuration = load.configuration
        // Ask the current source: the loader no longer listens to an earlier one.
        let reachability = self.configuration.reachability
        // Without a source, no report says when the origin is reachable again.
        if reachability == nil, case .transport(let error, _) = failure.error,
            [.cannotConnect, .cannotFindHost].contains(error.code)
        {
            return false
        }
        let delay = load.retry.delay(
            after: failure.error, attempt: attempt, retryAfter: failure.retryAfter, chance: configuration.chance())
        guard let delay else { return false }
        let isParked = failure.isOfTransport && reachability?.isReachable(load.host) == false
        let isRetried = changeLoads { loads in
            let (isRetried, actions) = loads.table.fail(
                id, retry: isParked ? .whenReachable : .later, extra: failure.extraAttempts)
            if isRetried {
                loads.tasks[id] =
                    isParked ? nil : Task { await self.wait(delay, configuration.sleep, for: id, attempt) }
            }
            return (isRetried, actions)
        }
        if isRetried {
            notify(id, .retrying(failure.error, failedAttempts: attempt, delay: isParked ? nil : delay))
            // The source may have changed, or have reported the host, before the load was parked.
            if isParked, self.configuration.reachability?.isReachable(load.host) != false {
                updateConditions()
                change { $0.retry(id, after: attempt) }
            }
        }
        return isRetried
    }

    private func wait(
        _ delay: Duration, _ sleep: @Sendable (Duration) async throws -> Void, for id: UInt64, _ attempt: Int
    ) async {
        // A cancellation means that a new waiter has queued the next attempt, or that all waiters have left.
        guard (try? await sleep(delay)) != nil else { return }
        change { $0.retry(id, after: attempt) }
    }

    /// Runs the processing plans of all waiters on the body, each once. Includes waiters that join in the meantime.
    private func processAndDeliver(
        _ id: UInt64, _ load: Load, _ attempt: Int, _ arrived: LoadedResource
    ) async {
        let resource = arrived.resource
        var values: [ProcessingPlan.Identity: Result<any Sendable, LoadError>] = [:]
        var isUsable = true
        while let waiters = loads.withLock({ $0.table.waiters(of: id) }) {
            if let missing = waiters.first(where: { values[$0.plan.identity] == nil })?.plan {
                values[missing.identity] = await value(missing, of: arrived, load)
                continue
            }
            if isUsable, values.values.allSatisfy(\.isRefusal), !values.isEmpty {
                isUsable = false
                if await replaceRefused(arrived, id, load, attempt, by: Set(values.keys)) { return }
                continue
            }
            let served: [LoadWaiter]? = changeLoads { loads in
                // A waiter that joined during the processing may have another processing plan.
                let waiters = loads.table.waiters(of: id) ?? []
                guard waiters.allSatisfy({ values[$0.plan.identity] != nil }) else { return (nil, []) }
                loads.tasks[id] = nil
                return loads.table.end(id)
            }
            guard let served else { continue }
            remember(served, values, of: arrived, load)
            for waiter in served {
                guard let value = values[waiter.plan.identity] else { continue }
                waiter.receive(.ended(value.map { resource.with($0) }))
            }
            loads.withLock { $0.table.finishDelivery(id) }
            return
        }
    }

    private func remember(
        _ waiters: [LoadWaiter], _ values: [ProcessingPlan.Identity: Result<any Sendable, LoadError>],
        of arrived: LoadedResource, _ load: Load
    ) {
        guard let entry = arrived.entry else { return }
        var remembered: [LoaderMemory.Key: any Sendable] = [:]
        for waiter in waiters {
            guard let key = waiter.memoryKey, remembered[key] == nil else { continue }
            if case .success(let value)? = values[waiter.plan.identity] { remembered[key] = value }
        }
        remember(remembered, of: arrived.resource, arrived.resource.data.count, entry, arrived.found, load)
    }

    private func end(_ id: UInt64, with result: Result<Loaded<any Sendable>, LoadError>) {
        let waiters = changeLoads { loads in
            loads.tasks[id] = nil
            return loads.table.end(id)
        }
        for waiter in waiters { waiter.receive(.ended(result)) }
        loads.withLock { $0.table.finishDelivery(id) }
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
        guard let value = value as? Value else { preconditionFailure("a plan makes values of its identity's type") }
        return with(value)
    }
}
