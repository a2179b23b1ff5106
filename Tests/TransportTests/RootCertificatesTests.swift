import CacheLoader
import CacheStoreTesting
import Foundation
import TestSupport
import Testing

@Suite("Root certificates") struct RootCertificatesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func file(_ text: String) throws -> String {
        let url = directory.url.appending(path: "certificates.pem")
        try Data(text.utf8).write(to: url)
        return url.path(percentEncoded: false)
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
