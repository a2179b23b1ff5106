import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import Testing

@Suite("Certificates")
struct ServerTrustTests {
    private static let methods = [
        "ServerTrust", "HTTPBasic", "HTTPDigest", "HTMLForm", "NTLM", "Negotiate", "ClientCertificate", "Default",
    ].map { "NSURLAuthenticationMethod\($0)" }

    @Test(
        "K5: an override is for its hosts, and answers challenges about the server's certificate only",
        arguments: methods)
    func challenges(method: String) {
        let trust = ServerTrust(hosts: ["Test.Example"])
        #expect(trust.answers(method, of: "test.example") == (method == Self.methods[0]))
        #expect(trust.answers(method, of: "TEST.example") == (method == Self.methods[0]))
        for other in ["example", "a.test.example", "test.example.org", ""] {
            #expect(!trust.answers(method, of: other), "\(other)")
        }
        #expect(!ServerTrust(hosts: []).answers(method, of: "test.example"))
    }

    #if URLSessionTransport && canImport(FoundationNetworking)
    @Test("K5: where it cannot be had, a request that needs it is an error, and is not sent")
    func unsupported() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("body".utf8) }
        var configuration = URLSessionTransport.Configuration.patient
        configuration.hostsWithAnyCertificate = ["127.0.0.1"]
        let transport = URLSessionTransport(configuration: configuration)
        var request = HTTPRequest.to(origin, path: "/a")
        let response = try await transport.send(transport.prepare(request), content: nil)
        #expect(try await response.body.read().get() == Data("body".utf8))
        request.scheme = "https"
        do {
            _ = try await transport.send(transport.prepare(request), content: nil)
            Issue.record("sent")
        } catch {
            #expect(error.code == .unsupportedRequest)
            #expect(error.message.contains("certificate"))
        }
        #expect(origin.requestCount == 1)
        await origin.stop()
    }
    #endif
}
