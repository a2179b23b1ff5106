#if !canImport(Darwin)
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// Origins with arbitrary answers: no crash, no hang, and no wrong response in the store.
@Suite("Hostile origins") struct HostileOriginTests {
    /// A response on the wire.
    struct Case: CustomTestStringConvertible, Sendable {
        /// The expected result at the caller of a cache.
        enum Result: Equatable, Sendable {
            case body(String)
            /// An error, or a body that ends in one.
            case failure
            /// Either result.
            case either(String)
        }

        let bytes: [UInt8]
        let result: Result
        var testDescription: String { String(decoding: bytes.prefix(70), as: UTF8.self).debugDescription }

        init(_ text: String, _ result: Result) {
            bytes = Array(text.utf8)
            self.result = result
        }
    }

    private static let head = "HTTP/1.1 200 OK\r\nCache-Control: max-age=1000\r\n"
    private static let chunked = head + "Transfer-Encoding: chunked\r\n\r\n"
    private static let four = head + "Content-Length: 4\r\n"

    static let cases: [Case] = [
        // Status lines.
        Case("", .failure), Case("\r\n", .failure), Case("\n\n\n\n", .failure), Case("HTTP", .failure),
        Case("HTTP/1.1", .failure), Case("HTTP/1.1 \r\n\r\n", .failure), Case("HTTP/1.1 2\r\n\r\n", .failure),
        Case("HTTP/1.1 000 X\r\n\r\n", .failure), Case("HTTP/1.1 001 X\r\n\r\n", .failure),
        Case("HTTP/1.1 099 X\r\n\r\n", .failure), Case("HTTP/1.1 1000 X\r\n\r\n", .failure),
        Case("HTTP/1.1 -12 X\r\n\r\n", .failure), Case("HTTP/1.1 +20 X\r\n\r\n", .failure),
        Case("HTTP/1.1 2 0 X\r\n\r\n", .failure), Case("HTTP/1.1 99999999999999999999 X\r\n\r\n", .failure),
        Case("HTTP/9.9 200 OK\r\n\r\n", .failure), Case("http/1.1 200 OK\r\n\r\n", .failure),
        Case("ICY 200 OK\r\n\r\n", .failure), Case("<html>an old page</html>", .failure), Case("\0\0\0\0", .failure),
        Case("HTTP/1.1 200 OK\0\r\n\r\n", .failure), Case("SSH-2.0-OpenSSH_9.2\r\n", .failure),
        Case("HTTP/1.1 999 X\r\nContent-Length: 1\r\n\r\nx", .body("x")),
        // Heads.
        Case("HTTP/1.1 200 OK\r\n", .failure), Case(head, .failure), Case(head + "Conte", .failure),
        Case(head + "no colon\r\n\r\n", .failure), Case(head + ": no name\r\n\r\n", .failure),
        Case(head + "Bad Name: x\r\n\r\n", .failure), Case(head + "X\0: y\r\n\r\n", .failure),
        Case(head + "X: a\0b\r\n\r\n", .failure), Case(head + "X: a\rb\r\nContent-Length: 1\r\n\r\nx", .body("x")),
        Case(head + " folded\r\nContent-Length: 1\r\n\r\nx", .body("x")),
        Case(head + String(repeating: "X: y\r\n", count: 5_000) + "Content-Length: 1\r\n\r\nx", .body("x")),
        Case(head + String(repeating: "X: y\r\n", count: 60_000) + "\r\n", .failure),
        Case(head + String(repeating: "X:\n", count: 66_000) + "\r\n", .failure),
        Case(head + "X: " + String(repeating: "y", count: 400_000) + "\r\n\r\n", .failure),
        Case(head + String(repeating: " \r\n", count: 200_000) + "\r\n", .failure),
        Case(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 50) + four + "\r\nbody", .body("body")),
        Case(String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 50_000), .failure),
        Case("HTTP/1.1 103 Early Hints\r\n\r\n", .failure),
        Case("HTTP/1.1 103 Early Hints\r\nContent-Length: 4\r\n\r\n" + four + "\r\nbody", .body("body")),
        Case("HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n" + four + "\r\nbody", .either("body")),
        // Lengths.
        Case(four + "\r\nbody", .body("body")), Case(four + "\r\nbod", .failure), Case(four + "\r\n", .failure),
        Case(four + "\r\nbodyand more", .body("body")), Case(four + "\r\nbodyHTTP/1.1 200 OK\r\n\r\n", .body("body")),
        Case(four + "Content-Length: 4\r\n\r\nbody", .body("body")),
        Case(four + "Content-Length: 5\r\n\r\nbody", .failure),
        Case(head + "Content-Length: 4,4\r\n\r\nbody", .body("body")),
        Case(head + "Content-Length: 4,5\r\n\r\nbody", .failure),
        Case(head + "Content-Length: -4\r\n\r\nbody", .failure),
        Case(head + "Content-Length: +4\r\n\r\nbody", .failure),
        Case(head + "Content-Length: 0x4\r\n\r\nbody", .failure),
        Case(head + "Content-Length: 4.0\r\n\r\nbody", .failure),
        Case(head + "Content-Length: \r\n\r\nbody", .failure), Case(head + "Content-Length: ,\r\n\r\nbody", .failure),
        Case(head + "Content-Length: 18446744073709551620\r\n\r\nbody", .failure),
        Case(head + "Content-Length: 9223372036854775807\r\n\r\nbody", .failure),
        Case(head + "Content-Length : 4\r\n\r\nbody", .body("body")),
        Case(head + "Content-Length : \r\n\r\nbody", .failure),
        Case(head + "Content-Length : ,\r\nContent-Length : \r\n\r\nbody", .failure),
        Case(head + "Content-Length:\r\n 4\r\n\r\nbody", .failure),
        Case(head + "\r\nto the end", .body("to the end")),
        Case("HTTP/1.1 204 No\r\nContent-Length: 4\r\n\r\nbody", .body("")),
        Case("HTTP/1.1 304 No\r\nContent-Length: 4\r\n\r\nbody", .either("")),
        // Chunks.
        Case(chunked + "4\r\nbody\r\n0\r\n\r\n", .body("body")),
        Case(chunked + "4;x=y\r\nbody\r\n0\r\n\r\n", .body("body")),
        Case(chunked + "4\r\nbody\r\n0\r\nX: y\r\n\r\n", .body("body")), Case(chunked + "4\r\nbody\r\n", .failure),
        Case(chunked + "4\r\nbo", .failure), Case(chunked + "4\r\nbody\r\n0\r\n", .either("body")),
        Case(chunked + "x\r\nbody\r\n0\r\n\r\n", .failure), Case(chunked + "-4\r\nbody\r\n0\r\n\r\n", .failure),
        Case(chunked + "5\r\nbody\r\n0\r\n\r\n", .either("body\r")), Case(chunked + "3\r\nbody\r\n0\r\n\r\n", .failure),
        Case(chunked + "ffffffffffffffffff\r\nbody", .failure), Case(chunked + "\r\nbody\r\n0\r\n\r\n", .failure),
        Case(chunked + "0x4\r\nbody\r\n0\r\n\r\n", .failure),
        Case(chunked + String(repeating: "1\r\nx\r\n", count: 4) + "0\r\n\r\n", .body("xxxx")),
        Case(chunked + "0\r\n" + String(repeating: "X: y\r\n", count: 60_000) + "\r\n", .failure),
        Case(four + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", .body("ok")),
        Case(head + "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", .failure),
        Case(head + "Transfer-Encoding: unknown\r\n\r\nbody", .failure),
        Case(head + "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", .failure),
        Case(head + "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", .failure),
        // Codings of the content.
        Case(four + "Content-Encoding: gzip\r\n\r\nbody", .either("body")),
    ]

    @Test("An invalid HTTP response throws, and is not stored", arguments: cases)
    func behaviour(_ behaviour: Case) async throws {
        let server = try await ScriptedServer(behaviour.bytes)
        let fixture = try LoaderFixture(transport: DefaultTransport.patient())
        for _ in 0..<2 {
            let received = await Self.ask(fixture.cache, server.authority)
            switch behaviour.result {
            case .body(let text): #expect(received == text)
            case .failure: #expect(received == nil)
            case .either(let text): #expect(received == nil || received == text)
            }
        }
        // Only a whole body is stored.
        if let stored = await Self.ask(fixture.cache, server.authority, onlyIfCached: true) {
            switch behaviour.result {
            case .body(let text), .either(let text): #expect(stored == text)
            case .failure: Issue.record("stored \(stored.prefix(100).debugDescription)")
            }
        }
        await server.stop()
    }

    @Test(
        "A response truncated at any byte throws, on a new connection and on an old one, and is not stored",
        arguments: [four + "ETag: \"1\"\r\n\r\nbody", chunked + "2;a=b\r\nbo\r\n2\r\ndy\r\n0\r\nX: y\r\n\r\n"])
    func cut(text: String) async throws {
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count {
            let server = try await ScriptedServer { _, _, head in
                head.hasPrefix("GET /whole ") ? .send(bytes) : .sendAndClose(Array(bytes[..<count]))
            }
            let fixture = try LoaderFixture(transport: DefaultTransport.patient())
            for index in 0..<2 {
                #expect(await Self.ask(fixture.cache, server.authority, "/whole") == "body")
                // The last bytes of the framing may be missing.
                let received = await Self.ask(fixture.cache, server.authority, "/cut\(index)")
                #expect(
                    received == nil || (received == "body" && count >= bytes.count - 10),
                    "\(count) bytes: \(received ?? "")")
                let stored = await Self.ask(fixture.cache, server.authority, "/cut\(index)", onlyIfCached: true)
                #expect(stored == nil || stored == received, "\(count) bytes")
            }
            await server.stop()
        }
    }

    /// Returns the body of a response, or `nil` for an error, also of the body.
    private static func ask(
        _ cache: HTTPCache, _ authority: String, _ path: String = "/", onlyIfCached: Bool = false
    ) async -> String? {
        var request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: path)
        if onlyIfCached { request.headerFields[.cacheControl] = "only-if-cached" }
        do {
            let response = try await cache.response(for: request)
            if response.source == .generated { return nil }
            var bytes = Data()
            for try await chunk in response.body { bytes += chunk }
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            return nil
        }
    }
}
#endif
