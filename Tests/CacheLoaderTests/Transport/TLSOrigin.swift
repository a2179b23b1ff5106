#if AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL

/// An origin on loopback over TLS. Its certificate comes from an authority that no system trusts.
///
/// Answers each request with the version of HTTP in which the request arrived, such as `2.0`.
final class TLSOrigin: Sendable {
    private let listener: any Channel
    let authority: String

    /// - Parameter protocols: The protocols to offer, by their names in ALPN (RFC 7301).
    init(offering protocols: [String]) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(TestCertificates.server.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificates.serverKey.utf8), format: .pem)))
        configuration.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: configuration)
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap {
                    channel.configureCommonHTTPServerPipeline { stream in
                        stream.eventLoop.makeCompletedFuture {
                            try stream.pipeline.syncOperations.addHandler(VersionHandler())
                        }
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        authority = "127.0.0.1:\(listener.localAddress?.port ?? 0)"
    }

    func url(_ path: String) -> String { "https://\(authority)\(path)" }

    func stop() async {
        try? await listener.close().get()
    }
}

private final class VersionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var version = HTTPVersion.http1_1

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): version = head.version
        case .body: break
        case .end:
            let body = "\(version.major).\(version.minor)"
            let head = HTTPResponseHead(
                version: version, status: .ok, headers: ["content-length": "\(body.utf8.count)"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// Certificates of a test authority, valid until the year 2120. They protect nothing.
enum TestCertificates {
    /// The root certificate of the authority.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBezCCASGgAwIBAgIBATAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAw
        MDAwWjAkMSIwIAYDVQQDDBlDYWNoZVN0b3JlIHRlc3QgYXV0aG9yaXR5MFkwEwYH
        KoZIzj0CAQYIKoZIzj0DAQcDQgAEAfvSwqPN82Eti4Y2wj4w1mcrKFxzwcmWUb+u
        vUm6wIbQqGH5tvhFiA/HxQEccTUNwt5M3UIjAK1nmSo98B9g6qNCMEAwDwYDVR0T
        AQH/BAUwAwEB/zAOBgNVHQ8BAf8EBAMCAgQwHQYDVR0OBBYEFC94jTZIh/bBh4BG
        qhqtFFn8hmD5MAoGCCqGSM49BAMCA0gAMEUCIHjfncwxMabLW+04AG3DoZnOhTeT
        kko7w6McoDrflic2AiEAxxk8zqhaAtX3lmjNSTqWsiiCH9RSsHNZmBpYfi1pP70=
        -----END CERTIFICATE-----
        """

    /// A certificate for 127.0.0.1 alone, issued by the authority.
    static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBijCCATCgAwIBAgIBATAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAw
        MDAwWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMB
        BwNCAARucpWXlx+iA2v2k74jmEUAqtzFxY6ZzW8yAXg0FEWljDvNb7M7Ec0mWRXh
        2E6M2itefoIxhmmdqErg2otC9wEXo2EwXzAMBgNVHRMBAf8EAjAAMA8GA1UdEQQI
        MAaHBH8AAAEwHQYDVR0OBBYEFD7cICsxqBWAiGO7AutS+dX+VBmNMB8GA1UdIwQY
        MBaAFC94jTZIh/bBh4BGqhqtFFn8hmD5MAoGCCqGSM49BAMCA0gAMEUCIQDFYy3l
        toxdcILauKbItmVFaQ/8oL6BmNFpHB8hZRWsHgIgb/FRnDwfpjj/eQwT9h6rureg
        yWhMEPUy4bZy0DBO3b0=
        -----END CERTIFICATE-----
        """

    /// The private key of ``server``.
    static let serverKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgeJFi/rznA6aP8FvM
        TZaQWj3ilLuAH6ulbFYOp1Pm3HGhRANCAARucpWXlx+iA2v2k74jmEUAqtzFxY6Z
        zW8yAXg0FEWljDvNb7M7Ec0mWRXh2E6M2itefoIxhmmdqErg2otC9wEX
        -----END PRIVATE KEY-----
        """
}
#endif
