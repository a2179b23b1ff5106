import AsyncHTTPClient
import AsyncHTTPClientCaching
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// The rules specific to this transport. The suites `Transport: …` test the rules of all transports.
@Suite("AsyncHTTPClientTransport")
struct AsyncHTTPClientTransportTests {
    private let adapter = TransportAdapter.asyncHTTPClient

    private func lines(_ fields: HTTPFields) -> [String] {
        fields.map { "\($0.name.rawName): \($0.value)" }
    }

    @Test("Every field line arrives separately, in order, and with its name unchanged")
    func fieldLines() async throws {
        let written = ["X-One: 1", "x-two: 2", "X-One: 3", "SET-COOKIE: a=b", "Set-Cookie: c=d", "Content-Length: 0"]
        let reply = OriginReply.raw(Array((["HTTP/1.1 200 OK"] + written + ["", ""]).joined(separator: "\r\n").utf8))
        var fields = HTTPFields()
        for line in ["X-B: 1", "x-a: 2", "X-B: 3"] {
            let parts = line.split(separator: ": ").map(String.init)
            fields.append(HTTPField(name: try #require(HTTPField.Name(parts[0])), value: parts[1]))
        }
        let answer = try await adapter.exchange(reply, fields: fields)
        #expect(lines(answer.head.headerFields) == written)
        let seen = lines(try #require(answer.origin.requests.first).fields)
        #expect(seen.filter { $0.lowercased().hasPrefix("x-") } == ["X-B: 1", "x-a: 2", "X-B: 3"])
        await answer.origin.stop()
    }

    @Test("Repairs values that are not UTF-8 in both directions, and `prepare` shows the repair")
    func latin1() async throws {
        let name = try #require(HTTPField.Name("X-Colour"))
        let reply = OriginReply.raw(
            Array("HTTP/1.1 200 OK\r\nX-Colour: gr".utf8) + [0xFC] + Array("n\r\nContent-Length: 0\r\n\r\n".utf8))
        let field = HTTPField(name: name, value: [0x67, 0x72, 0xFC, 0x6E])
        let answer = try await adapter.exchange(reply, fields: HTTPFields([field]))
        #expect(answer.head.headerFields[name] == "gr\u{FFFD}n")
        let prepared = adapter.make().prepare(.to(answer.origin, fields: HTTPFields([field])))
        #expect(answer.origin.requests.map { $0.fields[name] } == [prepared.headerFields[name]])
        await answer.origin.stop()
    }

    @Test("Trailer fields of a chunked body do not appear in the head", .requirement("S14"))
    func trailers() async throws {
        let reply = OriginReply.raw(
            "HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Trailer: X-After", "", "4", "0123", "0", "X-After: 1", "",
            "")
        let answer = try await adapter.exchange(reply)
        #expect(try answer.body.get() == Data("0123".utf8))
        #expect(answer.head.headerFields[.init("X-After")!] == nil)
        await answer.origin.stop()
    }

    @Test("Bytes past the end of a response do not answer the next request")
    func surplusBytes() async throws {
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst"
        let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(FixedReply(text: first + surplus))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let transport = adapter.make()
        for path in ["/1", "/2", "/3"] {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: path)
            do throws(TransportError) {
                let response = try await transport.send(request, content: nil)
                let bytes = try await response.body.read().get()
                #expect(bytes == Data("first".utf8), "\(path)")
            } catch {
                // The client closes a connection with surplus bytes, perhaps after this request has taken it.
                #expect(error.code == .connectionLost, "\(path): \(error)")
                #expect(path != "/1", "\(path): \(error)")
            }
        }
        try await listener.close()
    }

    @Test("RFC 9112 §6.3: a response with two lengths is malformed")
    func conflictingLengths() async {
        let error = await outcome {
            try await adapter.response(
                to: .raw("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 4", "", "okay"))
        }
        #expect(error?.code == .malformedResponse)
    }

    @Test("A redirect without Location is an ordinary response", arguments: [301, 302, 303, 307, 308])
    func redirectToNothing(code: Int) async throws {
        let answer = try await adapter.exchange(.status(.init(code: code), body: "x".utf8))
        #expect(answer.head.status.code == code)
        #expect(try answer.body.get() == Data("x".utf8))
        await answer.origin.stop()
    }

    @Test("Reports failed TLS")
    func insecure() async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let request = HTTPRequest(method: .get, scheme: "https", authority: origin.authority, path: "/")
        let error = await outcome { try await adapter.make().send(request, content: nil) }
        #expect(error?.code == .insecure)
        await origin.stop()
    }

    @Test("An encoded body arrives unchanged")
    func decoding() async throws {
        let answer = try await adapter.exchange(
            .status(.ok, fields: [.contentEncoding: "gzip"], body: "no gzip at all".utf8))
        #expect(try answer.body.get() == Data("no gzip at all".utf8))
        #expect(answer.head.headerFields[.contentEncoding] == "gzip")
        await answer.origin.stop()
    }

    @Test("Sends a stream of unknown length in chunks")
    func chunkedStream() async throws {
        let chunks = TransportBody(chunks: [Data("abc".utf8), Data("de".utf8)])
        let content = RequestContent(length: nil) { () async throws(TransportError) in try await chunks.next() }
        let answer = try await adapter.exchange(.ok("x".utf8), method: .post, content: content)
        let request = try #require(answer.origin.requests.first)
        #expect(request.body == Array("abcde".utf8))
        #expect(request.fields[.contentLength] == nil)
        #expect(request.fields[.transferEncoding] == "chunked")
        await answer.origin.stop()
    }

    @Test("A reader that does not read blocks the origin")
    func backPressure() async throws {
        let pieceCount = 256
        let sent = Tally()
        let body = Array(repeating: UInt8(7), count: pieceCount << 18)
        let origin = try await LoopbackOrigin { request in
            let counts = request.path == "/held"
            return OriginReply.ok(body).delivered(.paced(bytes: 1 << 18) { _ in if counts { sent.add(1) } })
        }
        let transport = adapter.make()
        let held = try await transport.send(.to(origin, path: "/held"), content: nil)
        var count = try #require(try await held.body.next()).count
        // Transfers as much again, to give the unread body the time that it would have needed.
        #expect(
            try await transport.send(.to(origin, path: "/other"), content: nil).body.read().get().count == body.count)
        #expect(sent.count < pieceCount / 2)
        while let chunk = try await held.body.next() { count += chunk.count }
        #expect(count == body.count)
        await origin.stop()
    }

