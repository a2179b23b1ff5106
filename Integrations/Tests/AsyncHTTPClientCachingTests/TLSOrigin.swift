import NIOCore
import NIOHPACK
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// An origin on loopback over TLS, with a certificate from an authority that no system trusts.
///
/// Answers each request with its version of HTTP, such as `2.0`.
final class TLSOrigin: Sendable {
    private let listener: any Channel
    let authority: String
    private let requests: RequestCount

    /// - Parameters:
    ///   - protocols: The protocols to offer, by their names in ALPN (RFC 7301).
    ///   - certificate: The certificate in PEM. Its key is ``TestCertificates/serverKey``.
    convenience init(offering protocols: [String], certificate: String = TestCertificates.server) async throws {
        let requests = RequestCount()
        try await self.init(protocols, certificate, requests) { channel in
            channel.configureCommonHTTPServerPipeline { stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.pipeline.syncOperations.addHandler(VersionHandler(requests))
                }
            }
        }
    }

    /// Answers each request over HTTP/2 with a head of one field, `:status`.
    ///
    /// - Parameters:
    ///   - status: The value of `:status`.
    ///   - endsStream: Whether the head ends the response. If not, an empty body ends it.
    convenience init(status: String, endsStream: Bool) async throws {
        let requests = RequestCount()
        try await self.init(["h2"], TestCertificates.server, requests) { channel in
            channel.configureHTTP2Pipeline(mode: .server) { stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.pipeline.syncOperations.addHandler(
                        StatusHandler(requests, status: status, endsStream: endsStream))
                }
            }.map { _ in }
        }
    }

    private init(
        _ protocols: [String], _ certificate: String, _ requests: RequestCount,
        configure: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) async throws {
        self.requests = requests
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8))
                .map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(TestCertificates.serverKey.utf8), format: .pem)))
        configuration.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: configuration)
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                }.flatMap { configure(channel) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        authority = "127.0.0.1:\(listener.localAddress?.port ?? 0)"
    }

    /// The number of received requests.
    var requestCount: Int { requests.value.load(ordering: .relaxed) }

    func url(_ path: String) -> String { "https://\(authority)\(path)" }

    func stop() async {
        try? await listener.close().get()
    }
}

private final class RequestCount: Sendable {
    let value = Atomic(0)
}

private final class VersionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let requests: RequestCount
    private var version = HTTPVersion.http1_1

    init(_ requests: RequestCount) { self.requests = requests }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): version = head.version
        case .body: break
        case .end:
            requests.value.add(1, ordering: .relaxed)
            let body = "\(version.major).\(version.minor)"
            let head = HTTPResponseHead(
                version: version, status: .ok, headers: ["content-length": "\(body.utf8.count)"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: body)))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// Answers a request with one HEADERS frame.
private final class StatusHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let requests: RequestCount
    private let status: String
    private let endsStream: Bool

    init(_ requests: RequestCount, status: String, endsStream: Bool) {
        self.requests = requests
        self.status = status
        self.endsStream = endsStream
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers = unwrapInboundIn(data) else { return }
        requests.value.add(1, ordering: .relaxed)
        let head = HTTP2Frame.FramePayload.Headers(headers: [":status": status], endStream: endsStream)
        context.writeAndFlush(wrapOutboundOut(.headers(head)), promise: nil)
        if !endsStream {
            let end = HTTP2Frame.FramePayload.Data(data: .byteBuffer(ByteBuffer()), endStream: true)
            context.writeAndFlush(wrapOutboundOut(.data(end)), promise: nil)
        }
    }
}

