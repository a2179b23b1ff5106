import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import Testing

// In the package Integrations, Requirement is a part of this target.
#if !INTEGRATIONS
import TestSupport
#endif

@Suite("Transport: heads") struct TransportHeadTests {
    @Test("Unregistered statuses", arguments: TransportAdapter.allCases, [200, 299, 418, 599])
    func statuses(adapter: TransportAdapter, code: Int) async throws {
        let answer = try await adapter.exchange(.status(.init(code: code, reasonPhrase: "Any"), body: "x".utf8))
        #expect(answer.head.status.code == code)
        #expect(try answer.body.get() == Data("x".utf8))
    }

    @Test(
        "Methods, registered or not", arguments: TransportAdapter.allCases,
        ["GET", "OPTIONS", "DELETE", "PROPFIND", "PURGE"])
    func methods(adapter: TransportAdapter, name: String) async throws {
        let method = try #require(HTTPRequest.Method(name))
        let answer = try await adapter.exchange(.ok("x".utf8), method: method)
        #expect(answer.origin.requests.map(\.method) == [method])
        #expect(try answer.body.get() == Data("x".utf8))
    }

    @Test(
        "An interim response leaves no trace in the final one", .requirement("S02"),
        arguments: TransportAdapter.allCases)
    func interim(adapter: TransportAdapter) async throws {
        let reply = OriginReply.raw(
            "HTTP/1.1 103 Early Hints", "Link: </style.css>", "", "HTTP/1.1 200 OK", "Content-Length: 2", "", "ok")
        let answer = try await adapter.exchange(reply)
        #expect(answer.head.status == .ok)
        #expect(answer.head.headerFields[.init("Link")!] == nil)
        #expect(try answer.body.get() == Data("ok".utf8))
    }

    @Test(
        "The origin gets the prepared fields, and no others that Vary could name", .requirement("V10"),
        arguments: TransportAdapter.allCases)
    func preparedFields(adapter: TransportAdapter) async throws {
        let answer = try await adapter.exchange(.ok("x".utf8), fields: [.accept: "text/plain"])
        let seen = try #require(answer.origin.requests.first)
        var expected = adapter.make().prepare(.to(answer.origin, path: "/path?query"))
        expected.headerFields[.accept] = "text/plain"
        #expect(seen.path == "/path?query")
        for field in expected.headerFields { #expect(seen.fields[field.name] == field.value) }
        let connection: Set<HTTPField.Name> = [.connection, .init("Host")!, .init("Keep-Alive")!]
        for field in seen.fields where !connection.contains(field.name) {
            #expect(expected.headerFields[field.name] == field.value, "\(field.name) was added unseen")
        }
    }

    @Test(
        "Several cookies arrive as several cookies, several lines of a list as one list",
        arguments: TransportAdapter.allCases)
    func joinedFields(adapter: TransportAdapter) async throws {
        var fields: HTTPFields = [.cookie: "a=1; b=2"]
        fields.append(HTTPField(name: .acceptLanguage, value: "en"))
        fields.append(HTTPField(name: .acceptLanguage, value: "de;q=0.5"))
        let answer = try await adapter.exchange(.ok("x".utf8), fields: fields)
        let seen = try #require(answer.origin.requests.first).fields
        #expect(seen[.cookie] == "a=1; b=2")
        #expect(seen[.acceptLanguage] == "en, de;q=0.5")
    }

    @Test("Non-ASCII text arrives in both directions", arguments: TransportAdapter.allCases)
    func unicodeFields(adapter: TransportAdapter) async throws {
        let name = try #require(HTTPField.Name("X-Colour"))
        let answer = try await adapter.exchange(.status(.ok, fields: [name: "grün"]), fields: [name: "grün"])
        #expect(answer.origin.requests.map { $0.fields[name] } == ["grün"])
        #expect(answer.head.headerFields[name] == "grün")
    }

    @Test("Stores no cookies between requests", arguments: TransportAdapter.allCases)
    func cookies(adapter: TransportAdapter) async throws {
        let origin = try await LoopbackOrigin { _ in .status(.ok, fields: [.setCookie: "a=b; Path=/"]) }
        let transport = adapter.make()
        for _ in 0..<2 {
            let response = try await transport.send(.to(origin), content: nil)
            _ = try await response.body.read().get()
        }
        #expect(origin.requests.map { $0.fields[.cookie] } == [nil, nil])
        await origin.stop()
    }

    @Test("Supports only http and https", arguments: TransportAdapter.allCases, ["ftp", "file", "", "data"])
    func schemes(adapter: TransportAdapter, scheme: String) async throws {
        let request = HTTPRequest(method: .get, scheme: scheme, authority: "127.0.0.1", path: "/")
        let error = await outcome { try await adapter.make().send(request, content: nil) }
        #expect(error?.code == .unsupportedRequest)
    }
}
