public import HTTPCaching
public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is to be loaded, and how.
///
/// Loads share a transfer when they agree in ``url``, ``key``, ``method``, ``content``, ``headerFields`` and ``policy``.
/// ``retry`` and ``timeout`` are then those of the first.
public struct ResourceRequest: Hashable, Sendable {
    /// An absolute `http` or `https` URL, as text: it is checked when it is loaded.
    public var url: String
    /// GET by default. Loads with other methods than GET and HEAD share nothing, and their responses are not stored.
    public var method: HTTPRequest.Method
    /// What is sent along as the content of the request; `nil`, the default, for none.
    public var content: Data?
    /// Fields to send along. A condition among them is the caller's own: a 304 to it is delivered as it is.
    public var headerFields: HTTPFields
    /// Changes properties of the configured policy for this request; none by default.
    public var policy: CachePolicy.Override
    /// A name to keep the response under instead of its URL, such as one without a signature that changes.
    ///
    /// Name and fields together are what the response is found by, in whatever order the fields are; the URL does not find
    /// it. Fields that are sent along with a URL alone make a difference only where the origin says so with `Vary`.
    public var key: String?
    /// How soon it gets its turn.
    public var lane: Lane
    /// What becomes of the transfer when nobody waits for it any more.
    public var abandonment: Abandonment
    /// Takes the place of the configured policy.
    public var retry: RetryPolicy?
    /// How long one attempt may take from its turn to the last byte, a wait for another process included; `nil`, the
    /// default, for as long as the transport allows.
    ///
    /// After a timeout a stale response answers, as for a disconnected origin, if policy and response permit it (RFC 9111
    /// §4.2.4). ``Loaded/failure`` is then the error, with the code ``TransportError/Code/timedOut``. Without such a response
    /// the attempt fails with that error.
    public var timeout: Duration?
    /// Whether the value may be taken from memory, and kept there.
    public var usesMemory: Bool

    /// Creates a request; the text is checked when it is loaded.
    public init(
        _ url: String, method: HTTPRequest.Method = .get, content: Data? = nil, headerFields: HTTPFields = [:],
        policy: CachePolicy.Override = .init(), key: String? = nil, lane: Lane = .urgent,
        abandonment: Abandonment = .stop, retry: RetryPolicy? = nil, timeout: Duration? = nil, usesMemory: Bool = true
    ) {
        self.url = url
        self.method = method
        self.content = content
        self.headerFields = headerFields
        self.policy = policy
        self.key = key
        self.lane = lane
        self.abandonment = abandonment
        self.retry = retry
        self.timeout = timeout
        self.usesMemory = usesMemory
    }

    /// Creates a request.
    public init(
        _ url: URL, headerFields: HTTPFields = [:], policy: CachePolicy.Override = .init(), key: String? = nil
    ) {
        self.init(url.absoluteString, headerFields: headerFields, policy: policy, key: key)
    }
}
