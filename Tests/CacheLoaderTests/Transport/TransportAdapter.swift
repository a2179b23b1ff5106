import CacheLoader

/// The transports of this package. The suites of this folder run against each.
enum TransportAdapter: String, CaseIterable, Sendable {
    #if URLSessionTransport
    case urlSession = "URLSession"
    #endif
    #if AsyncHTTPClient
    case asyncHTTPClient = "AsyncHTTPClient"
    #endif

    func make(idleTimeout seconds: Int = 600) -> any HTTPTransport {
        switch self {
        #if URLSessionTransport
        case .urlSession:
            var configuration = URLSessionTransport.Configuration.patient
            configuration.idleTimeout = .seconds(seconds)
            return URLSessionTransport(configuration: configuration)
        #endif
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            var configuration = AsyncHTTPClientTransport.Configuration()
            configuration.idleTimeout = .seconds(seconds)
            return AsyncHTTPClientTransport(configuration: configuration)
        #endif
        }
    }
}

#if URLSessionTransport
extension URLSessionTransport.Configuration {
    /// Waits as long as a busy machine may need.
    static var patient: Self {
        var configuration = Self()
        configuration.idleTimeout = .seconds(600)
        return configuration
    }
}
#endif

extension DefaultTransport {
    /// A transport that waits as long as a busy machine may need.
    static func patient(idleTimeout seconds: Int = 600) -> DefaultTransport {
        var configuration = Configuration()
        configuration.idleTimeout = .seconds(seconds)
        return DefaultTransport(configuration: configuration)
    }
}
