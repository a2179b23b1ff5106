internal import CacheFoundation
internal import CacheLoader
internal import Synchronization

/// Requests and writes objects of the engine, each within the deadline for writes.
extension SharedTier {
    /// An object in memory, with its times on the tier's clock.
    struct Object: Sendable {
        let bytes: Data
        let stamp: Stamp
    }

    /// The tier's present time, and its time of an object.
    struct Stamp: Sendable {
        let now: HTTPDate
        let lastModified: HTTPDate
    }

    enum Answer<Found: Sendable>: Sendable {
        case found(Found)
        case absent
        case failed(TierEngineError)
    }

    /// The tier's present time, or slightly earlier. `nil` before its first response.
    var tierTime: HTTPDate? {
        let uptime = configuration.uptime()
        return state.withLock { state in
            state.time.map { $0.date.advanced(by: (uptime - $0.uptime).components.seconds) }
        }
    }

    /// Requests an object. The body of a found object has not arrived yet.
    func open(_ name: String) async -> Answer<(body: TransportBody, stamp: Stamp)> {
        let result = await bounded { [engine] () async throws(TierEngineError) in try await engine.object(named: name) }
        let arrival = configuration.uptime()
        switch result {
        case .failure(let error): return .failed(error)
        case .success(let object):
            let now = HTTPDate(object.now)
            state.withLock { $0.time = (now, arrival) }
            guard let content = object.content else { return .absent }
            return .found((content.body, Stamp(now: now, lastModified: HTTPDate(content.lastModified))))
        }
    }

    /// Requests a whole object of at most `limit` bytes.
    func get(_ name: String, limit: Int) async -> Answer<Object> {
        switch await open(name) {
        case .absent: return .absent
        case .failed(let error): return .failed(error)
        case .found(let (body, stamp)):
            let result = await bounded { () async throws(TierEngineError) in
                var bytes = Data()
                do throws(TransportError) {
                    while let chunk = try await body.next() {
                        bytes += chunk
                        guard bytes.count <= limit else { break }
                    }
                } catch {
                    throw .unavailable("\(error)")
                }
                return bytes
            }
            switch result {
            case .success(let bytes): return .found(Object(bytes: bytes, stamp: stamp))
            case .failure(let error): return .failed(error)
            }
        }
    }

    /// Writes an object, and returns whether it was written. Always `true` without the condition.
    @discardableResult
    func put(_ bytes: Data, as name: String, onlyIfAbsent: Bool = false) async throws(TierEngineError) -> Bool {
        let start = configuration.uptime()
        let result = await bounded { [engine] () async throws(TierEngineError) in
            try await engine.put(bytes, as: name, onlyIfAbsent: onlyIfAbsent)
        }
        if case .failure(let error) = result { noteFailure(error, since: start) }
        return try result.get()
    }

    /// Writes an object with a proof of its payload. See ``put(_:as:onlyIfAbsent:)``.
    @discardableResult
    func putSealed(
        _ payload: Data, as name: String, onlyIfAbsent: Bool = false
    ) async throws(TierEngineError) -> Bool {
        guard let object = SealedObject.sealing(payload, as: name, with: keys) else {
            throw .refused("the keys cannot write")
        }
        return try await put(object, as: name, onlyIfAbsent: onlyIfAbsent)
    }

    /// Deletes an object. After a failure, the object stays.
    func delete(_ name: String) async throws(TierEngineError) {
        try await bounded { [engine] () async throws(TierEngineError) in try await engine.delete(name) }.get()
    }

    /// Records that the engine did not answer, or wants no requests. An engine that refuses a write, such as a full
    /// one, may still be readable.
    func noteFailure(_ error: TierEngineError, since start: Duration) {
        let now = configuration.uptime()
        switch error {
        case .unavailable: change { $0.breaker.failed(from: start, to: now) }
        case .busy(_, let pause): change { $0.breaker.open(until: now + pause) }
        case .refused: break
        }
    }

    private func bounded<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws(TierEngineError) -> Value
    ) async -> Result<Value, TierEngineError> {
        let result = await withTimeLimit(configuration.writeDeadline, configuration.sleep) {
            do throws(TierEngineError) {
                return Result<Value, TierEngineError>.success(try await operation())
            } catch {
                return .failure(error)
            }
        }
        return result ?? .failure(.unavailable("no answer in time"))
    }
}
