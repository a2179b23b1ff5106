#if !canImport(Darwin)
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import NIOCore
import NIOPosix
import Synchronization
import TestSupport
import Testing

/// Connections: their reuse, their ends, and the backpressure of both sides.
@Suite("CurlTransport: connections") struct CurlConnectionTests {
    private let adapter = TransportAdapter.curl
    private static let ok = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)

    private func request(
        _ server: ScriptedServer, _ method: HTTPRequest.Method = .get, _ path: String = "/"
    ) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
    }

    @Test("RFC 9112 §6.3: bytes after a response begin no other response, and close its connection")
    func surplusBytes() async throws {
        for surplus in ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong", "HTTP/1.1 200 OK\r\nX-Forged: 1\r\n", "x"]
        {
            let server = try await ScriptedServer { _, _, _ in .send(Self.ok + Array(surplus.utf8)) }
            let transport = adapter.make()
            for _ in 0..<3 {
                let response = try await transport.send(request(server), content: nil)
                #expect(response.head.headerFields.map(\.name.canonicalName) == ["content-length"])
                #expect(try await response.body.read().get() == Data("ok".utf8))
            }
            #expect(server.connectionCount == 3)
            await server.stop()
        }
    }

    @Test("RFC 9112 §6.1: ignores a length next to a transfer coding, and closes the connection")
    func lengthAndCoding() async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
        let server = try await ScriptedServer { _, _, _ in .send(Array(text.utf8)) }
        let transport = adapter.make()
        for _ in 0..<2 {
            let response = try await transport.send(request(server), content: nil)
            #expect(response.head.headerFields[.contentLength] == nil)
            #expect(try await response.body.read().get() == Data("ok".utf8))
        }
        #expect(server.connectionCount == 2)
        await server.stop()
    }

    /// An end of an idle connection that a client notices only when it sends.
    enum Ending: String, CaseIterable, Sendable {
        case atRequest, reset, later2, later20, later50, inHead
    }

    @Test("RFC 9110 §9.2.2: a safe request on a closed connection is retried once", arguments: Ending.allCases)
    func closedConnection(ending: Ending) async throws {
        let server = try await ScriptedServer { connection, request, _ in
            let delay: Int64? =
                switch ending {
                case .later2: 2
                case .later20: 20
                case .later50: 50
                default: nil
                }
            if let delay { return .sendAndCloseLater(Self.ok, .milliseconds(delay)) }
            if request == 0 { return .send(Self.ok) }
            return switch ending {
            case .reset: .reset
            case .inHead: .sendAndClose(Array("HTTP/1.1 200 OK\r\nContent-".utf8))
            default: .sendAndClose([])
            }
        }
        let transport = adapter.make()
        for index in 0..<20 {
            let method: HTTPRequest.Method = [.get, .head, .options, .query][index % 4]
            let content = method == .query ? RequestContent(Data("content".utf8)) : nil
            let error = await outcome { try await transport.send(request(server, method), content: content) }
            #expect(error == nil, "\(index) \(method): \(String(describing: error))")
        }
        await server.stop()
    }

    @Test(
        "An unsafe request is sent once, even if its connection is reset",
        arguments: [HTTPRequest.Method.post, .put, .delete, .patch, .init("PURGE")!], [false, true])
    func unsafeOnce(method: HTTPRequest.Method, hasContent: Bool) async throws {
        let server = try await ScriptedServer { _, _, head in head.hasPrefix("GET") ? .send(Self.ok) : .reset }
        let transport = adapter.make()
        // Several old connections, which libcurl would try one after another.
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { _ = try await transport.send(request(server), content: nil).body.read().get() }
            }
            try await group.waitForAll()
        }
        let error = await outcome {
            try await transport.send(
                request(server, method), content: hasContent ? RequestContent(Data("content".utf8)) : nil)
        }
        #expect(error?.code == .connectionLost)
        #expect(server.heads.count { !$0.hasPrefix("GET") } == 1)
        await server.stop()
    }

    @Test("A stream of content is not sent again, and a safe request only once more")
    func bounded() async throws {
        let server = try await ScriptedServer { _, request, head in head.contains("/first") ? .send(Self.ok) : .reset }
        let transport = adapter.make()
        for _ in 0..<2 {
            #expect(await outcome { try await transport.send(request(server, .get, "/first"), content: nil) } == nil)
        }
        let error = await outcome { try await transport.send(request(server), content: nil) }
        #expect(error?.code == .connectionLost)
        #expect(server.heads.count { $0.hasPrefix("GET / ") } == 2)
        let chunks = TransportBody(chunks: [Data("abc".utf8)])
        let content = RequestContent(length: 3) { () async throws(TransportError) in try await chunks.next() }
        #expect(await outcome { try await transport.send(request(server, .get, "/first"), content: nil) } == nil)
        let stream = await outcome { try await transport.send(request(server, .query), content: content) }
        #expect(stream?.code == .connectionLost)
        #expect(server.heads.count { $0.hasPrefix("QUERY") } == 1)
        await server.stop()
    }

    @Test("A new connection that closes is an error, without a retry")
    func newConnection() async throws {
        let server = try await ScriptedServer { _, _, _ in .sendAndClose([]) }
        let error = await outcome { try await adapter.make().send(request(server), content: nil) }
        #expect(error?.code == .connectionLost)
        #expect(server.heads.count == 1)
        await server.stop()
    }

    @Test("A slow reader slows the origin down")
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
        // Transfers as much again, which takes as long as the held body would need.
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

    @Test("Content is sent while the program produces it")
    func streaming() async throws {
        let (chunks, source) = AsyncStream<Data>.makeStream()
        let server = try await ScriptedServer { _, _, _ in
            source.yield(Data("second".utf8))
            source.finish()
            return .send(Self.ok)
        }
        source.yield(Data("first".utf8))
        let response = try await adapter.make().send(
            request(server, .post), content: RequestContent(length: nil, chunks))
        #expect(try await response.body.read().get() == Data("ok".utf8))
        await server.stop()
    }

    @Test("The head timeout counts from the start; the idle timeout excludes the time of the program")
    func timeouts() async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { request in
            if request.method == .get { await gate.wait() }
            return .ok("body".utf8)
        }
        var configuration = CurlTransport.Configuration()
        configuration.headTimeout = .milliseconds(200)
        let hasty = CurlTransport(configuration: configuration)
        let error = await outcome { try await hasty.send(.to(origin), content: nil) }
        #expect(error?.code == .timedOut)
        configuration = CurlTransport.Configuration()
        configuration.idleTimeout = .seconds(2)
        let transport = CurlTransport(configuration: configuration)
        let idle = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(idle?.code == .timedOut)
        gate.open()
        let parts = Tally()
        let content = RequestContent(length: nil) { () async throws(TransportError) -> Data? in
            parts.add(1)
            guard parts.count < 3 else { return nil }
            // Longer than the idle timeout: this is the program's time.
            try? await Task.sleep(for: .seconds(3))
            return Data("part".utf8)
        }
        #expect(await outcome { try await transport.send(.to(origin, method: .post), content: content) } == nil)
        await origin.stop()
    }

    @Test("Releasing or cancelling a body ends its exchange")
    func release() async throws {
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok(Array(repeating: 1, count: 1 << 24)).delivered(.paced(bytes: 1 << 16) { _ in })
        }
        let transport = adapter.make()
        for isReleased in [true, false] {
            var response: TransportResponse? = try await transport.send(.to(origin), content: nil)
            _ = try await response?.body.next()
            if isReleased {
                response = nil
            } else {
                let body = try #require(response?.body)
                let read = Task { while try await body.next() != nil {} }
                read.cancel()
                let error = await #expect(throws: TransportError.self) { try await read.value }
                #expect(error?.code == .cancelled)
            }
        }
        // The connections of the ended exchanges are not used again.
        let counters = origin.counters
        #expect(try await transport.send(.to(origin), content: nil).body.read().get().count == 1 << 24)
        #expect(origin.counters.connections == counters.connections + 1)
        await origin.stop()
    }

    @Test("A body outlives its transport; after the shutdown no request is sent")
    func lifetime() async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok(Array(repeating: 1, count: 10)).delivered(
                .paced(bytes: 5) { if $0 == 1 { await gate.wait() } })
        }
        let body = try await adapter.make().send(.to(origin), content: nil).body
        let transport = CurlTransport()
        let interrupted = try await transport.send(.to(origin), content: nil).body
        await transport.shutdown()
        await transport.shutdown()
        let interruption = await interrupted.read()
        #expect(throws: TransportError(.cancelled, message: "the transport was shut down")) { try interruption.get() }
        let late = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(late?.code == .unsupportedRequest)
        gate.open()
        #expect(try await body.read().get().count == 10)
        #expect(origin.requestCount == 2)
        await origin.stop()
    }

    @Test("Requests to one host use a limited number of connections; the others wait")
    func connectionsPerHost() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("x".utf8) }
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerHost = 3
        configuration.idleTimeout = .seconds(600)
        let transport = CurlTransport(configuration: configuration)
        try await withThrowingTaskGroup { group in
            for _ in 0..<60 {
                group.addTask { _ = try await transport.send(.to(origin), content: nil).body.read().get() }
            }
            try await group.waitForAll()
        }
        #expect(origin.counters.connections <= 3)
        await origin.stop()
    }

    @Test("The wait for a connection is no idle time")
    func waitForConnection() async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            OriginReply.ok(Array(repeating: 1, count: 10)).delivered(
                .paced(bytes: 5) { if $0 == 1 { await gate.wait() } })
        }
        let silent = try await ScriptedServer { _, _, _ in .send([]) }
        var configuration = CurlTransport.Configuration()
        configuration.connectionsPerHost = 1
        configuration.idleTimeout = .seconds(2)
        let transport = CurlTransport(configuration: configuration)
        let first = try await transport.send(.to(origin), content: nil)
        var count = try #require(try await first.body.next()).count
        let second = Task { try await transport.send(.to(origin), content: nil).body.read().get().count }
        // Each of these requests lasts the idle timeout. The second request waits from the start of the last one.
        for _ in 0..<2 {
            #expect(await outcome { try await transport.send(request(silent), content: nil) }?.code == .timedOut)
        }
        gate.open()
        while let chunk = try await first.body.next() { count += chunk.count }
        #expect(count == 10)
        #expect(try await second.value == 10)
        await silent.stop()
        await origin.stop()
    }

    @Test("An unused connection closes after the keep-alive timeout, and a new one serves the next request")
    func keepAlive() async throws {
        let server = try await ScriptedServer { _, _, _ in .send(Self.ok) }
        var configuration = CurlTransport.Configuration()
        configuration.keepAliveTimeout = .milliseconds(50)
        let transport = CurlTransport(configuration: configuration)
        #expect(await outcome { try await transport.send(request(server), content: nil) } == nil)
        await eventually { server.openCount == 0 }
        #expect(await outcome { try await transport.send(request(server), content: nil) } == nil)
        #expect(server.connectionCount == 2)
        await server.stop()
    }
}

private final class Tally: Sendable {
    private let value = Atomic(0)

    var count: Int { value.load(ordering: .relaxed) }

    func add(_ number: Int) { value.add(number, ordering: .relaxed) }
}
#endif
