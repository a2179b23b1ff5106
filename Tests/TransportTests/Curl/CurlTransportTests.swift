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

/// The messages on the wire. The rules that other transports share are in the suites `Transport: …`.
@Suite("CurlTransport") struct CurlTransportTests {
    private let adapter = TransportAdapter.curl

    private func lines(_ fields: HTTPFields) -> [String] { fields.map { "\($0.name.rawName): \($0.value)" } }

    @Test("Field lines arrive in order and separately, with the case of their names")
    func fieldLines() async throws {
        let written = ["X-One: 1", "x-two: 2", "X-One: 3", "SET-COOKIE: a=b", "Set-Cookie: c=d", "Content-Length: 0"]
        let reply = OriginReply.raw(Array((["HTTP/1.1 200 OK"] + written + ["", ""]).joined(separator: "\r\n").utf8))
        var fields = HTTPFields()
        for line in ["X-B: 1", "x-a: 2", "X-B: 3", "X-Empty: "] {
            let parts = line.components(separatedBy: ": ")
            fields.append(HTTPField(name: try #require(HTTPField.Name(parts[0])), value: parts[1]))
        }
        let answer = try await adapter.exchange(reply, fields: fields)
        #expect(lines(answer.head.headerFields) == written)
        let seen = lines(try #require(answer.origin.requests.first).fields)
        #expect(seen.filter { $0.lowercased().hasPrefix("x-") } == ["X-B: 1", "x-a: 2", "X-B: 3", "X-Empty: "])
    }

    @Test("The transport adds only Host, and framing for content")
    func addedFields() async throws {
        let get = try await adapter.exchange(.ok())
        #expect(get.origin.requests.map { $0.fields.map(\.name.canonicalName) } == [["host"]])
        let post = try await adapter.exchange(.ok(), method: .post, content: RequestContent(Data("a".utf8)))
        #expect(post.origin.requests.map { $0.fields.map(\.name.canonicalName) } == [["host", "content-length"]])
        // RFC 9110 §8.6: a method that anticipates content.
        let empty = try await adapter.exchange(.ok(), method: .post)
        #expect(empty.origin.requests.map { $0.fields[.contentLength] } == ["0"])
    }

    @Test(
        "RFC 9110 §7.7: the request target arrives byte for byte",
        arguments: [
            "/caf%E9.txt", "/users/%E9", "/s?tags[]=a&q=rock%20roll", "/a/../b/./c", "//double", "/%7euser", "/?",
            "/a?b?c", "/\u{E9}", "/{x}|y^z`", "/%", "/%2520",
        ], [HTTPRequest.Method.get, .delete])
    func target(path: String, method: HTTPRequest.Method) async throws {
        let server = try await ScriptedServer(Array("HTTP/1.1 204 No\r\n\r\n".utf8))
        let request = HTTPRequest(method: method, scheme: "http", authority: server.authority, path: path)
        #expect(await outcome { try await adapter.make().send(request, content: nil) } == nil)
        #expect(server.heads.map { $0.components(separatedBy: "\r\n")[0] } == ["\(method.rawValue) \(path) HTTP/1.1"])
        await server.stop()
    }

    @Test(
        "A request that cannot be sent unchanged fails, and is not sent",
        arguments: [
            ("/a b", "a.test", "http"), ("/a\r\nX: y", "a.test", "http"), ("", "a.test", "http"),
            ("/", "a.test/", "http"),
            ("/", "me@a.test", "http"), ("/", "", "http"), ("/", "a.test", "ftp"), ("/", "a.test", "file"),
        ])
    func unsupported(path: String, authority: String, scheme: String) async {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: path)
        let error = await outcome { try await adapter.make().send(request, content: nil) }
        #expect(error?.code == .unsupportedRequest)
    }

    @Test("RFC 9110 §5.5: each byte of a field value arrives, in both directions")
    func valueBytes() async throws {
        let name = try #require(HTTPField.Name("X-Bytes"))
        let bytes = [UInt8(0x21)] + Array(0x80...0xFF) + [0x21]
        let reply = OriginReply.raw(
            Array("HTTP/1.1 200 OK\r\nX-Bytes: ".utf8) + bytes + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
        let answer = try await adapter.exchange(reply, fields: HTTPFields([HTTPField(name: name, value: bytes)]))
        let received = answer.head.headerFields[fields: name].map { $0.withUnsafeBytesOfValue { Array($0) } }
        #expect(received == [bytes])
    }

    @Test("RFC 9110 §15.2: interim responses arrive before the final one, in order, and 101 is final")
    func interim() async throws {
        let origin = try await LoopbackOrigin { request in
            request.path == "/101"
                ? .raw("HTTP/1.1 101 Switching", "Upgrade: x", "Connection: upgrade", "", "")
                : .raw(
                    "HTTP/1.1 103 Early Hints", "Link: </a>", "", "HTTP/1.1 102 Processing", "",
                    "HTTP/1.1 200 OK", "Content-Length: 4", "", "body")
        }
        let interim = Mutex<[HTTPResponse]>([])
        let transport = CurlTransport()
        let response = try await transport.send(.to(origin), content: nil) { head in
            interim.withLock { $0.append(head) }
        }
        #expect(interim.withLock { $0.map(\.status.code) } == [103, 102])
        #expect(interim.withLock { $0.first?.headerFields[.init("Link")!] } == "</a>")
        #expect(response.head.status == .ok)
        #expect(try await response.body.read().get() == Data("body".utf8))
        let switching = try await transport.send(.to(origin, path: "/101"), content: nil) { _ in Issue.record("interim")
        }
        #expect(switching.head.status.code == 101)
        await origin.stop()
    }

    @Test("Trailer fields are read and dropped, and the connection serves the next request", .requirement("S14"))
    func trailers() async throws {
        let server = try await ScriptedServer { _, _, _ in
            .send(
                Array(
                    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n0123\r\n0\r\nX-After: 1\r\nContent-Length: 9\r\n\r\n"
                        .utf8))
        }
        let transport = adapter.make()
        for _ in 0..<2 {
            let request = HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
            let response = try await transport.send(request, content: nil)
            #expect(try await response.body.read().get() == Data("0123".utf8))
            #expect(response.head.headerFields.map(\.name.canonicalName) == ["transfer-encoding"])
        }
        #expect(server.connectionCount == 1)
        await server.stop()
    }

    @Test(
        "A response that is not HTTP is malformed",
        arguments: [
            "HTTP/1.1 000 X\r\n\r\n", "HTTP/1.1 099 X\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 20 X\r\n\r\n",
            "HTTP/1.1 1000 X\r\n\r\n", "HTTP/1.1 -20 X\r\n\r\n", "HTTP/1.1 2x0 X\r\n\r\n", "an old page",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nBad Name: x\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\nokay",
            "HTTP/1.1 200 OK\r\nContent-Length: 2, 4\r\n\r\nokay", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nokay",
            "HTTP/1.1 200 OK\r\nContent-Length: 4x\r\n\r\nokay",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length:\r\n 4\r\n\r\nokay", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\(String(repeating: "X: 0123456789\r\n", count: 20_000))\r\n",
            "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 300_000))\r\n\r\n",
        ])
    func malformed(text: String) async throws {
        let error = await outcome { try await adapter.response(to: .raw(Array(text.utf8))) }
        #expect(
            [.malformedResponse, .connectionLost].contains(error?.code),
            "\(text.prefix(60)): \(String(describing: error))")
        if text.hasPrefix("HTTP/1.1 000") { #expect(error?.code == .malformedResponse) }
    }

    @Test(
        "RFC 9112 is lenient: folded values, a space before a colon, equal lengths, lines that end in LF",
        arguments: [
            ("HTTP/1.1 200 OK\r\nX: a\r\n b\r\n\tc\r\nContent-Length: 4\r\n\r\nbody", "a b c"),
            ("HTTP/1.1 200 OK\r\nX : a\r\nContent-Length: 4\r\n\r\nbody", "a"),
            ("HTTP/1.1 200 OK\r\nX:a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody", "a"),
            ("HTTP/1.1 200 OK\r\nX: a\r\nContent-Length: 4, 4\r\n\r\nbody", "a"),
            ("HTTP/1.1 200 OK\nX: a\nContent-Length: 4\n\nbody", "a"),
            ("HTTP/1.1 200\r\nX: a\r\nContent-Length: 4\r\n\r\nbody", "a"),
            ("HTTP/1.0 200 OK\r\nX: a\r\n\r\nbody", "a"),
        ])
    func lenient(text: String, value: String) async throws {
        let answer = try await adapter.exchange(.raw(Array(text.utf8)))
        #expect(answer.head.headerFields[.init("X")!] == value)
        #expect(answer.head.headerFields[.contentLength] ?? "4" == "4")
        #expect(try answer.body.get() == Data("body".utf8))
    }

    @Test("A length with a space before its colon ends the body on a connection that stays open")
    func hiddenLength() async throws {
        let server = try await ScriptedServer { _, _, _ in
            .send(Array("HTTP/1.1 200 OK\r\nContent-Length : 4\r\n\r\nbodyHTTP/1.1 200 OK\r\nX: forged\r\n\r\n".utf8))
        }
        let transport = adapter.make()
        for _ in 0..<2 {
            let request = HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
            let response = try await transport.send(request, content: nil)
            #expect(response.head.headerFields.map(\.name.canonicalName) == ["content-length"])
            #expect(try await response.body.read().get() == Data("body".utf8))
        }
        #expect(server.connectionCount == 2)
        await server.stop()
    }

    @Test("A head of 2,000 lines arrives; the limit counts bytes, including those of interim responses")
    func longHead() async throws {
        let lines = (0..<2_000).map { "X-\($0): \($0)" }
        let reply = OriginReply.raw(
            Array((["HTTP/1.1 200 OK", "Content-Length: 0"] + lines + ["", ""]).joined(separator: "\r\n").utf8))
        #expect(try await adapter.exchange(reply).head.headerFields.count == 2_001)
        let interim = String(repeating: "HTTP/1.1 102 Processing\r\n\r\n", count: 12_000)
        let error = await outcome { try await adapter.response(to: .raw(Array(interim.utf8))) }
        #expect(error?.code == .malformedResponse)
        var configuration = CurlTransport.Configuration()
        configuration.maxHeadBytes = 1000
        let server = try await ScriptedServer(
            Array("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 1000))\r\n\r\n".utf8))
        let transport = CurlTransport(configuration: configuration)
        let request = HTTPRequest(method: .get, scheme: "http", authority: server.authority, path: "/")
        let limited = await outcome { try await transport.send(request, content: nil) }
        #expect(limited?.message == "the response is not valid HTTP: its head has more than 1000 bytes")
        await server.stop()
    }

    @Test("A coded body, and a redirect without Location, arrive unchanged", arguments: [200, 301, 302, 303, 307, 308])
    func unchanged(code: Int) async throws {
        let answer = try await adapter.exchange(
            .status(.init(code: code), fields: [.contentEncoding: "gzip"], body: "no gzip at all".utf8))
        #expect(answer.head.status.code == code)
        #expect(answer.head.headerFields[.contentEncoding] == "gzip")
        #expect(try answer.body.get() == Data("no gzip at all".utf8))
    }

    @Test("A stream of unknown length is sent in chunks")
    func chunkedStream() async throws {
        let chunks = TransportBody(chunks: [Data("abc".utf8), Data("de".utf8)])
        let content = RequestContent(length: nil) { () async throws(TransportError) in try await chunks.next() }
        let answer = try await adapter.exchange(.ok("x".utf8), method: .post, content: content)
        let request = try #require(answer.origin.requests.first)
        #expect(request.body == Array("abcde".utf8))
        #expect(request.fields[.contentLength] == nil)
        #expect(request.fields[.transferEncoding] == "chunked")
    }

    @Test("The proxy of http requests gets the whole URI, with every scheme of HTTP proxies")
    func proxy() async throws {
        let proxy = try await LoopbackOrigin { _ in .ok("from the proxy".utf8) }
        var configuration = CurlTransport.Configuration()
        configuration.proxies = try ProxySettings(url: "http://me:secret@\(proxy.authority)")
        let transport = CurlTransport(configuration: configuration)
        let request = HTTPRequest(method: .get, scheme: "http", authority: "nowhere.invalid", path: "/a?%7E")
        let response = try await transport.send(request, content: nil)
        #expect(try await response.body.read().get() == Data("from the proxy".utf8))
        #expect(proxy.requests.map(\.path) == ["http://nowhere.invalid/a?%7E"])
        #expect(proxy.requests.map { $0.fields[.proxyAuthorization] } == ["Basic bWU6c2VjcmV0"])
        let secure = HTTPRequest(method: .get, scheme: "https", authority: "nowhere.invalid", path: "/")
        let refused = await outcome { try await transport.send(secure, content: nil) }
        #expect(refused?.code == .cannotConnect || refused?.code == .insecure, "\(String(describing: refused))")
        await proxy.stop()
    }
}
#endif
