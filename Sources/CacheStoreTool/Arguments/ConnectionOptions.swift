import ArgumentParser
import CacheLoader
import Foundation

/// The certificates and the proxies of the connections of a command.
struct ConnectionOptions: ParsableArguments {
    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp(
            "Trust the certificates of this PEM file, too, such as that of a private authority.", valueName: "file"),
        completion: .file())
    var rootCertificates: String?

    @Flag(help: "Do not check certificates: anyone on the way can read and change what is loaded, and stored.")
    var insecure = false

    func validate() throws {
        if insecure, rootCertificates != nil {
            throw ValidationError("--insecure checks no certificates; leave it or --cacert out")
        }
    }

    /// Returns a transport that takes proxies from the environment.
    ///
    /// - Parameters:
    ///   - perHost: The largest number of connections to a host.
    ///   - idleTimeout: The time without bytes after which a transfer fails.
    /// - Throws: The error of the file of root certificates, or of a proxy in the environment.
    func transport(perHost: Int, idleTimeout: Duration) throws -> any HTTPTransport {
        var connections = DefaultTransport.Configuration()
        connections.connectionsPerHost = perHost
        connections.idleTimeout = idleTimeout
        if let rootCertificates { try connections.trustRoots(atPath: rootCertificates) }
        if insecure { try connections.trustAnyCertificate() }
        guard DefaultTransport.Configuration.takesProxy else { return DefaultTransport(configuration: connections) }
        do throws(EnvironmentProxies.Malformed) {
            let proxies = try EnvironmentProxies(ProcessInfo.processInfo.environment)
            if proxies.all.isEmpty { return DefaultTransport(configuration: connections) }
            return ProxiedTransport(proxies, connections)
        } catch {
            throw Failure(.broken, error.message)
        }
    }

    /// Returns a transport for the engine of a shared tier.
    ///
    /// - Throws: As ``transport(perHost:idleTimeout:)``.
    func engineTransport(idleTimeout: Duration) throws -> any HTTPTransport {
        // A lookup asks for several objects at once, and a wait for a connection counts as a wait for the tier.
        try transport(perHost: 32, idleTimeout: idleTimeout)
    }

    /// Warns of connections without checks.
    func warn() {
        guard insecure else { return }
        StandardError.say(
            "WARNING: --insecure checks no certificates; anyone on the way can read and change what is loaded and stored"
        )
    }
}