/// Certificates of a test authority, valid for a century. They protect nothing.
enum TestCertificates {
    /// The root certificate of the authority.
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBnDCCAUKgAwIBAgIBATAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMzIyMzA0M1oYDzIxMjUwNjE3MjIz
        MDQzWjAkMSIwIAYDVQQDDBlDYWNoZVN0b3JlIHRlc3QgYXV0aG9yaXR5MFkwEwYH
        KoZIzj0CAQYIKoZIzj0DAQcDQgAEybdMfk3tMHAVu/k9D75cD9/j6B4420olTiiW
        3AP67K06COT0fawE/+lRYZHF7/PM05jBpSSJaU3p0oCg749o/aNjMGEwHQYDVR0O
        BBYEFOGwYqfONfzU2BzT9ssHODxtKlUjMB8GA1UdIwQYMBaAFOGwYqfONfzU2BzT
        9ssHODxtKlUjMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMAoGCCqG
        SM49BAMCA0gAMEUCIQDyNNf8hYthAC2OAV4BdojMA3wL0+ATc1pY/Z7zCyrBZAIg
        A1W3xcyhyZUNvDrnB8qAyrarBGlscTU+Xg7w/JrGdXQ=
        -----END CERTIFICATE-----
        """

    /// A certificate for 127.0.0.1 only, issued by the authority.
    static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBijCCATCgAwIBAgIBAjAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMzIyMzA0M1oYDzIxMjUwNjE3MjIz
        MDQzWjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjOPQMB
        BwNCAAS/18/GyBXSYshFFao8B/SXzhOm0aInVcorA4gctv6odyOI3HGZl6cZZkmC
        4kxgWWjJZk3bez9IWiR51h9uh/c6o2EwXzAMBgNVHRMBAf8EAjAAMA8GA1UdEQQI
        MAaHBH8AAAEwHQYDVR0OBBYEFI9USzSVc+zsVxHbRPbcfT82S5ZfMB8GA1UdIwQY
        MBaAFOGwYqfONfzU2BzT9ssHODxtKlUjMAoGCCqGSM49BAMCA0gAMEUCIQCnqE9A
        rSPT8yzAjAgal/RanQYNMJAIN2GrPnHi7KMSfQIgek8FStBzkW1qonfrUnHd37mb
        hW7B9D+R7YjXpwLis7Q=
        -----END CERTIFICATE-----
        """

    /// A certificate for other.example only, issued by the authority.
    static let otherServer = """
        -----BEGIN CERTIFICATE-----
        MIIBlzCCAT2gAwIBAgIBAzAKBggqhkjOPQQDAjAkMSIwIAYDVQQDDBlDYWNoZVN0
        b3JlIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyMzIyMzA0M1oYDzIxMjUwNjE3MjIz
        MDQzWjAYMRYwFAYDVQQDDA1vdGhlci5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZI
        zj0DAQcDQgAEv9fPxsgV0mLIRRWqPAf0l84TptGiJ1XKKwOIHLb+qHcjiNxxmZen
        GWZJguJMYFloyWZN23s/SFokedYfbof3OqNqMGgwDAYDVR0TAQH/BAIwADAYBgNV
        HREEETAPgg1vdGhlci5leGFtcGxlMB0GA1UdDgQWBBSPVEs0lXPs7FcR20T23H0/
        NkuWXzAfBgNVHSMEGDAWgBThsGKnzjX81Ngc0/bLBzg8bSpVIzAKBggqhkjOPQQD
        AgNIADBFAiEA5hOeSRQEDLNBq8EDbOz99x8JdC4p+Sa//Cb5PPt9DKsCIByue2nO
        yV6rx6iOUmFpZVTOVYON6JRrJIf3NzLaqZyr
        -----END CERTIFICATE-----
        """

    /// The private key of ``server`` and ``otherServer``.
    static let serverKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiFF8MAFPqWc30ofM
        Te9ElciFbS7gDEnl5YFs5fDrm7uhRANCAAS/18/GyBXSYshFFao8B/SXzhOm0aIn
        VcorA4gctv6odyOI3HGZl6cZZkmC4kxgWWjJZk3bez9IWiR51h9uh/c6
        -----END PRIVATE KEY-----
        """
}
