/// nginx on loopback over TLS. Its certificate comes from an authority that no system trusts.
///
/// Answers each request with the HTTP version of the request, such as `HTTP/2.0`.
package final class TLSOrigin: Sendable {
    package static var isInstalled: Bool { ServerProcess.hasNginx }

    package let authority: String
    private let process: ServerProcess

    /// - Parameters:
    ///   - offersHTTP2: Whether the origin offers HTTP/2.
    ///   - certificate: The certificate in PEM; its key is ``TestCertificates/serverKey``.
    ///   - locations: Further blocks `location`.
    package init(
        offersHTTP2: Bool = true, certificate: String = TestCertificates.server, locations: String = ""
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.url.path(percentEncoded: false)
        for (name, text) in [("certificate", certificate), ("key", TestCertificates.serverKey)] {
            try text.write(to: directory.url.appending(path: name), atomically: true, encoding: .utf8)
        }
        let port = ServerProcess.freePort()
        let authority = "127.0.0.1:\(port)"
        var configuration = CurlTransport.Configuration()
        configuration.hostsWithAnyCertificate = ["127.0.0.1"]
        let client = CurlTransport(configuration: configuration)
        process = try await ServerProcess.nginx(
            in: directory,
            http: """
                server {
                    listen \(authority) ssl \(offersHTTP2 ? "http2" : "");
                    ssl_certificate \(path)/certificate; ssl_certificate_key \(path)/key;
                    root \(path); client_max_body_size 0;
                    location = / { return 200 "$server_protocol"; }
                    location = /log { access_log \(path)/requests; return 200; }
                    \(locations)
                }
                """
        ) {
            let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")
            return (try? await client.send(request, content: nil)) != nil
        }
        self.authority = authority
    }

    /// The directory whose files the origin serves.
    package var directory: URL { process.directory.url }

    package func url(_ path: String) -> String { "https://\(authority)\(path)" }
}
