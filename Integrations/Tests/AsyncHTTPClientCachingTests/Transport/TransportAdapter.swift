import AsyncHTTPClientCaching
import CacheLoader

/// The transports of this package. The suites of the package CacheStore run against each; this folder has links to them.
enum TransportAdapter: String, CaseIterable, Sendable {
    case asyncHTTPClient = "AsyncHTTPClient"

    func make(idleTimeout seconds: Int = 600) -> any HTTPTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.idleTimeout = .seconds(seconds)
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}
