public import CacheFoundation
internal import CacheStore

/// The source of a response.
@nonexhaustive
public enum ResponseSource: String, Sendable, CaseIterable {
    /// The memory of the loader.
    case memory
    /// A local file, or a value that the program supplied.
    case local
    /// The origin: it sent the response, or the rest of a stored part.
    case network
    /// A shared tier, in place of the origin.
    case tier
    /// The store, without a validation by the origin.
    case disk
    /// The store, after the origin has confirmed the response.
    case notModified
    /// The cache itself, because it could not get a response.
    case generated

    /// Whether a response arrived, and not only its confirmation.
    package var isTransferred: Bool { self == .network || self == .tier }
}

/// A response with its source, its age and its freshness.
///
/// Its properties have the same names and meanings as those of ``Loaded``. Its content arrives as ``body``.
public struct CachedResponse: Sendable {
    let head: HTTPResponse
    /// The body, as a sequence of chunks.
    public let body: ResponseBody
    /// The source of the response.
    public let source: ResponseSource
    /// The age in seconds: the time since the origin generated or validated the response (RFC 9111 §4.2.3).
    public let age: Int64
    /// Whether the response was stale when it was delivered, as the request, the response or the policy allowed.
    public let isStale: Bool
    /// The date at which the response becomes stale. `nil` for a response that always needs validation.
    public let expiresAt: Date?
    /// The failure that made the cache answer in place of the origin, if any. The response is then a stored one, or a
    /// 502 or 504 that the cache generated.
    public internal(set) var failure: LoadError?

    /// The name under which the store counts the failure of the request, if the origin answered with an error.
    var failedRequest: String?
    var stored: StoredEntry?
    /// The state of the key when the store answered. `nil` for an answer of the origin.
    var found: KeySnapshot?
    /// The response that the store receives while its body arrives.
    var arriving: ArrivingResponse?
    /// The generation of the store when the request was sent to the origin, if it was sent.
    var generation: StoreGeneration?
    /// Whether an upstream cache may have answered alone. The response then comes from the network with `Age` (RFC 9111
    /// §5.1). Always false for a request with `no-cache`.
    var isFromUpstreamCache = false

    /// The status.
    public var status: HTTPResponse.Status { head.status }

    /// The fields of the response. A response from the store has `Age`, but no fields of a single connection (RFC 9111
    /// §3.1).
    public var headerFields: HTTPFields { head.headerFields }

    /// The entry in the store. `nil` for an arriving body that has not been read to its end.
    var entry: StoredEntry? { stored ?? arriving?.body.entry }

    /// Returns the bytes of the whole body. A large stored body is memory-mapped, not copied.
    ///
    /// - Throws: ``LoadError/bodyAlreadyRead`` if the body came from the network and another reader has begun to read
    ///   it, and all errors of reading the body.
    public func data() async throws(LoadError) -> Data {
        try await body.data()
    }
}
