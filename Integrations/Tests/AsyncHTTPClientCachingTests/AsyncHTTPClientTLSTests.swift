import AsyncHTTPClientCaching
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import Testing

@Suite("AsyncHTTPClientTransport: TLS")
struct AsyncHTTPClientTLSTests {
    private func version(_ transport: AsyncHTTPClientTransport, _ authority: String) async throws -> String {
        let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")
        let response = try await transport.send(request, content: nil)
        return String(decoding: try await response.body.read().get(), as: UTF8.self)
    }

    @Test(
        "Trusts an origin of a private authority only with its root, and uses HTTP/2 if both sides support it",
        .requirement("K5"),
        arguments: [
            (["h2", "http/1.1"], true, "2.0"), (["h2", "http/1.1"], false, "1.1"), (["http/1.1"], true, "1.1"),
        ])
    func privateAuthority(protocols: [String], allowsHTTP2: Bool, version expected: String) async throws {
        let origin = try await TLSOrigin(offering: protocols)
        let trusting = try AsyncHTTPClientTransport.trusting(TestCertificates.authority, allowsHTTP2: allowsHTTP2)
        #expect(try await version(trusting, origin.authority) == expected)
        let other = try AsyncHTTPClientTransport.trusting(nil, allowsHTTP2: allowsHTTP2)
        let error = await #expect(throws: TransportError.self) { try await version(other, origin.authority) }
        #expect(error?.code == .insecure)
        await origin.stop()
    }

    @Test("Refuses a certificate of another host despite an additional root", .requirement("K5"))
    func otherHost() async throws {
        let origin = try await TLSOrigin(offering: ["http/1.1"], certificate: TestCertificates.otherServer)
        let transport = try AsyncHTTPClientTransport.trusting(TestCertificates.authority)
        let error = await #expect(throws: TransportError.self) { try await version(transport, origin.authority) }
        #expect(error?.code == .insecure)
        await origin.stop()
    }

    @Test("An invalid root certificate fails each request before sending")
    func damagedRoot() async throws {
        let origin = try await TLSOrigin(offering: ["http/1.1"])
        let key = TestCertificates.serverKey.replacingOccurrences(of: "PRIVATE KEY", with: "CERTIFICATE")
        let transport = try AsyncHTTPClientTransport.trusting(TestCertificates.authority + "\n" + key)
        let error = await #expect(throws: TransportError.self) { try await version(transport, origin.authority) }
        #expect(error?.code == .insecure)
        #expect(error?.message.hasPrefix("a root certificate cannot be read") == true)
        #expect(origin.requestCount == 0)
        await origin.stop()
    }
}

extension AsyncHTTPClientTransport {
    /// Creates a transport that trusts the certificates in a PEM text.
    static func trusting(_ pem: String?, allowsHTTP2: Bool = true) throws -> AsyncHTTPClientTransport {
        var configuration = Configuration()
        configuration.idleTimeout = .seconds(600)
        configuration.allowsHTTP2 = allowsHTTP2
        if let pem {
            let directory = try TemporaryDirectory()
            let file = directory.url.appending(path: "certificates.pem")
            try Data(pem.utf8).write(to: file)
            configuration.additionalTrustRoots = try RootCertificates(pemFile: file.path(percentEncoded: false))
        }
        return AsyncHTTPClientTransport(configuration: configuration)
    }
}
