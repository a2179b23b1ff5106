/// A proxy between a transport and the origins.
package struct ProxyServer: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// An HTTP proxy. All requests go through a tunnel (RFC 9110 §9.3.6), also those to `http` URLs: AsyncHTTPClient
        /// sends no request that the proxy itself forwards.
        case http
        /// A proxy of SOCKS version 5 (RFC 1928), which resolves the names of hosts.
        case socks
    }

    package struct Credentials: Hashable, Sendable {
        package let user: String
        package let password: String

        package init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    package let kind: Kind
    package let host: String
    package let port: Int
    /// The credentials for an HTTP proxy.
    package let credentials: Credentials?

    package init(kind: Kind, host: String, port: Int, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}
