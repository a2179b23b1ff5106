public import CacheFoundation
internal import Synchronization

/// A clock whose time only a test changes.
///
/// One clock drives a store, the queries on its views, and its caches and loaders:
///
/// ```swift
/// let clock = ManualClock()
/// let store = try ResponseStore.temporary(clock: clock)
/// let loader = ResourceLoader(store: store, transport: transport, clock: clock)
/// …
/// clock.advance(by: .seconds(60))
/// ```
///
/// For any other parameter of type `@Sendable () -> Date` pass ``date()`` as `clock.date`. For a parameter that pauses
/// a task pass ``sleep(_:)`` as `clock.sleep`. Safe to use from any thread.
public final class ManualClock: Sendable {
    private struct State {
        var now: Date
        /// The sum of all advances. Sleeps end relative to it, so that setting the date wakes no task.
        var elapsed = Duration.zero
        var sleeps: [Duration] = []
        var nextID = 0
        var sleeping: [(id: Int, end: Duration, caller: CheckedContinuation<Bool, Never>)] = []
        var observing: [(id: Int, count: Int, caller: CheckedContinuation<Void, Never>)] = []

        mutating func makeID() -> Int {
            nextID += 1
            return nextID
        }

        /// Removes and returns the tasks whose sleep is over, in the order in which the sleeps end.
        mutating func takeRested() -> [CheckedContinuation<Bool, Never>] {
            let rested = sleeping.filter { $0.end <= elapsed }.sorted { ($0.end, $0.id) < ($1.end, $1.id) }
            sleeping.removeAll { $0.end <= elapsed }
            return rested.map(\.caller)
        }
    }

    /// Guards the time and the waiting tasks. Continuations resume outside the lock.
    private let state: Mutex<State>

    /// Creates a clock at `start`. The default is a Sunday in 1994, the date in RFC 9110.
    public init(_ start: Date = Date(timeIntervalSince1970: 784_111_777)) {
        state = Mutex(State(now: start))
    }

    /// The present time of the clock.
    public var now: Date { state.withLock { $0.now } }

    /// Returns the present time of the clock.
    @Sendable public func date() -> Date { now }

    /// Advances the clock and wakes the tasks whose sleep is over.
    ///
    /// Returns before these tasks have run. If a task sleeps again, only another advance wakes it.
    public func advance(by duration: Duration) {
        precondition(duration >= .zero, "a clock advances; use set(_:) to set it back")
        advance(by: duration, seconds: duration / .seconds(1))
    }

    /// Advances the clock by `seconds`. A negative number sets it back and wakes no task.
    package func advance(by seconds: TimeInterval) {
        advance(by: .seconds(max(0, seconds)), seconds: seconds)
    }

    private func advance(by duration: Duration, seconds: TimeInterval) {
        let rested = state.withLock { state in
            state.now += seconds
            state.elapsed += duration
            return state.takeRested()
        }
        for caller in rested { caller.resume(returning: true) }
    }

    /// Sets the clock to `date`, as a user sets a system's clock. No sleep becomes shorter or longer.
    public func set(_ date: Date) {
        state.withLock { $0.now = date }
    }

    // MARK: Sleeping

    /// Returns once the clock has advanced by `duration`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @Sendable public func sleep(_ duration: Duration) async throws {
        let id = state.withLock { $0.makeID() }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let (isOver, observers) = state.withLock { state in
                    state.sleeps.append(duration)
                    let count = state.sleeps.count
                    let observers = state.observing.filter { $0.count <= count }
                    state.observing.removeAll { $0.count <= count }
                    if Task.isCancelled { return (false as Bool?, observers) }
                    if duration <= .zero { return (true, observers) }
                    state.sleeping.append((id, state.elapsed + duration, caller))
                    return (nil, observers)
                }
                if let isOver { caller.resume(returning: isOver) }
                for observer in observers { observer.caller.resume() }
            }
        } onCancel: {
            let caller = state.withLock { state in
                state.sleeping.firstIndex { $0.id == id }.map { state.sleeping.remove(at: $0).caller }
            }
            caller?.resume(returning: false)
        }
        guard isOver else { throw CancellationError() }
    }

    /// The durations of all calls of ``sleep(_:)`` since the creation of the clock, in order.
    public var sleeps: [Duration] { state.withLock { $0.sleeps } }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { state.withLock { $0.sleeping.count } }

    /// Returns after `count` calls of ``sleep(_:)`` since the creation of the clock, or when this task is cancelled.
    ///
    /// Call this before ``advance(by:)``, because an advance ends only sleeps that have begun.
    public func waitForSleeps(_ count: Int) async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let isReached = state.withLock { state in
                    if state.sleeps.count >= count || Task.isCancelled { return true }
                    state.observing.append((id, count, caller))
                    return false
                }
                if isReached { caller.resume() }
            }
        } onCancel: {
            let caller = state.withLock { state in
                state.observing.firstIndex { $0.id == id }.map { state.observing.remove(at: $0).caller }
            }
            caller?.resume()
        }
    }
}
