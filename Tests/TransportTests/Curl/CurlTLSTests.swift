#if !canImport(Darwin)
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

/// TLS and HTTP/2, with nginx.
@Suite("CurlTransport: TLS", .enabled(if: TLSOrigin.isInstalled)) struct CurlTLSTests {
    private func transport(
        trusts certificate: String? = TestCertificates.authority,
        _ change: (inout CurlTransport.Configuration) -> Void = { _ in }
    ) throws -> CurlTransport {
        let directory = try TemporaryDirectory()
        var configuration = CurlTransport.Configuration()
        configuration.idleTimeout = .seconds(600)
        if let certificate {
            let file = directory.url.appending(path: "root.pem")
            try Data(certificate.utf8).write(to: file)
            configuration.additionalTrustRoots = try RootCertificates(pemFile: file.path(percentEncoded: false))
        }
        change(&configuration)
        return CurlTransport(configuration: configuration)
    }

    private func get(_ transport: CurlTransport, _ authority: String, _ path: String = "/") async throws -> Data {
        let request = HTTPRequest(method: .get, scheme: "https", authority: authority, path: path)
        return try await transport.send(request, content: nil).body.read().get()
    }

    @Test(
        "An origin of a private authority is trusted only with its root; HTTP/2 is used if both sides support it",
        .requirement("K5"), arguments: [(true, true, "HTTP/2.0"), (true, false, "HTTP/1.1"), (false, true, "HTTP/1.1")])
    func privateAuthority(offersHTTP2: Bool, allowsHTTP2: Bool, version: String) async throws {
        let origin = try await TLSOrigin(offersHTTP2: offersHTTP2)
        let trusting = try transport { $0.allowsHTTP2 = allowsHTTP2 }
        #expect(String(decoding: try await get(trusting, origin.authority), as: UTF8.self) == version)
        let other = try transport(trusts: nil) { $0.allowsHTTP2 = allowsHTTP2 }
        let error = await #expect(throws: TransportError.self) { try await get(other, origin.authority) }
        #expect(error?.code == .insecure)
        #expect(error?.message.hasPrefix("the certificate of the server is not trusted (") == true)
    }

    @Test("A root does not excuse the certificate of another host; an exception for a host does", .requirement("K5"))
    func otherHost() async throws {
        let origin = try await TLSOrigin(certificate: TestCertificates.otherServer)
        let error = await #expect(throws: TransportError.self) { try await get(transport(), origin.authority) }
        #expect(error?.code == .insecure)
        #expect(error?.message.hasPrefix("the certificate of the server is for other hosts (") == true)
        let excepted = try transport(trusts: nil) { $0.hostsWithAnyCertificate = ["127.0.0.1"] }
        #expect(try await get(excepted, origin.authority) == Data("HTTP/2.0".utf8))
        let other = try transport(trusts: nil) { $0.hostsWithAnyCertificate = ["localhost", "127.0.0.2"] }
        await #expect(throws: TransportError.self) { try await get(other, origin.authority) }
    }

    @Test("A connection without checks serves no request with checks", .requirement("K5"))
    func separateConnections() async throws {
        let origin = try await TLSOrigin()
        let checked = try transport(trusts: nil)
        let unchecked = try transport(trusts: nil) { $0.hostsWithAnyCertificate = ["127.0.0.1"] }
        _ = try await get(unchecked, origin.authority)
        await #expect(throws: TransportError.self) { try await get(checked, origin.authority) }
    }

    @Test("TLS to an origin without TLS is an error")
    func noTLS() async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let error = await #expect(throws: TransportError.self) {
            try await get(transport(trusts: nil), origin.authority)
        }
        #expect(error?.code == .insecure)
        await origin.stop()
    }

    @Test("Requests share one HTTP/2 connection, and an idle reader blocks no other request")
    func multiplexing() async throws {
        let origin = try await TLSOrigin(
            locations: "location = /connection { return 200 \"$connection\"; } location /files { }")
        let large = Data(count: 64 << 20)
        try FileManager.default.createDirectory(
            at: origin.directory.appending(path: "files"), withIntermediateDirectories: false)
        try large.write(to: origin.directory.appending(path: "files/large"))
        let transport = try transport()
        let first = try await get(transport, origin.authority, "/connection")
        let request = HTTPRequest(method: .get, scheme: "https", authority: origin.authority, path: "/files/large")
        let held = try await transport.send(request, content: nil).body
        let connections = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<40 { group.addTask { try await get(transport, origin.authority, "/connection") } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(connections == [first])
        #expect(try await held.read().get().count == large.count)
    }

    @Test("Sends content over HTTP/2, with and without a length", arguments: [nil, 3_000_000] as [Int64?])
    func upload(length: Int64?) async throws {
        let origin = try await TLSOrigin(
            locations: "location /up { dav_methods PUT; create_full_put_path on; client_body_buffer_size 1m; }")
        let transport = try transport()
        let chunks = TransportBody(chunks: (1...3).map { Data(repeating: $0, count: 1_000_000) })
        let content = RequestContent(length: length) { () async throws(TransportError) in try await chunks.next() }
        let request = HTTPRequest(method: .put, scheme: "https", authority: origin.authority, path: "/up/file")
        let response = try await transport.send(request, content: content)
        #expect(response.head.status == .created)
        let written = try Data(contentsOf: origin.directory.appending(path: "up/file"))
        #expect(written == Data((1...3).flatMap { Array(repeating: UInt8($0), count: 1_000_000) }))
    }
}
#endif
