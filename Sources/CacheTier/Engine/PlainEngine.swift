public import CacheFoundation
public import CacheLoader

/// An HTTP server with plain `GET`, `PUT` and `DELETE`, such as nginx with its DAV module.
///
/// Its responses must have `Date` and `Last-Modified`, because these are the clock of the tier.
public struct PlainEngine: TierEngine {
    private let requests: ObjectRequests

    /// Creates an engine. Sends no request.
    ///
    /// - Parameters:
    ///   - url: The folder of the tier: an http or https URL.
    ///   - fields: Fields that each request carries, such as `Authorization`.
    ///   - conditionalWrites: Whether the server honours `If-None-Match: *` in a `PUT` (RFC 9110 §13.1.2). nginx does
    ///     not.
    ///   - transport: Carries the requests. Should not share connections with origins, which may be busy.
    /// - Throws: ``TierError/invalidURL(_:)``.
    public init(
        _ url: String, fields: HTTPFields = [:], conditionalWrites: Bool = false, transport: any HTTPTransport
    ) throws(TierError) {
        requests = try ObjectRequests(
            url, conditionalWrites, transport: transport, clock: { Date() },
            authorize: { request, _, _ in request.headerFields += fields })
    }

    /// Whether the server honours `If-None-Match: *` in a `PUT`, as far as known.
    public var hasConditionalWrites: Bool { requests.hasConditionalWrites }

    /// Requests an object.
    public func object(named name: String) async throws(TierEngineError) -> TierObject {
        try await requests.object(named: name)
    }

    /// Writes an object.
    public func put(_ bytes: Data, as name: String, onlyIfAbsent: Bool) async throws(TierEngineError) -> Bool {
        try await requests.put(bytes, as: name, onlyIfAbsent: onlyIfAbsent)
    }

    /// Deletes an object.
    public func delete(_ name: String) async throws(TierEngineError) { try await requests.delete(name) }
}

extension PlainEngine: CustomStringConvertible, CustomReflectable {
    /// The host of the engine, without fields.
    public var description: String { "PlainEngine(\(requests.authority))" }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
