public import CacheFoundation

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
