import AsyncHTTPClient
import AsyncHTTPClientCaching
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import NIOCore
import Testing

@Suite("AsyncHTTPClientTransport: invalid statuses")
struct AsyncHTTPClientStatusTests {
    @Test(
        "RFC 9110 §15: a status below 100 is malformed over HTTP/1.1",
        arguments: ["000", "001", "099"], ["Content-Length: 2\r\n\r\nok", "Content-Length: 0\r\n\r\n"])
    func http1(status: String, rest: String) async {
        let error = await outcome {
            try await TransportAdapter.asyncHTTPClient.response(to: .raw("HTTP/1.1 \(status) None", rest))
        }
        #expect(error?.code == .malformedResponse, "\(error.debugDescription)")
    }

    @Test(
        "RFC 9110 §15: a status other than a three-digit number from 100 is malformed over HTTP/2",
        arguments: ["-5", "99", "099", "000", "", "0", "+20", "20x", "1000", "99999999999999999999"], [false, true])
    func http2(status: String, endsStream: Bool) async throws {
        #expect(try await http2Error(status, endsStream)?.code == .malformedResponse)
    }

    @Test("RFC 9113 §8.1: an interim response that ends its stream is malformed")
    func interimEnd() async throws {
        #expect(try await http2Error("103", true)?.code == .malformedResponse)
    }

    @Test("Valid statuses arrive over HTTP/2", arguments: ["200", "599", "999"], [false, true])
    func valid(status: String, endsStream: Bool) async throws {
        #expect(try await http2Error(status, endsStream) == nil)
    }

    @Test("The check keeps the debug initializers of the configuration")
    func initializers() async throws {
        let called = CallCount()
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.http1_1ConnectionDebugInitializer = { channel in
            called.increment()
            return channel.eventLoop.makeSucceededVoidFuture()
        }
        configuration.rejectInvalidStatuses()
        let client = HTTPClient(configuration: configuration)
        let origin = try await LoopbackOrigin { _ in .raw("HTTP/1.1 000 None", "Content-Length: 0", "", "") }
        let transport = AsyncHTTPClientTransport(client: client)
        let error = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(error?.code == .malformedResponse)
        #expect(called.value == 1)
        await origin.stop()
        try await client.shutdown()
    }

    private func http2Error(_ status: String, _ endsStream: Bool) async throws -> TransportError? {
        let origin = try await TLSOrigin(status: status, endsStream: endsStream)
        let transport = try AsyncHTTPClientTransport.trusting(TestCertificates.authority)
        let request = HTTPRequest(method: .get, scheme: "https", authority: origin.authority, path: "/")
        let error = await outcome { try await transport.send(request, content: nil) }
        #expect(origin.requestCount == 1)
        await origin.stop()
        return error
    }
}
