#if AsyncHTTPClient && (os(Linux) || !URLSessionTransport)
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
}
#endif
