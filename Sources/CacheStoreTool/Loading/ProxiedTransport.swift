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
        try await transport(for: request).send(request, content: content)
    }

    func send(
        _ request: HTTPRequest, content: RequestContent?,
        onInterimResponse: @escaping @Sendable (HTTPResponse) -> Void
    ) async throws(TransportError) -> TransportResponse {
        try await transport(for: request).send(request, content: content, onInterimResponse: onInterimResponse)
    }

    private func transport(for request: HTTPRequest) -> DefaultTransport {
        let proxy = proxies.proxy(scheme: request.scheme ?? "", authority: request.authority ?? "")
        return proxy.flatMap { byProxy[$0] } ?? direct
    }
}
