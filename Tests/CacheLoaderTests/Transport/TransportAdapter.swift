import CacheLoader

/// The transport of this system. The suites of this folder run against it.
enum TransportAdapter: String, CaseIterable, Sendable {
    #if canImport(Darwin)
    case urlSession = "URLSession"
    #else
    case curl
    #endif

    func make(idleTimeout seconds: Int = 600) -> any HTTPTransport {
        DefaultTransport.patient(idleTimeout: seconds)
    }
}

extension DefaultTransport {
    /// A transport with timeouts that are long enough for a busy machine.
    static func patient(idleTimeout seconds: Int = 600) -> DefaultTransport {
        var configuration = Configuration()
        configuration.idleTimeout = .seconds(seconds)
        return DefaultTransport(configuration: configuration)
    }
}