    @Test("An origin that does not read blocks the content, and the exchange fails after the idle timeout")
    func uploadBackPressure() async throws {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(listener.localAddress?.port)
        let made = Tally()
        let content = RequestContent(length: nil) { () async throws(TransportError) in
            made.add(1)
            return Data(count: 1 << 16)
        }
        let request = HTTPRequest(method: .post, scheme: "http", authority: "127.0.0.1:\(port)", path: "/")
        let error = await outcome { try await adapter.make(idleTimeout: 1).send(request, content: content) }
        #expect(error?.code == .timedOut)
        #expect(made.count < 1024)
        try await listener.close()
    }

    @Test("The head timeout ends the exchange before any response")
    func headTimeout() async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            await gate.wait()
            return .ok()
        }
        var configuration = AsyncHTTPClientTransport.Configuration()
        configuration.headTimeout = .milliseconds(200)
        let transport = AsyncHTTPClientTransport(configuration: configuration)
        let error = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(error?.code == .timedOut)
        gate.open()
        await origin.stop()
    }

    @Test("A body outlives its transport")
    func outliving() async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok(Array(repeating: 1, count: 10)).delivered(
                .paced(bytes: 5) { if $0 == 1 { await gate.wait() } })
        }
        let body = try await adapter.make().send(.to(origin), content: nil).body
        gate.open()
        #expect(try await body.read().get().count == 10)
        await origin.stop()
    }

    @Test("Sends nothing after shutdown, and a second shutdown has no effect")
    func shutdown() async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let transport = AsyncHTTPClientTransport()
        #expect(await outcome { try await transport.send(.to(origin), content: nil) } == nil)
        try await transport.shutdown()
        try await transport.shutdown()
        #expect(await outcome { try await transport.send(.to(origin), content: nil) } != nil)
        #expect(origin.requestCount == 1)
        await origin.stop()
    }

    @Test("Uses an existing client without shutting it down, and refuses responses that it redirected")
    func ownClient() async throws {
        let origin = try await LoopbackOrigin { request in
            request.path == "/" ? .status(.found, fields: [.location: "/there"]) : .ok("x".utf8)
        }
        let transport = AsyncHTTPClientTransport(client: .shared)
        #expect(await outcome { try await transport.send(.to(origin, path: "/there"), content: nil) } == nil)
        try await transport.shutdown()
        let error = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(error?.code == .unsupportedRequest)
        await origin.stop()
    }

    @Test("Reuses connections after complete responses")
    func reuse() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("hello".utf8) }
        let transport = adapter.make()
        for _ in 0..<5 {
            _ = try await transport.send(.to(origin), content: nil).body.read().get()
        }
        #expect(origin.counters.connections == 1)
        await origin.stop()
    }
}

/// Answers each read with the same bytes, and keeps the connection open.
private final class FixedReply: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let text: String

    init(text: String) { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
}

private final class Tally: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add(_ number: Int) { value.add(number, ordering: .relaxed) }
}
