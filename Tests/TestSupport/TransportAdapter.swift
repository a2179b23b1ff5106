/// The transport of this system. The suites of `TransportTests` run against it.
package enum TransportAdapter: String, CaseIterable, Sendable {
    #if canImport(Darwin)
    case urlSession = "URLSession"
    #else
    case curl
    #endif

    package func make(idleTimeout seconds: Int = 600) -> any HTTPTransport {
        DefaultTransport.patient(idleTimeout: seconds)
    }
}

extension DefaultTransport {
    /// A transport with timeouts that are long enough for a busy machine.
    package static func patient(idleTimeout seconds: Int = 600) -> DefaultTransport {
        var configuration = Configuration()
        configuration.idleTimeout = .seconds(seconds)
        return DefaultTransport(configuration: configuration)
    }
}
