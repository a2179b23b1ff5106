import CacheLoader
import HTTPTypes

/// Sends each request through the proxy that the environment names for its origin. A transport has one proxy.
struct ProxiedTransport: HTTPTransport {
    private let proxies: EnvironmentProxies
    private let direct: DefaultTransport
    private let byProxy: [ProxyServer: DefaultTransport]

    init(_ proxies: EnvironmentProxies, _ configuration: DefaultTransport.Configuration) {
        self.proxies = proxies
        direct = DefaultTransport(configuration: configuration)
        var byProxy: [ProxyServer: DefaultTransport] = [:]
        for proxy in proxies.all {
            var configuration = configuration
            configuration.setProxy(proxy)
            byProxy[proxy] = DefaultTransport(configuration: configuration)
        }
        self.byProxy = byProxy
    }

    var passesUnknownCodings: Bool { direct.passesUnknownCodings }

    func prepare(_ request: HTTPRequest) -> HTTPRequest { direct.prepare(request) }

    func send(
        _ request: HTTPRequest, content: RequestContent?
    ) async throws(TransportError) -> TransportResponse {
        let proxy = proxies.proxy(scheme: request.scheme ?? "", authority: request.authority ?? "")
        return try await (proxy.flatMap { byProxy[$0] } ?? direct).send(request, content: content)
    }
}
