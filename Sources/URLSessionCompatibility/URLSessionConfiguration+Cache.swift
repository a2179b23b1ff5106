public import CacheLoader
#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLSessionConfiguration {
    /// Returns a copy whose sessions load `http` and `https` URLs through a cache.
    ///
    /// ```swift
    /// let session = URLSession(configuration: .default.cached(by: cache))
    /// ```
    ///
    /// Tasks, delegates and asynchronous methods of such a session work as before; the page of this module has a table.
    /// Make all other changes first: the copy keeps the cookie storage, `httpAdditionalHeaders`, `requestCachePolicy`
    /// and `timeoutIntervalForRequest` that this configuration has now. The copy has no `urlCache`.
    ///
    /// The process keeps `cache` until it ends, because sessions do not say when they are released. A background
    /// session ignores the cache.
    public func cached(by cache: HTTPCache) -> URLSessionConfiguration {
        guard let copy = copy() as? URLSessionConfiguration else {
            preconditionFailure("a copy has the class of its original")
        }
        let type = ProtocolRoutes.shared.type(for: ProtocolRoute(cache: cache, settings: SessionSettings(copy)))
        copy.protocolClasses = [type] + (copy.protocolClasses ?? [])
        copy.urlCache = nil
        return copy
    }
}

extension HTTPCache {
    /// A class that loads `http` and `https` URLs through this cache, for sessions whose configuration is not yours.
    ///
    /// ```swift
    /// URLProtocol.registerClass(cache.urlProtocol)    // URLSession.shared uses the cache
    /// ```
    ///
    /// Register the class before the process creates its first session: FoundationNetworking asks its own classes first
    /// afterwards. Requests have the cookies of `URLSessionConfiguration.default`. The process keeps the cache until it
    /// ends.
    public var urlProtocol: URLProtocol.Type {
        ProtocolRoutes.shared.type(for: ProtocolRoute(cache: self, settings: SessionSettings(.default)))
    }
}
