#if URLSessionTransport
import CacheLoader
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSessionTransport")
struct URLSessionTransportTests {
    /// Asks a real origin, and reads the answer to its end.
    private func exchange(
        _ reply: OriginReply, method: HTTPRequest.Method = .get, fields: HTTPFields = [:],
        idleTimeout: TimeInterval = 60
    ) async throws -> (head: HTTPResponse, body: Result<Data, TransportError>, origin: LoopbackOrigin) {
        let origin = try await LoopbackOrigin { _ in reply }
        var configuration = URLSessionTransport.Configuration()
        configuration.idleTimeout = idleTimeout
        let transport = URLSessionTransport(configuration: configuration)
        let request = HTTPRequest(
            method: method, scheme: "http", authority: origin.authority, path: "/path?query", headerFields: fields)
        let response = try await transport.send(transport.prepare(request), content: nil)
        var bytes = Data()
        do throws(TransportError) {
            while let chunk = try await response.body.next() { bytes += chunk }
            return (response.head, .success(bytes), origin)
        } catch {
            return (response.head, .failure(error), origin)
        }
    }

    private static let body = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 997) }

    @Test(
        "A whole body arrives byte for byte, however it is framed",
        arguments: [
            OriginReply.Delivery.complete, .chunked(bytes: 1000), .chunked(bytes: 100_000), .closeDelimited,
            .paced(bytes: 300_000) { _ in },
        ])
    func framing(delivery: OriginReply.Delivery) async throws {
        let reply = OriginReply.ok(Self.body).delivered(delivery)
        // More than once: a transport that pauses and resumes must not send its request again.
        for _ in 0..<5 {
            let (head, body, origin) = try await exchange(reply)
            #expect(head.status == .ok)
            #expect(try body.get() == Data(Self.body))
            #expect(origin.requestCount == 1)
            await origin.stop()
        }
    }

    @Test(
        "S18: a body that breaks off is an error, and no end",
        arguments: [
            (OriginReply.Delivery.declaring(length: 2_000_000), TransportError.Code.truncated),
            (.abortedChunked(afterBytes: 1000), .truncated),
        ])
    func truncation(delivery: OriginReply.Delivery, code: TransportError.Code) async throws {
        let (_, body, origin) = try await exchange(OriginReply.ok(Self.body).delivered(delivery))
        #expect(throws: TransportError.self) { try body.get() }
        if case .failure(let error) = body { #expect(error.code == code) }
        await origin.stop()
    }

    @Test("Bytes past the declared length are left alone")
    func surplus() async throws {
        let (_, body, origin) = try await exchange(.ok("0123456789".utf8).delivered(.declaring(length: 4)))
        #expect(try body.get() == Data("0123".utf8))
        await origin.stop()
    }

    @Test(
        "What is no response is a typed error",
        arguments: [
            (OriginReply.Delivery.resetBeforeHead, [TransportError.Code.connectionLost]),
            (.garbage(Array("no HTTP at all\r\n\r\n".utf8)), [.malformedResponse, .connectionLost]),
        ])
    func noResponse(delivery: OriginReply.Delivery, codes: [TransportError.Code]) async throws {
        let error = await #expect(throws: TransportError.self) {
            _ = try await exchange(OriginReply.ok("x".utf8).delivered(delivery))
        }
        #expect(codes.contains(try #require(error).code))
    }

    @Test("A connection that is reset in the middle of a body")
    func reset() async throws {
        do {
            let (_, body, _) = try await exchange(OriginReply.ok(Self.body).delivered(.resetting(afterBytes: 1000)))
            #expect(throws: TransportError.self) { try body.get() }
        } catch let error as TransportError {
            // The reset may overtake the head.
            #expect(error.code == .connectionLost)
        }
    }

    @Test("An origin that stalls is given up after the idle timeout")
    func stall() async throws {
        let error = await #expect(throws: TransportError.self) {
            // On a busy machine it may be the head that comes too late.
            _ = try await exchange(OriginReply.ok(Self.body).delivered(.stalling(afterBytes: 1000)), idleTimeout: 1)
                .body.get()
        }
        #expect(error?.code == .timedOut)
    }

    @Test("Nobody listens")
    func refused() async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let authority = origin.authority
        await origin.stop()
        let error = await #expect(throws: TransportError.self) {
            let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
            _ = try await URLSessionTransport().send(request, content: nil)
        }
        #expect(error?.code == .cannotConnect)
    }

    @Test("A redirect is an answer like any other")
    func redirect() async throws {
        let reply = OriginReply.status(.found, fields: [.location: "/elsewhere"], body: "moved".utf8)
        let (head, body, origin) = try await exchange(reply)
        #expect(head.status == .found)
        #expect(head.headerFields[.location] == "/elsewhere")
        #expect(try body.get() == Data("moved".utf8))
        #expect(origin.requestCount == 1)
        await origin.stop()
    }

    @Test("No cookies are kept between requests")
    func cookies() async throws {
        let origin = try await LoopbackOrigin { _ in .status(.ok, fields: [.setCookie: "a=b; Path=/"]) }
        let transport = URLSessionTransport()
        for _ in 0..<2 {
            let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/")
            let response = try await transport.send(request, content: nil)
            while try await response.body.next() != nil {}
        }
        #expect(origin.requests.map { $0.fields[.cookie] } == [nil, nil])
        await origin.stop()
    }

    @Test("Several cookies arrive as several cookies, several lines of a list as one list")
    func joinedFields() async throws {
        var fields: HTTPFields = [.cookie: "a=1; b=2"]
        fields.append(HTTPField(name: .acceptLanguage, value: "en"))
        fields.append(HTTPField(name: .acceptLanguage, value: "de;q=0.5"))
        let (_, _, origin) = try await exchange(.ok("x".utf8), fields: fields)
        let seen = try #require(origin.requests.first).fields
        #expect(seen[.cookie] == "a=1; b=2")
        #expect(seen[.acceptLanguage] == "en, de;q=0.5")
        await origin.stop()
    }

    @Test("V10: the origin sees the prepared fields, and no others that Vary could name")
    func preparedFields() async throws {
        let (_, _, origin) = try await exchange(.ok("x".utf8), fields: [.accept: "text/plain"])
        let seen = try #require(origin.requests.first)
        var expected = URLSessionTransport().prepare(
            HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/path?query"))
        expected.headerFields[.accept] = "text/plain"
        #expect(seen.path == "/path?query")
        for field in expected.headerFields { #expect(seen.fields[field.name] == field.value) }
        let connection: Set<HTTPField.Name> = [.connection, .init("Host")!, .init("Keep-Alive")!]
        for field in seen.fields where !connection.contains(field.name) {
            #expect(expected.headerFields[field.name] == field.value, "\(field.name) was added unseen")
        }
        await origin.stop()
    }

    @Test("G16: a body that the session decoded is marked, and its encoded length forgotten")
    func decoding() async throws {
        // "hello" in a stored block of deflate, as gzip.
        let gzipped: [UInt8] = [
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 5, 0, 250, 255, 104, 101, 108, 108, 111, 0x86, 0xa6, 0x10, 0x36, 5,
            0,
            0, 0,
        ]
        let origin = try await LoopbackOrigin { _ in
            .status(.ok, fields: [.contentEncoding: "gzip"], body: gzipped)
        }
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/")
        let response = try await URLSessionTransport().send(request, content: nil)
        var bytes = Data()
        while let chunk = try await response.body.next() { bytes += chunk }
        #expect(String(decoding: bytes, as: UTF8.self) == "hello")
        #expect(response.isBodyDecoded)
        #expect(response.head.headerFields[.contentEncoding] == nil)
        #expect(response.head.headerFields[.contentLength] == nil)
        await origin.stop()
    }

    @Test("A content coding that the session does not know is left to the caller", arguments: ["zip", "identity", "r"])
    func unknownCoding(coding: String) async throws {
        let (head, body, origin) = try await exchange(
            .status(.ok, fields: [.contentEncoding: coding], body: "as it is".utf8))
        if case .success(let bytes) = body {
            #expect(bytes == Data("as it is".utf8))
            #expect(head.headerFields[.contentEncoding] == coding)
        }
        await origin.stop()
    }

    @Test("K2: a URLCache that holds an old body is not used")
    func systemCache() async throws {
        let origin = try await LoopbackOrigin { _ in .ok("new".utf8, cacheControl: "max-age=3600") }
        let url = try #require(URL(string: origin.url("/")))
        let response = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Cache-Control": "max-age=3600"]))
        URLCache.shared.storeCachedResponse(
            CachedURLResponse(response: response, data: Data("old".utf8)), for: URLRequest(url: url))
        defer { URLCache.shared.removeAllCachedResponses() }
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/")
        let body = try await URLSessionTransport().send(request, content: nil).body
        #expect(try await body.next() == Data("new".utf8))
        #expect(origin.requestCount == 1)
        await origin.stop()
    }

    @Test("Cancelling the task ends an exchange at once, before the head and after it", arguments: [false, true])
    func cancellation(afterHead: Bool) async throws {
        let gate = Gate()
        let origin = try await LoopbackOrigin { _ in
            if !afterHead { await gate.wait() }
            return OriginReply.ok(Self.body).delivered(.stalling(afterBytes: 10))
        }
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/")
        let reachedBody = Gate()
        let task = Task { () -> TransportError? in
            do throws(TransportError) {
                let response = try await URLSessionTransport().send(request, content: nil)
                _ = try await response.body.next()
                reachedBody.open()
                while try await response.body.next() != nil {}
                return nil
            } catch {
                return error
            }
        }
        if afterHead { await reachedBody.wait() } else { await gate.reached(1) }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        gate.open()
        await origin.stop()
    }

    @Test("A body is sent", arguments: [HTTPRequest.Method.post, .put])
    func requestBody(method: HTTPRequest.Method) async throws {
        let origin = try await LoopbackOrigin { request in .ok(request.body.reversed()) }
        let request = HTTPRequest(method: method, scheme: "http", authority: origin.authority, path: "/")
        let body = try await URLSessionTransport().send(request, content: RequestContent(Data("abc".utf8))).body
        #expect(try await body.next() == Data("cba".utf8))
        #expect(origin.requests.map(\.method) == [method])
        await origin.stop()
    }

    @Test("A stream is sent whole, and its file is gone afterwards", arguments: [nil, 3_000_000] as [Int64?])
    func requestStream(length: Int64?) async throws {
        let origin = try await LoopbackOrigin { request in .ok(request.body) }
        let request = HTTPRequest(method: .post, scheme: "http", authority: origin.authority, path: "/")
        let chunks = (1...3).map { Data(repeating: $0, count: 1_000_000) }
        let stream = TransportBody(chunks: chunks)
        let content = RequestContent(length: length) { () async throws(TransportError) in try await stream.next() }
        let body = try await URLSessionTransport().send(request, content: content).body
        var bytes = Data()
        while let chunk = try await body.next() { bytes += chunk }
        #expect(bytes == Data(chunks.joined()))
        #expect(origin.requests.map { $0.fields[.contentLength] } == ["3000000"])
        await origin.stop()
    }

    @Test("Only http and https", arguments: ["ftp", "file", "", "data"])
    func schemes(scheme: String) async throws {
        let error = await #expect(throws: TransportError.self) {
            let request = HTTPRequest(method: .get, scheme: scheme, authority: "127.0.0.1", path: "/")
            _ = try await URLSessionTransport().send(request, content: nil)
        }
        #expect(error?.code == .unsupportedRequest)
    }
}
#endif
