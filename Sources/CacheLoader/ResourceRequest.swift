public import CacheFoundation

/// A request for a resource.
///
/// Loads share a transfer if their ``url``, ``key``, ``method``, ``content``, ``headerFields`` and ``policy`` are
/// equal. The transfer follows ``retry`` and ``timeout`` of the first load.
public struct ResourceRequest: Hashable, Sendable {
    /// An absolute `http` or `https` URL, a `file` URL or a path, as text. The load checks the text.
    public var url: String
    /// The method; GET by default. Loads with other methods than GET, HEAD and QUERY, and loads with content, share
    /// nothing, and their responses are not stored. The response to a QUERY is stored if the request has a
    /// `Content-Type`, and at most 64 KiB of content (RFC 10008). `CachePolicy.contentKeys` extends that to GET and
    /// POST.
    public var method: HTTPRequest.Method
    /// The content of the request, or `nil`, the default, for none.
    public var content: Data?
    /// The header fields of the request. A condition among them is the caller's own: a 304 to it is delivered
    /// unchanged.
    public var headerFields: HTTPFields
    /// Changes to the configured policy for this request; none by default.
    public var policy: CachePolicy.Override
    /// A name that identifies the stored response in place of the URL, such as the URL without a changing signature.
    ///
    /// The name and the header fields together identify the response, in any order of the fields; the URL does not.
    /// Without a name, fields distinguish responses only if `Vary` names them.
    public var key: String?
    /// The lane in which the load waits for its turn.
    public var lane: Lane
    /// Decides whether the transfer continues after its last waiter has left.
    public var abandonment: Abandonment
    /// The policy for retries, or `nil`, the default, for the configured one.
    public var retry: RetryPolicy?
    /// The time limit of one attempt. It begins when the load gets a place in its lane, ends with the last byte, and
    /// includes a wait for another process. `nil`, the default, is the configured limit.
    ///
    /// After a timeout a stale response answers, as for a disconnected origin, if policy and response permit it (RFC
    /// 9111 §4.2.4). ``Loaded/failure`` is then the error, with the code
    /// ``/CacheTransport/TransportError/Code/timedOut``. Without such a response the attempt fails with that error.
    public var timeout: Duration?
    /// Whether memory may answer the load, and may keep its value.
    public var usesMemory: Bool

    /// Creates a request. The load checks the text.
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

/// A value that can be turned into a request for a resource.
///
/// ``ResourceLoader/load(_:as:)`` and other methods of the loader take a ``ResourceRequest``, a `String` or a `URL`.
/// They also take a type of yours that conforms, such as the endpoints of an API:
///
/// ```swift
/// enum Endpoint: ResourceRequestConvertible {
///     case feed
///     case article(Int)
///
///     var resourceRequest: ResourceRequest {
///         switch self {
///         case .feed: ResourceRequest("https://example.com/feed.json")
///         case .article(let number):
///             ResourceRequest("https://example.com/articles/\(number)", policy: .cacheFirst)
///         }
///     }
/// }
///
/// let article = try await loader.load(Endpoint.article(7), as: .text)
/// ```
public protocol ResourceRequestConvertible: Sendable {
    /// The request for the resource. The loader reads this property once for each call.
    var resourceRequest: ResourceRequest { get }
}

extension ResourceRequest: ResourceRequestConvertible {
    /// The request itself.
    public var resourceRequest: ResourceRequest { self }
}

extension String: ResourceRequestConvertible {
    /// A GET request for the URL or the path in the text. The load checks the text.
    public var resourceRequest: ResourceRequest { ResourceRequest(self) }
}

extension URL: ResourceRequestConvertible {
    /// A GET request for the URL or for the file.
    public var resourceRequest: ResourceRequest { ResourceRequest(self) }
}
