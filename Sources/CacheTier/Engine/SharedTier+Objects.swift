internal import CacheFoundation
internal import CacheLoader
package import HTTPCaching
internal import HTTPTypes
internal import Synchronization

/// Requests and writes objects of the engine.
extension SharedTier {
    /// An object in memory, with its times on the tier's clock.
    struct Object: Sendable {
        let bytes: Data
        let stamp: Stamp
    }

    /// The tier's present time, and its time of an object.
    package struct Stamp: Sendable {
        let now: HTTPDate
        let lastModified: HTTPDate
        /// The seconds that the object has spent in a cache in front of the engine.
        let age: Int64

        package init(now: HTTPDate, lastModified: HTTPDate, age: Int64) {
            self.now = now
            self.lastModified = lastModified
            self.age = age
        }
    }

    enum Answer<Found: Sendable>: Sendable {
        case found(Found)
        case absent
        case failed(String)

        /// A readable text.
        var summary: String {
            switch self {
            case .found: "found"
            case .absent: "absent"
            case .failed(let reason): reason
            }
        }
    }

    /// The time of signatures: the tier's time if known, else the local time.
    var signingTime: HTTPDate { tierTime ?? HTTPDate(configuration.clock()) }

    /// The tier's present time, or slightly later. `nil` before its first response.
    var tierTime: HTTPDate? {
        let uptime = configuration.uptime()
        return state.withLock { state in
            state.time.map { $0.date.advanced(by: (uptime - $0.uptime).components.seconds) }
        }
    }

    /// Requests an object. The body of a found object has not arrived yet.
    func open(_ name: String, fields: HTTPFields = [:]) async -> Answer<(body: TransportBody, stamp: Stamp)> {
        let response: TransportResponse
        do throws(TransportError) {
            response = try await engine.send(.get, name, fields: fields, now: signingTime)
        } catch {
            return .failed("\(error)")
        }
        let fields = response.head.headerFields
        let now = note(fields)
        switch response.head.status.code {
        case 200:
            guard let now, let lastModified = fields.date(.lastModified, now: now) else {
                return .failed("GET without Date or Last-Modified")
            }
            return .found((response.body, Stamp(now: now, lastModified: lastModified, age: fields.statedAge)))
        case 404, 410:
            _ = try? await response.body.next()
            return .absent
        default:
            return .failed("GET \(response.head.status)")
        }
    }

    /// Requests a whole object of at most `limit` bytes.
    func get(_ name: String, limit: Int, fields: HTTPFields = [:]) async -> Answer<Object> {
        switch await open(name, fields: fields) {
        case .absent: return .absent
        case .failed(let reason): return .failed(reason)
        case .found(let (body, stamp)):
            var bytes = Data()
            do throws(TransportError) {
                while let chunk = try await body.next() {
                    bytes += chunk
                    guard bytes.count <= limit else { break }
                }
            } catch {
                return .failed("\(error)")
            }
            return .found(Object(bytes: bytes, stamp: stamp))
        }
    }

    /// The reason why the engine did not take an object.
    struct WriteFailure: Error {
        let reason: String
        /// The uptime at the beginning of the write.
        let start: Duration
        /// Whether the engine has answered. An engine that refuses writes, such as a full one, may still be readable.
        let isRefusal: Bool
        /// Whether the engine does not support conditional writes.
        var isUnconditional = false
    }

    /// Writes an object.
    func put(_ object: Data, as name: String) async throws(TierError) {
        do throws(WriteFailure) {
            try await write(object, as: name)
        } catch {
            throw .engine(error.reason)
        }
    }

    /// Writes an object and replaces an older one.
    func write(_ object: Data, as name: String) async throws(WriteFailure) {
        _ = try await write(object, as: name, fields: [:], within: configuration.writeDeadline)
    }

    /// Writes an object unless the engine has one of that name (RFC 9110 §13.1.2).
    ///
    /// - Returns: Whether the object was written. Also `true` for an engine that ignores the condition.
    func writeIfAbsent(_ object: Data, as name: String, within limit: Duration) async throws(WriteFailure) -> Bool {
        try await write(object, as: name, fields: [.ifNoneMatch: "*"], within: limit)
    }

    private func write(
        _ object: Data, as name: String, fields: HTTPFields, within limit: Duration
    ) async throws(WriteFailure) -> Bool {
        let start = configuration.uptime()
        let result = await withTimeLimit(limit, configuration.sleep) { [self] () -> Result<Bool, WriteFailure> in
            do throws(TransportError) {
                let response = try await engine.send(.put, name, content: object, fields: fields, now: signingTime)
                _ = note(response.head.headerFields)
                _ = try? await response.body.next()
                let status = response.head.status
                if status.kind == .successful { return .success(true) }
                // S3 answers 409 while another conditional write of the name is running.
                if !fields.isEmpty, status == .preconditionFailed || status == .conflict { return .success(false) }
                // Not 400, because S3 also answers 400 for expired credentials.
                let isUnconditional = !fields.isEmpty && [405, 501].contains(status.code)
                return .failure(
                    WriteFailure(
                        reason: "PUT \(status)", start: start, isRefusal: true, isUnconditional: isUnconditional))
            } catch {
                return .failure(WriteFailure(reason: "\(error)", start: start, isRefusal: false))
            }
        }
        guard let result else { throw WriteFailure(reason: "PUT took too long", start: start, isRefusal: false) }
        return try result.get()
    }

    /// Deletes an object. After a failure, the object stays.
    ///
    /// - Returns: The reason of a failure, or `nil`.
    @discardableResult
    func delete(_ name: String, within limit: Duration? = nil) async -> String? {
        await withTimeLimit(limit ?? configuration.writeDeadline, configuration.sleep) { [self] () -> String? in
            do throws(TransportError) {
                let status = try await engine.send(.delete, name, now: signingTime).head.status
                return status.kind == .successful ? nil : "DELETE \(status)"
            } catch {
                return "\(error)"
            }
        } ?? "DELETE took too long"
    }

    /// Records the tier's time. Returns `nil` for fields that do not contain it.
    private func note(_ fields: HTTPFields) -> HTTPDate? {
        let reference = HTTPDate(configuration.clock())
        guard let date = fields.date(.date, now: reference) else { return nil }
        // A cache in front of the engine repeats an older Date and states its Age.
        let now = date.advanced(by: fields.statedAge)
        let uptime = configuration.uptime()
        state.withLock { $0.time = (now, uptime) }
        return now
    }
}

extension HTTPFields {
    /// The first field of this name as a date.
    func date(_ name: HTTPField.Name, now: HTTPDate) -> HTTPDate? {
        first { $0.name == name }.flatMap { HTTPDate($0, now: now) }
    }
}
