internal import CacheLoader
internal import Foundation
#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Loads one request of a session through a cache. `Slot` makes a class of its own for each ``ProtocolRoute``.
/// Foundation creates an object for each task, and on Apple's systems for each redirect step.
final class CachingProtocol<Slot>: URLProtocol {
    private var load: ProtocolLoad?
    private var system: URLProtocol?

    override class func canInit(with request: URLRequest) -> Bool {
        guard let url = request.url, let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme) else {
            return false
        }
        // The credentials in a URL are URLSession's. A cache refuses them.
        guard url.user == nil, url.password == nil else { return false }
        // FoundationNetworking loses the property, but calls this method in the task that has created the request.
        return URLProtocol.property(forKey: UncachedRequest.property, in: request) == nil && !ProtocolLoad.isRunning
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// `false`: the responses are not for the `URLCache` of a session.
    override class func requestIsCacheEquivalent(_ first: URLRequest, to second: URLRequest) -> Bool { false }

    /// Starts the load, or continues a suspended one.
    override func startLoading() {
        if let load { return load.resume() }
        if let route = ProtocolRoutes.shared.route(of: Self.self), let task = ProtocolTask(self) {
            load = ProtocolLoad(request, route, ProtocolClient(self, task), from: self.task?.originalRequest?.url)
        } else {
            system = system ?? ProtocolTask.systemProtocol(for: self)
            system?.startLoading()
        }
    }

    override func stopLoading() {
        system?.stopLoading()
        if task?.state == .suspended { load?.pause() } else { load?.stop() }
    }
}
