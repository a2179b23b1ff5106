internal import Synchronization

/// Suspends tasks until a test advances the time.
///
/// Any thread may advance the time. Pass ``sleep(_:)`` as `sleeper.sleep` for a parameter of type
/// `@Sendable (Duration) async throws -> Void`.
///
///     await sleeper.reached(1)
///     #expect(sleeper.durations == [.seconds(1)])
///     sleeper.advance(by: .seconds(1))
public final class ManualSleeper: Sendable {
    private struct State {
        var now = Duration.zero
        var durations: [Duration] = []
        var nextID = 0
        var sleeping: [(id: Int, end: Duration, caller: CheckedContinuation<Bool, Never>)] = []
        var observing: [(id: Int, count: Int, caller: CheckedContinuation<Void, Never>)] = []

        mutating func makeID() -> Int {
            nextID += 1
            return nextID
        }
    }

    /// Guards the time and the sleeping callers. Continuations resume outside the lock.
    private let state = Mutex(State())

    /// Creates a sleeper at time zero.
    public init() {}

    /// The durations of all calls of ``sleep(_:)``, in order, including finished ones.
    public var durations: [Duration] { state.withLock { $0.durations } }

    /// The number of sleeping callers.
    public var sleepers: Int { state.withLock { $0.sleeping.count } }

    /// Returns once the time has advanced by `duration`.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    @Sendable public func sleep(_ duration: Duration) async throws {
        let id = state.withLock { $0.makeID() }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let (isOver, observers) = state.withLock { state in
                    state.durations.append(duration)
                    let observers = state.observing.filter { $0.count <= state.durations.count }
                    state.observing.removeAll { $0.count <= state.durations.count }
                    if Task.isCancelled { return (false as Bool?, observers) }
                    if duration <= .zero { return (true, observers) }
                    state.sleeping.append((id, state.now + duration, caller))
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

    /// Advances the time, and wakes the callers whose time has come, in the order of their end times.
    public func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let now = state.now
            defer { state.sleeping.removeAll { $0.end <= now } }
            return state.sleeping.filter { $0.end <= now }.sorted { ($0.end, $0.id) < ($1.end, $1.id) }
        }
        for sleeper in woken { sleeper.caller.resume(returning: true) }
    }

    /// Returns after `count` calls of ``sleep(_:)``, or when this task is cancelled.
    public func reached(_ count: Int) async {
        let id = state.withLock { $0.makeID() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { caller in
                let isReached = state.withLock { state in
                    if state.durations.count >= count || Task.isCancelled { return true }
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
