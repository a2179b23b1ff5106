import ArgumentParser
import CacheLoader
import Foundation

/// The certificate and proxy options of a command's connections.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp(
            "Trust the certificates of this PEM file, too, such as that of a private authority.", valueName: "file"),
        completion: .file())
    var rootCertificates: String?

    @Option(
        name: .customLong("insecure"),
        help: ArgumentHelp(
            "Do not check the certificate of this host: anyone on the way can read and change what is loaded, and stored.",
            valueName: "host"))
    var insecureHosts: [String] = []

    /// Returns a transport that takes proxies from the environment, with at most `perHost` connections to one host. A
    /// transfer fails after `idleTimeout` without bytes. Throws for a bad file of root certificates or a bad proxy.
    func transport(perHost: Int, idleTimeout: Duration) throws -> any HTTPTransport {
        var connections = DefaultTransport.Configuration()
        connections.connectionsPerHost = perHost
        connections.idleTimeout = idleTimeout
        connections.hostsWithAnyCertificate = Set(insecureHosts)
        do throws(TransportError) {
            if let rootCertificates { try connections.trustRoots(atPath: rootCertificates) }
            try connections.useProxies(of: ProcessInfo.processInfo.environment)
        } catch {
            throw Failure(.broken, error.message)
        }
        return DefaultTransport(configuration: connections)
    }

    /// Warns of connections without certificate checks.
    func warn() {
        for host in insecureHosts {
            StandardError.say(
                """
                WARNING: the certificate of \(host) is not checked; anyone on the way can read and change what is loaded \
                and stored
                """)
        }
    }
}
