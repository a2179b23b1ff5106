import AsyncHTTPClientCaching
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import Testing

@Suite("AsyncHTTPClientTransport: requests")
struct AsyncHTTPClientRequestTests {
    private let transport = TransportAdapter.asyncHTTPClient.make()

    @Test(
        "RFC 9110 §7.7: a target arrives byte for byte",
        arguments: [
            "/", "//", "/a//b/", "/a/../b/./c", "/?", "/a?", "/a?b?c", "/caf%C3%A9.txt", "/caf%c3%a9.txt",
            "/%2F%2e?%26=%41", "/a;b=c,d:e@f!$&'()*+", "/s?q=rock%20roll&r=a+b", "/-._~?-._~/?:@!$&'()*+,;=",
            "/s?tags%5B%5D=a", "/x?q=%E9",
        ])
    func targets(target: String) async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let error = await outcome { try await transport.send(.to(origin, path: target), content: nil) }
        #expect(error == nil)
        #expect(origin.requests.map(\.path) == [target])
        await origin.stop()
    }

    @Test("An empty path is sent as /", arguments: [("", "/"), ("?q", "/?q")])
    func emptyPath(path: String, target: String) async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        #expect(await outcome { try await transport.send(.to(origin, path: path), content: nil) } == nil)
        #expect(origin.requests.map(\.path) == [target])
        await origin.stop()
    }

    @Test(
        "RFC 9110 §7.7: refuses a target that AsyncHTTPClient would change",
        arguments: [
            "/caf%E9.txt", "/s?tags[]=a&q=rock%20roll", "/café", "/a b", "/a|b", "/a?b=\"c\"", "/a%", "/a%2", "/a#b",
            "*",
            "@example.com/",
        ])
    func changedTargets(target: String) async throws {
        let origin = try await LoopbackOrigin { _ in .ok() }
        let error = await outcome { try await transport.send(.to(origin, path: target), content: nil) }
        #expect(error?.code == .unsupportedRequest)
        #expect(error?.message.contains(target) == true, "\(error.debugDescription)")
        #expect(origin.requestCount == 0)
        await origin.stop()
    }

    @Test(
        "RFC 9110 §9.2.2: repeats a safe request on a new connection if the origin closed the first",
        arguments: ["GET", "HEAD", "OPTIONS", "PROPFIND"])
    func repetition(name: String) async throws {
        let count = CallCount()
        let origin = try await LoopbackOrigin { _ in
            count.increment()
            return count.value == 1 ? OriginReply.ok().delivered(.resetBeforeHead) : .ok("x".utf8)
        }
        let method = try #require(HTTPRequest.Method(name))
        let error = await outcome { try await transport.send(.to(origin, method: method), content: nil) }
        #expect(error == nil)
        #expect(origin.requests.map(\.method) == [method, method])
        #expect(origin.counters.connections == 2)
        await origin.stop()
    }

    @Test(
        "A safe request with content in memory is sent once more, one with a stream is not", arguments: [false, true])
    func content(isStream: Bool) async throws {
        let count = CallCount()
        let origin = try await LoopbackOrigin { _ in
            count.increment()
            return count.value == 1 ? OriginReply.ok().delivered(.resetBeforeHead) : .ok("x".utf8)
        }
        let chunks = TransportBody(Data("abc".utf8))
        let content =
            isStream
            ? RequestContent(length: 3) { () async throws(TransportError) in try await chunks.next() }
            : RequestContent(Data("abc".utf8))
        let method = try #require(HTTPRequest.Method("REPORT"))
        let error = await outcome { try await transport.send(.to(origin, method: method), content: content) }
        #expect(error?.code == (isStream ? .connectionLost : nil))
        #expect(origin.requests.map { Data($0.body) } == Array(repeating: Data("abc".utf8), count: isStream ? 1 : 2))
        await origin.stop()
    }

    @Test(
        "RFC 9110 §9.2.2: sends an unsafe request once, and a safe request at most twice",
        arguments: [(HTTPRequest.Method.get, 2), (.head, 2), (.post, 1), (.put, 1), (.delete, 1), (.patch, 1)])
    func attempts(method: HTTPRequest.Method, count: Int) async throws {
        let origin = try await LoopbackOrigin { request in
            request.path == "/1" ? .ok("x".utf8) : OriginReply.ok().delivered(.resetBeforeHead)
        }
        #expect(await outcome { try await transport.send(.to(origin, path: "/1"), content: nil) } == nil)
        let error = await outcome { try await transport.send(.to(origin, method: method, path: "/2"), content: nil) }
        #expect(error?.code == .connectionLost)
        #expect(origin.requests.map(\.path) == ["/1"] + Array(repeating: "/2", count: count))
        await origin.stop()
    }

    @Test("Does not repeat a request after the first bytes of a response")
    func partialHead() async throws {
        let origin = try await LoopbackOrigin { _ in .raw("HTTP/1.1 200 OK", "Content-") }
        let error = await outcome { try await transport.send(.to(origin), content: nil) }
        #expect(error?.code == .connectionLost)
        #expect(origin.requestCount == 1)
        await origin.stop()
    }

    @Test(
        "RFC 9110 §8.8.3: drops a validator that is not UTF-8, which could match another",
        arguments: ["ETag", "Last-Modified"])
    func validators(name: String) async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Name: gr\u{FC}n\r\n\(name): \"gr\u{FC}n\"\r\n\r\n"
        let bytes = text.unicodeScalars.map { UInt8($0.value) }
        let answer = try await TransportAdapter.asyncHTTPClient.exchange(.raw(bytes))
        #expect(answer.head.headerFields.map(\.name.rawName) == ["Content-Length", "X-Name"])
        await answer.origin.stop()
    }

    @Test("Keeps a validator in UTF-8")
    func validatorInUTF8() async throws {
        let answer = try await TransportAdapter.asyncHTTPClient.exchange(.status(.ok, fields: [.eTag: "\"grün\""]))
        #expect(answer.head.headerFields[.eTag] == "\"grün\"")
        await answer.origin.stop()
    }
}
