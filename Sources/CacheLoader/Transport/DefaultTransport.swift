#if AsyncHTTPClient && (!canImport(Darwin) || !URLSessionTransport)
/// The transport of a loader that is created without one: on Linux `AsyncHTTPClientTransport`, elsewhere
/// `URLSessionTransport`.
///
/// If only one of the two package traits is enabled, the transport of that trait. Both transports can be created without
/// arguments. Their configurations have `idleTimeout` and `connectionsPerHost` in common.
public typealias DefaultTransport = AsyncHTTPClientTransport

extension AsyncHTTPClientTransport.Configuration {
    /// Trusts the certificates of a PEM file, in addition to those of the system.
    package mutating func trustRoots(atPath path: String) throws {
        additionalTrustRoots = try RootCertificates(pemFile: path)
    }

    /// Trusts every server, with any certificate.
    package mutating func trustAnyCertificate() throws {
        checksCertificates = false
    }

    /// Whether a program chooses the proxy. If not, the system does.
    package static var takesProxy: Bool { true }

    /// Sends all requests through a proxy.
    package mutating func setProxy(_ proxy: ProxyServer) {
        self.proxy = proxy
    }
}
#elseif URLSessionTransport
/// The transport of a loader that is created without one: on Linux `AsyncHTTPClientTransport`, elsewhere
/// `URLSessionTransport`.
///
/// If only one of the two package traits is enabled, the transport of that trait. Both transports can be created without
/// arguments. Their configurations have `idleTimeout` and `connectionsPerHost` in common.
public typealias DefaultTransport = URLSessionTransport

extension URLSessionTransport.Configuration {
    /// Throws: a program cannot add a root to those of `URLSession`.
    package mutating func trustRoots(atPath path: String) throws {
        throw TransportError(
            .unsupportedRequest, message: "URLSession takes no root certificates; build with the trait AsyncHTTPClient")
    }

    /// Throws: a program can trust the certificates of hosts that it names, but not those of all hosts.
    package mutating func trustAnyCertificate() throws {
        throw TransportError(
            .unsupportedRequest, message: "URLSession checks certificates always; build with the trait AsyncHTTPClient")
    }

    /// Whether a program chooses the proxy. If not, the system does.
    package static var takesProxy: Bool { false }

    /// Has no effect: `URLSession` uses the proxies of the system.
    package mutating func setProxy(_ proxy: ProxyServer) {}
}
#endif
