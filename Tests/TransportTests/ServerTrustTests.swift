import CacheLoader
import TestSupport
import Testing

@Suite("Certificates") struct ServerTrustTests {
    private static let methods = [
        "ServerTrust", "HTTPBasic", "HTTPDigest", "HTMLForm", "NTLM", "Negotiate", "ClientCertificate", "Default",
    ].map { "NSURLAuthenticationMethod\($0)" }

    @Test(
        "An override applies only to its hosts, and only to challenges about the server's certificate",
        .requirement("K5"), arguments: methods)
    func challenges(method: String) {
        let trust = ServerTrust(hosts: ["Test.Example"])
        #expect(trust.answers(method, of: "test.example") == (method == Self.methods[0]))
        #expect(trust.answers(method, of: "TEST.example") == (method == Self.methods[0]))
        for other in ["example", "a.test.example", "test.example.org", ""] {
            #expect(!trust.answers(method, of: other), "\(other)")
        }
        #expect(!ServerTrust(hosts: []).answers(method, of: "test.example"))
    }
}
