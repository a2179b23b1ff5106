/// Whether a server is trusted although its certificate is not. Pure.
package struct ServerTrust: Sendable {
    /// Names of hosts in lower case.
    private let hosts: Set<String>

    package init(hosts: Set<String>) {
        self.hosts = Set(hosts.map { $0.lowercased() })
    }

    /// Whether any certificate of a host is accepted.
    package func accepts(anyCertificateOf host: String) -> Bool {
        hosts.contains(host.lowercased())
    }

    /// Whether a challenge is answered with trust. Only one about the certificate of the server is, and only of such a host;
    /// any other is left to the system.
    ///
    /// - Parameter method: The value of one of Foundation's constants, `NSURLAuthenticationMethod…`, which is its name.
    package func answers(_ method: String, of host: String) -> Bool {
        method == "NSURLAuthenticationMethodServerTrust" && accepts(anyCertificateOf: host)
    }
}
