import LoopbackHTTP
import TestSupport

@Suite("LoopbackServer", .timeLimit(.minutes(20)))
struct LoopbackServerTests {
    private static let response = ResponseHead.bytes(.ok, [.contentLength: "0"])

    private func server(
        _ adjust: (inout LoopbackServer.Configuration) -> Void = { _ in },
        answer: @escaping LoopbackServer.Answer = { try? await $0.send(response) }
    ) async throws -> LoopbackServer {
        var configuration = LoopbackServer.Configuration(contentLimit: 16)
        adjust(&configuration)
        return try await LoopbackServer(host: "127.0.0.1", configuration: configuration) { _ in answer }
    }

    @Test(
        "a connection without a complete request is closed after the timeout",
        arguments: ["", "GET / HTTP/1.1\r\nHost: o\r\n", "PUT / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf"])
    func incompleteRequest(_ bytes: String) async throws {
        let server = try await server { $0.timeout = .milliseconds(50) }
        let client = try await RawClient(port: server.port)
        // On a busy machine the server may close before the bytes are sent.
        try? await client.send(bytes)
        #expect(await client.rest().text == "")
        await server.stop()
    }

    @Test("a connection is closed after the timeout that follows a response, not during the answer")
    func idleConnection() async throws {
        let server = try await server {
            $0.timeout = .seconds(2)
        } answer: { connection in
            try? await Task.sleep(for: .seconds(3))
            try? await connection.send(Self.response)
        }
        let client = try await RawClient(port: server.port)
        try await client.request()
        #expect(try await client.head().hasPrefix("HTTP/1.1 200 "))
        #expect(await client.rest().text == "")
        await server.stop()
    }

    @Test("a client that does not read is disconnected after the timeout")
    func unreadResponse() async throws {
        let sent = Mutex(0)
        let (failures, failure) = AsyncStream<Void>.makeStream()
        let server = try await server {
            $0.timeout = .seconds(5)
        } answer: { connection in
            let piece = [UInt8](repeating: 0, count: 1 << 20)
            do {
                while true {
                    try await connection.send(piece)
                    sent.withLock { $0 += 1 }
                }
            } catch {
                failure.finish()
            }
        }
        let client = try await RawClient(port: server.port, reads: false)
        try await client.request()
        for await _ in failures {}
        // The buffers of the system take some bytes.
        #expect(sent.withLock { $0 } < 64)
        await server.stop()
    }

    @Test("connections beyond the limit are closed, and accepted again below it")
    func connectionLimit() async throws {
        let server = try await server { $0.connectionLimit = 2 }
        let clients = [try await RawClient(port: server.port), try await RawClient(port: server.port)]
        await eventually { server.acceptedConnections == 2 }
        let refused = try await RawClient(port: server.port)
        #expect(await refused.rest().text == "")
        for client in clients {
            try await client.request()
            #expect(try await client.head().hasPrefix("HTTP/1.1 200 "))
        }
        try await clients[0].close()
        var isServed = false
        while !isServed {
            let client = try await RawClient(port: server.port)
            try? await client.request()
            isServed = (try? await client.head())?.hasPrefix("HTTP/1.1 200 ") ?? false
        }
        await server.stop()
    }

    @Test("malformed requests get 400 if the server answers them", arguments: [true, false])
    func malformedRequest(answers: Bool) async throws {
        let server = try await server { $0.answersMalformedRequests = answers }
        let client = try await RawClient(port: server.port)
        try await client.send("no such thing\r\n\r\n")
        let expected = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        #expect(await client.rest().text == (answers ? expected : ""))
        await server.stop()
    }

    @Test("the server keeps few pipelined requests: while one waits, it does not read")
    func pipelining() async throws {
        struct Counts {
            var received = 0
            var answered = 0
            var mostWaiting = 0
        }
        let total = 30_000
        let counts = Mutex(Counts())
        let (answers, end) = AsyncStream<Void>.makeStream()
        let server = try await LoopbackServer(host: "127.0.0.1", configuration: .init(contentLimit: 0)) { _ in
            counts.withLock { counts in
                counts.received += 1
                counts.mostWaiting = max(counts.mostWaiting, counts.received - counts.answered)
            }
            return { _ in
                let isLast = counts.withLock { counts in
                    counts.answered += 1
                    return counts.answered == total
                }
                if isLast { end.finish() }
            }
        }
        let request = "GET / HTTP/1.1\r\nHost: o\r\n\r\n"
        let client = try await RawClient(port: server.port)
        try await client.send(String(repeating: request, count: total))
        for await _ in answers {}
        // SwiftNIO reads up to four times 64 KiB before it asks again.
        #expect(counts.withLock { $0.mostWaiting } <= 4 * 65_536 / request.utf8.count + 1)
        await server.stop()
    }

    @Test("100 Continue waits for the previous response")
    func expectContinue() async throws {
        let gate = Gate()
        let server = try await server(answer: { connection in
            await gate.wait()
            try? await connection.send(Self.response)
        })
        let client = try await RawClient(port: server.port)
        // In one write, so that the second head arrives before the first response.
        try await client.send(
            "GET / HTTP/1.1\r\nHost: o\r\n\r\nPUT / HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        await gate.reached(1)
        gate.open()
        #expect(try await client.head().hasPrefix("HTTP/1.1 200 "))
        #expect(try await client.head() == "HTTP/1.1 100 Continue")
        try await client.send("hi")
        #expect(try await client.head().hasPrefix("HTTP/1.1 200 "))
        await server.stop()
    }

    @Test("a cancelled run cancels the answers, and returns after them")
    func run() async throws {
        let never = Gate()
        let hasEnded = Mutex(false)
        let server = try await server(answer: { _ in
            await never.wait()
            // Takes longer than closing the connection.
            await Task { try? await Task.sleep(for: .milliseconds(500)) }.value
            hasEnded.withLock { $0 = true }
        })
        let run = Task { await server.run() }
        let (client, idle) = (try await RawClient(port: server.port), try await RawClient(port: server.port))
        try await client.request()
        await never.reached(1)
        run.cancel()
        await run.value
        #expect(hasEnded.withLock { $0 })
        #expect(await client.rest().text == "")
        #expect(await idle.rest().text == "")
    }
}
