#if canImport(Darwin)
internal import Foundation
#endif

/// Marks the requests of a transport on `URLSession`, so that a session with a cache sends them to the origin. The
/// session of a transport may have the protocol class of a cache: registered, or in its configuration. Without the
/// mark, the cache would wait for its own request.
package enum UncachedRequest {
    /// The key of a request property that is `true`. Transports of a program set it, too.
    package static let property = "CacheStore.isUncached"

    #if canImport(Darwin)
    static func marked(_ request: URLRequest) -> URLRequest {
        guard let copy = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest else { return request }
        URLProtocol.setProperty(true, forKey: property, in: copy)
        return copy as URLRequest
    }
    #endif
}
