public import CacheFoundation
internal import CacheLoader
public import CacheTier
internal import Synchronization

/// An engine in memory, which counts its requests. For tests of a tier without a server.
///
/// ```swift
/// let engine = InMemoryEngine(clock: clock.date)
/// let tier = SharedTier(engine: engine, keys: keys)
/// ```
public final class InMemoryEngine: TierEngine {
    /// The kind of a request.
    public enum Operation: String, Hashable, Sendable {
        case get, put, delete
    }

    /// A request that has arrived.
    public struct Request: Hashable, Sendable {
        /// The kind.
        public let operation: Operation
        /// The name of the object.
        public let name: String
        /// The number of written bytes, or of bytes in the answer.
        public let byteCount: Int
    }

    private struct State {
        var objects: [String: (bytes: Data, lastModified: Date)] = [:]
        var requests: [Request] = []
        var fault: (@Sendable (Operation, String) async throws(TierEngineError) -> Void)?
    }

    /// The default deadline of a tier on this engine.
    public let deadline: Duration
    /// Whether the engine honours the condition of a write.
    public let hasConditionalWrites: Bool
    private let clock: @Sendable () -> Date
    /// Guards the objects, the requests and the fault.
    private let state = Mutex(State())

    /// Creates an engine without objects.
    ///
    /// - Parameters:
    ///   - deadline: The default deadline of a tier on this engine; 100 milliseconds by default.
    ///   - hasConditionalWrites: Whether the engine honours the condition of a write.
    ///   - clock: The clock of the engine. The system clock by default.
    public init(
        deadline: Duration = .milliseconds(100), hasConditionalWrites: Bool = true,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.deadline = deadline
        self.hasConditionalWrites = hasConditionalWrites
        self.clock = clock
    }

    /// The requests that have arrived, in order.
    public var requests: [Request] { state.withLock { $0.requests } }

    /// The names of the objects, sorted.
    public var names: [String] { state.withLock { $0.objects.keys.sorted() } }

    /// Discards the record of the requests.
    public func removeRequests() { state.withLock { $0.requests = [] } }

    /// Runs a closure before each request, which may wait or throw.
    public func setFault(_ fault: (@Sendable (Operation, String) async throws(TierEngineError) -> Void)?) {
        state.withLock { $0.fault = fault }
    }

    /// Requests an object.
    public func object(named name: String) async throws(TierEngineError) -> TierObject {
        try await state.withLock { $0.fault }?(.get, name)
        return state.withLock { state in
            let object = state.objects[name]
            state.requests.append(Request(operation: .get, name: name, byteCount: object?.bytes.count ?? 0))
            return TierObject(
                object.map { .init(body: TransportBody($0.bytes), lastModified: $0.lastModified) }, now: clock())
        }
    }

    /// Writes an object.
    public func put(_ bytes: Data, as name: String, onlyIfAbsent: Bool) async throws(TierEngineError) -> Bool {
        try await state.withLock { $0.fault }?(.put, name)
        return state.withLock { state in
            state.requests.append(Request(operation: .put, name: name, byteCount: bytes.count))
            if onlyIfAbsent, hasConditionalWrites, state.objects[name] != nil { return false }
            state.objects[name] = (bytes, clock())
            return true
        }
    }

    /// Deletes an object.
    public func delete(_ name: String) async throws(TierEngineError) {
        try await state.withLock { $0.fault }?(.delete, name)
        state.withLock { state in
            state.requests.append(Request(operation: .delete, name: name, byteCount: 0))
            state.objects[name] = nil
        }
    }
}
