#if AsyncHTTPClient
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import Testing

@Suite("Root certificates")
struct RootCertificatesTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func file(_ text: String) throws -> String {
        let url = directory.url.appending(path: "certificates.pem")
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
    }

    private func transport(trusting path: String?, allowsHTTP2: Bool = true) throws -> AsyncHTTPClientTransport {
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.idleTimeout = .seconds(600)
        configuration.allowsHTTP2 = allowsHTTP2
        configuration.additionalTrustRoots = try path.map { try RootCertificates(pemFile: $0) }
        return AsyncHTTPClientTransport(configuration: configuration)
    }

    private func version(_ transport: AsyncHTTPClientTransport, _ authority: String) async throws -> String {
        let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")
        let response = try await transport.send(request, content: nil)
        return String(decoding: try await response.body.read().get(), as: UTF8.self)
    }

    @Test(
        "K5: an origin of a private authority is trusted with its root only; HTTP/2 is used if both sides want it",
        arguments: [
            (["h2", "http/1.1"], true, "2.0"), (["h2", "http/1.1"], false, "1.1"), (["http/1.1"], true, "1.1"),
        ])
    func privateAuthority(protocols: [String], allowsHTTP2: Bool, version expected: String) async throws {
        let origin = try await TLSOrigin(offering: protocols)
        let root = try file(TestCertificates.authority)
        let trusting = try transport(trusting: root, allowsHTTP2: allowsHTTP2)
        #expect(try await version(trusting, origin.authority) == expected)
        let other = try transport(trusting: nil, allowsHTTP2: allowsHTTP2)
        let error = await #expect(throws: TransportError.self) { try await version(other, origin.authority) }
        #expect(error?.code == .insecure)
        await origin.stop()
    }

    @Test("K5: a root does not make up for a certificate of another host")
    func otherHost() async throws {
        let origin = try await TLSOrigin(offering: ["http/1.1"], certificate: TestCertificates.otherServer)
        let transport = try transport(trusting: file(TestCertificates.authority))
        let error = await #expect(throws: TransportError.self) { try await version(transport, origin.authority) }
        #expect(error?.code == .insecure)
        await origin.stop()
    }

    @Test("A file of several certificates, with text between them")
    func several() throws {
        let both = "A root:\n\(TestCertificates.authority)\nAnother:\n\(TestCertificates.server)\n"
        let (one, two) = (
            try RootCertificates(pemFile: file(TestCertificates.authority)), try RootCertificates(pemFile: file(both))
        )
        #expect(one != two)
    }

    @Test(
        "A file without a certificate, or with a damaged one, is an error",
        arguments: [
            "", "no certificate", TestCertificates.serverKey,
            TestCertificates.authority.replacingOccurrences(of: "MII", with: "III"),
            TestCertificates.authority + "\n" + TestCertificates.server.dropLast(100),
        ])
    func invalid(text: String) throws {
        let path = try file(text)
        let message = "\(path.debugDescription) contains no certificate in PEM, or a damaged one"
        #expect(throws: TransportError(.insecure, message: message)) { try RootCertificates(pemFile: path) }
    }

    @Test("A missing file and a directory are errors")
    func unreadable() throws {
        for path in [directory.path, directory.path + "/missing.pem"] {
            let reason = path == directory.path ? "Is a directory" : "No such file or directory"
            let message = "\(path.debugDescription) cannot be read: \(reason)"
            #expect(throws: TransportError(.insecure, message: message)) { try RootCertificates(pemFile: path) }
        }
    }
}
#endif
