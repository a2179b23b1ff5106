import CacheInspector
import CacheStore
import CacheStoreTesting
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdInspector
import HummingbirdTesting
import Logging
import NIOCore
import Testing

@Suite("StoreInspector.addRoutes", .timeLimit(.minutes(5)))
struct InspectorRoutesTests {
    private func application(
        _ store: ResponseStore
    ) -> Application<RouterResponder<BasicRequestContext>> {
        let router = Router()
        StoreInspector(store: store).addRoutes(to: router.group("admin/cache"))
        return Application(router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test("serves the page, its files and its data below the path of the group, and redirects to the slash at its end")
    func paths() async throws {
        try await application(try .temporary()).test(.ahc()) { client in
            let page = try await client.execute(uri: "/admin/cache/", method: .get)
            #expect(page.status == .ok)
            #expect(page.headers[.contentType] == "text/html; charset=utf-8")
            #expect(page.headers[.contentLength] == "\(page.body.readableBytes)")
            #expect(page.headers[.contentSecurityPolicy]?.contains("frame-ancestors 'none'") == true)
            let file = try await client.execute(uri: "/admin/cache/app.js", method: .get)
            #expect(file.headers[.contentType] == "text/javascript; charset=utf-8")
            let tag = try #require(file.headers[.eTag])
            let unchanged = try await client.execute(
                uri: "/admin/cache/app.js", method: .get, headers: [.ifNoneMatch: tag])
            #expect(unchanged.status == .notModified)
            #expect(try await client.execute(uri: "/admin/cache/api/statistics", method: .get).status == .ok)
            #expect(try await client.execute(uri: "/admin/cache/api/none", method: .get).status == .notFound)
            #expect(try await client.execute(uri: "/admin/other", method: .get).status == .notFound)
        }
        try await application(try .temporary()).test(.router) { client in
            let redirect = try await client.execute(uri: "/admin/cache", method: .get)
            #expect(redirect.status == .temporaryRedirect)
            #expect(redirect.headers[.location] == "./cache/")
        }
    }

    @Test("a POST needs the token of the page, and has at most 1 MiB")
    func posts() async throws {
        try await application(try .temporary()).test(.ahc()) { client in
            let session = String(buffer: try await client.execute(uri: "/admin/cache/api/session", method: .get).body)
            let token = try #require(session.firstMatch(of: /"csrf":"([0-9a-f]+)"/)).output.1.description
            var fields: HTTPFields = [.contentType: "application/json"]
            let query = ByteBuffer(string: "{\"sql\": \"SELECT 1\"}")
            let path = "/admin/cache/api/sql"
            let refused = try await client.execute(uri: path, method: .post, headers: fields, body: query)
            #expect(refused.status == .forbidden)
            fields[try #require(HTTPField.Name("X-CSRF-Token"))] = token
            let answered = try await client.execute(uri: path, method: .post, headers: fields, body: query)
            #expect(answered.status == .ok)
            let long = ByteBuffer(repeating: UInt8(ascii: " "), count: 1 << 20 + 1)
            let tooLarge = try await client.execute(uri: path, method: .post, headers: fields, body: long)
            #expect(tooLarge.status == .contentTooLarge)
        }
    }

    @Test("refuses a request from another site")
    func otherSites() async throws {
        try await application(try .temporary()).test(.ahc()) { client in
            let response = try await client.execute(
                uri: "/admin/cache/api/session", method: .get, headers: [.origin: "http://evil.example"])
            #expect(response.status == .forbidden)
        }
    }

    @Test("sends a stored body with its length, and so that no browser runs it")
    func bodies() async throws {
        let store = try ResponseStore.temporary()
        let text = String(repeating: "<script>alert(1)</script>", count: 20_000)
        _ = try await store.insert(
            Data(text.utf8), metadata: EntryMetadata(contentType: "text/html", requestedAt: Date(), receivedAt: Date()),
            for: try CacheKey(url: "https://example.com/"))
        try await application(store).test(.ahc()) { client in
            let list = String(buffer: try await client.execute(uri: "/admin/cache/api/entries", method: .get).body)
            let id = try #require(list.firstMatch(of: /"id":"?(\d+)/)).output.1
            let response = try await client.execute(
                uri: "/admin/cache/api/body?id=\(id)&download=true", method: .get)
            #expect(String(buffer: response.body) == text)
            #expect(response.headers[.contentLength] == "\(text.utf8.count)")
            #expect(response.headers[.contentType] == "application/octet-stream")
        }
    }
}
