#if canImport(Darwin)
/// The transport of a loader that is created without one: on Apple's systems `URLSessionTransport`, elsewhere
/// `CurlTransport`, which needs the trait `Curl`.
///
/// Both transports can be created without arguments. Their configurations have `idleTimeout`, `connectionsPerHost` and
/// `hostsWithAnyCertificate` in common.
public typealias DefaultTransport = URLSessionTransport

extension URLSessionTransport.Configuration {
    /// Always throws: a program cannot add root certificates to `URLSession`.
    package mutating func trustRoots(atPath path: String) throws(TransportError) {
        throw TransportError(
            .unsupportedRequest,
            message: "URLSession takes no root certificates; add the certificate to the trust settings of the system")
    }

    /// Has no effect: `URLSession` uses the proxies of the system.
    package mutating func useProxies(of environment: [String: String]) throws(TransportError) {}
}
#elseif Curl
/// The transport of a loader that is created without one: on Apple's systems `URLSessionTransport`, elsewhere
/// `CurlTransport`, which needs the trait `Curl`.
///
/// Both transports can be created without arguments. Their configurations have `idleTimeout`, `connectionsPerHost` and
/// `hostsWithAnyCertificate` in common.
public typealias DefaultTransport = CurlTransport

extension CurlTransport.Configuration {
    /// Trusts the certificates of a PEM file, in addition to those of the system.
    package mutating func trustRoots(atPath path: String) throws(TransportError) {
        additionalTrustRoots = try RootCertificates(pemFile: path)
    }

    /// Sends requests through the proxies that the environment names.
    package mutating func useProxies(of environment: [String: String]) throws(TransportError) {
        proxies = try ProxySettings(environment: environment)
    }
}
// Otherwise the program supplies a transport.
#endif
