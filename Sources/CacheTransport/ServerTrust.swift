/// Decides whether to trust a server despite its invalid certificate. Pure.
package struct ServerTrust: Sendable {
    /// The host names in lower case.
    private let hosts: Set<String>

    package init(hosts: Set<String>) {
        self.hosts = Set(hosts.map { $0.lowercased() })
    }

    package func accepts(anyCertificateOf host: String) -> Bool {
        hosts.contains(host.lowercased())
    }

    /// Returns whether to answer a challenge with trust. Answers only challenges about the certificate of one of the
    /// hosts; the system handles all others. `method` is the value of a constant `NSURLAuthenticationMethod…` of
    /// Foundation, which equals its name.
    package func answers(_ method: String, of host: String) -> Bool {
        method == "NSURLAuthenticationMethodServerTrust" && accepts(anyCertificateOf: host)
    }
}
