public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is to be loaded, and how.
public struct ResourceRequest: Hashable, Sendable {
    /// An absolute `http` or `https` URL, as text: it is checked when it is loaded.
    public var url: String
    /// Fields to send along.
    public var headerFields: HTTPFields
    /// Takes the place of the configured policy.
    public var policy: CachePolicy?
    /// A name to keep the response under instead of its URL, such as one without a signature that changes.
    ///
    /// Name and fields together are what the response is found by, in whatever order the fields are; the URL does not find
    /// it. Fields that are sent along with a URL alone make a difference only where the origin says so with `Vary`.
    public var key: String?

    /// Creates a request; the text is checked when it is loaded.
    public init(_ url: String, headerFields: HTTPFields = [:], policy: CachePolicy? = nil, key: String? = nil) {
        self.url = url
        self.headerFields = headerFields
        self.policy = policy
        self.key = key
    }

    /// Creates a request.
    public init(_ url: URL, headerFields: HTTPFields = [:], policy: CachePolicy? = nil, key: String? = nil) {
        self.init(url.absoluteString, headerFields: headerFields, policy: policy, key: key)
    }
}

/// What a load came to.
public struct Resource: Sendable {
    /// The bytes; a large stored body is mapped, not copied.
    public let data: Data
    /// The URL that they are from, after redirects, normalised as its key is.
    public let url: String
    /// The status, a success.
    public let status: HTTPResponse.Status
    /// The fields of the response.
    public let headerFields: HTTPFields
    /// Where it came from.
    public let source: ResponseSource
    /// How long ago the origin said so, in seconds.
    public let age: Int64
    /// Whether it was delivered beyond its lifetime, as request, response or policy allow.
    public let isStale: Bool
    /// When it turns stale; `nil` if it is never fresh without asking.
    public let expiresAt: Date?
    /// Why the origin did not answer, when what is stored stands in for its answer.
    public let failure: LoadError?
}
