#if canImport(Darwin)
import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

/// The behaviour of this transport only. The suites `Transport: …` cover the common behaviour.
@Suite("URLSessionTransport") struct URLSessionTransportTests {
    @Test("Marks a body that the session decoded, and drops its encoded length", .requirement("G16"))
    func decoding() async throws {
        // "hello" in a stored block of deflate, as gzip.
        let gzipped: [UInt8] = [
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 5, 0, 250, 255, 104, 101, 108, 108, 111, 0x86, 0xa6, 0x10, 0x36, 5,
            0, 0, 0,
        ]
        let origin = try await LoopbackOrigin { _ in .status(.ok, fields: [.contentEncoding: "gzip"], body: gzipped) }
        let request = HTTPRequest(method: .get, scheme: "http", authority: origin.authority, path: "/")
        let response = try await DefaultTransport.patient().send(request, content: nil)
        var bytes = Data()
        while let chunk = try await response.body.next() { bytes += chunk }
        #expect(String(decoding: bytes, as: UTF8.self) == "hello")
        #expect(response.isBodyDecoded)
        #expect(response.head.headerFields[.contentEncoding] == nil)
        #expect(response.head.headerFields[.contentLength] == nil)
        await origin.stop()
    }

    @Test("A URLCache with an old body is not used", .requirement("K2"))
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
        let body = try await DefaultTransport.patient().send(request, content: nil).body
        #expect(try await body.next() == Data("new".utf8))
        #expect(origin.requestCount == 1)
        await origin.stop()
    }

    @Test("Settings of the caller apply, and its fields are sent; its cache and cookies are off")
    func sessionConfiguration() async throws {
        let origin = try await LoopbackOrigin { _ in
            .status(.ok, fields: [.cacheControl: "max-age=3600", .setCookie: "a=b"], body: "new".utf8)
        }
        let url = try #require(URL(string: origin.url("/")))
        let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil)
        let old = try #require(
            HTTPURLResponse(
                url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Cache-Control": "max-age=3600"]))
        cache.storeCachedResponse(CachedURLResponse(response: old, data: Data("old".utf8)), for: URLRequest(url: url))
        let settings = URLSessionConfiguration.default
        settings.urlCache = cache
        settings.httpAdditionalHeaders = ["X-Colour": "green", "User-Agent": "mine"]
        let transport = URLSessionTransport(sessionConfiguration: settings)
        let name = try #require(HTTPField.Name("X-Colour"))
        let prepared = transport.prepare(.to(origin))
        #expect(prepared.headerFields[name] == "green")
        #expect(prepared.headerFields[.userAgent] == "mine")
        for _ in 0..<2 {
            let body = try await transport.send(prepared, content: nil).body
            #expect(try await body.read().get() == Data("new".utf8))
        }
        #expect(origin.requests.map { $0.fields[name] } == ["green", "green"])
        #expect(origin.requests.allSatisfy { $0.fields[.cookie] == nil })
        // The caller's settings are unchanged.
        #expect(settings.urlCache === cache)
        #expect(settings.httpAdditionalHeaders?.count == 2)
        await origin.stop()
    }

    @Test("A stream is sent with its length, known in advance or not")
    func spooledStream() async throws {
        let chunks = TransportBody(chunks: [Data("abc".utf8), Data("de".utf8)])
        let content = RequestContent(length: nil) { () async throws(TransportError) in try await chunks.next() }
        let answer = try await TransportAdapter.urlSession.exchange(.ok("x".utf8), method: .post, content: content)
        let request = try #require(answer.origin.requests.first)
        #expect(request.body == Array("abcde".utf8))
        #expect(request.fields[.contentLength] == "5")
        #expect(request.fields[.transferEncoding] == nil)
    }

    @Test("Field lines of one name are combined into one, in no defined order")
    func fieldLines() async throws {
        let reply = OriginReply.raw("HTTP/1.1 200 OK", "X-One: 1", "x-two: 2", "X-One: 3", "Content-Length: 0", "", "")
        let answer = try await TransportAdapter.urlSession.exchange(reply)
        #expect(answer.head.headerFields[values: .init("X-One")!] == ["1, 3"])
        #expect(answer.head.headerFields[.init("X-Two")!] == "2")
    }
}
#endif
