import CacheLoader
import CacheStore
import CacheStoreTesting
import HTTPTypes
import Hummingbird
import HummingbirdCaching
import HummingbirdTesting
import NIOCore
import Testing

@Suite("ResponseCacheMiddleware: responses of own routes", .timeLimit(.minutes(5)))
struct ResponseCacheTests {
    private let calls = CallCount()
    private let clock = ManualClock()

    private func application(
        _ path: RouterPath = "a", _ method: HTTPRequest.Method = .get,
        route: @escaping @Sendable (Request, BasicRequestContext, Int) async throws -> Response
    ) throws -> Application<RouterResponder<BasicRequestContext>> {
        let store = try ResponseStore.temporary(clock: clock)
        var configuration = HTTPCache.Configuration()
        configuration.policy = .shared
        configuration.clock = clock.date
        return HummingbirdCachingTests.application { router in
            router.add(middleware: ResponseCacheMiddleware(store: store, configuration: configuration))
            for method in Set([method, .get]) {
                router.on(path, method: method) { [calls] request, context in
                    try await route(request, context, calls.add())
                }
            }
        }
    }

    private func body(_ response: TestResponse) -> String { String(buffer: response.body) }

    @Test("a fresh response answers later GETs, HEADs, ranges and conditions without the route")
    func fresh() async throws {
        let app = try application { _, _, number in
            .text("answer \(number)", .caching("max-age=60", [.eTag: "\"1\""]))
        }
        try await app.test(.ahc()) { client in
            let first = try await client.execute(uri: "/a", method: .get)
            #expect(body(first) == "answer 1")
            #expect(first.headers[.age] == nil)
            clock.advance(by: .seconds(5))
            let second = try await client.execute(uri: "/a", method: .get)
            #expect(body(second) == "answer 1")
            #expect(second.headers[.age] == "5")
            #expect(second.headers[.contentLength] == "8")
            let head = try await client.execute(uri: "/a", method: .head)
            #expect(head.status == .ok)
            #expect(head.headers[.contentLength] == "8")
            let part = try await client.execute(uri: "/a", method: .get, headers: [.range: "bytes=7-"])
            #expect(part.status == .partialContent)
            #expect(body(part) == "1")
            let unchanged = try await client.execute(uri: "/a", method: .get, headers: [.ifNoneMatch: "\"1\""])
            #expect(unchanged.status == .notModified)
            #expect(unchanged.headers[.contentLength] == nil)
        }
        #expect(calls.value == 1)
    }

    struct Rule: Sendable {
        let name: String
        var fields: HTTPFields = [:]
        var request: HTTPFields = [:]
        var path = "/a"
        let isStored: Bool
    }

    @Test(
        "RFC 9111 §3: the fields decide whether a response is stored",
        arguments: [
            Rule(name: "max-age", fields: .caching("max-age=60"), isStored: true),
            Rule(name: "no lifetime", isStored: false),
            Rule(name: "no-store", fields: .caching("max-age=60, no-store"), isStored: false),
            Rule(name: "private, in a shared cache", fields: .caching("private, max-age=60"), isStored: false),
            Rule(
                name: "§3.5 Authorization", fields: .caching("max-age=60"), request: [.authorization: "Basic YTpi"],
                isStored: false),
            Rule(name: "a query is part of the URL", fields: .caching("max-age=60"), path: "/a?b=c", isStored: true),
        ])
    func storability(_ rule: Rule) async throws {
        let app = try application { _, _, _ in .text("a", rule.fields) }
        try await app.test(.ahc()) { client in
            for _ in 0..<2 { try await client.execute(uri: rule.path, method: .get, headers: rule.request) }
            #expect(calls.value == (rule.isStored ? 1 : 2), "\(rule.name)")
            try await client.execute(uri: "/a?other", method: .get, headers: rule.request)
            #expect(calls.value == (rule.isStored ? 2 : 3), "\(rule.name)")
        }
    }

    @Test("RFC 9111 §4.3: the route validates a stale response, and receives the client's fields")
    func validation() async throws {
        let app = try application { request, _, number in
            #expect(request.headers[values: .cacheControl] == ["max-age=99"])
            #expect(request.uri.path == "/a")
            let fields = HTTPFields.caching("max-age=10", [.eTag: "\"1\""])
            if request.headers[.ifNoneMatch] == "\"1\"" { return Response(status: .notModified, headers: fields) }
            return .text("answer \(number)", fields)
        }
        try await app.test(.ahc()) { client in
            for expected in [1, 1, 2, 2] {
                let fields = HTTPFields.caching("max-age=99")
                let text = try await client.text("/a", fields)
                #expect(text == "answer 1")
                #expect(calls.value == expected)
                clock.advance(by: .seconds(8))
            }
        }
    }

    @Test("stale-while-revalidate: validates before answering, because no route runs in the background")
    func staleWhileRevalidate() async throws {
        let app = try application { _, _, number in
            .text("answer \(number)", .caching("max-age=10, stale-while-revalidate=60"))
        }
        try await app.test(.ahc()) { client in
            try await client.execute(uri: "/a", method: .get)
            clock.advance(by: .seconds(20))
            #expect(try await client.text("/a") == "answer 2")
        }
    }

    @Test("an error of a route passes unchanged, unless a stale response may replace it")
    func errors() async throws {
        let app = try application { _, _, number in
            guard number == 1 else { throw HTTPError(.init(code: 418), message: "teapot") }
            return .text("answer 1", .caching("max-age=10, stale-if-error=60"))
        }
        try await app.test(.ahc()) { client in
            try await client.execute(uri: "/a", method: .get)
            clock.advance(by: .seconds(20))
            let stale = try await client.execute(uri: "/a", method: .get)
            #expect(body(stale) == "answer 1")
            #expect(stale.headers[.age] == "20")
            clock.advance(by: .seconds(60))
            let failed = try await client.execute(uri: "/a", method: .get)
            #expect(failed.status.code == 418)
            #expect(body(failed).contains("teapot"))
            #expect(try await client.execute(uri: "/none", method: .get).status == .notFound)
        }
        #expect(calls.value == 3)
    }

    @Test("concurrent equal requests call the route once")
    func coalescing() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let app = try application { _, _, number in
            arrived.open()
            await gate.wait()
            return .text("answer \(number)", .caching("max-age=60"))
        }
        try await app.test(.ahc()) { client in
            try await withThrowingTaskGroup(of: String.self) { group in
                group.addTask { try await client.text("/a") }
                await arrived.wait()
                for _ in 0..<4 { group.addTask { try await client.text("/a") } }
                gate.open()
                for try await text in group { #expect(text == "answer 1") }
            }
        }
        #expect(calls.value == 1)
    }

    @Test("after the shared route call fails, each other request calls the route itself")
    func coalescedFailure() async throws {
        let (arrived, gate) = (Gate(), Gate())
        let app = try application { _, _, number in
            if number == 1 {
                arrived.open()
                await gate.wait()
                throw HTTPError(.badGateway)
            }
            return .text("answer", .caching("no-store"))
        }
        try await app.test(.ahc()) { client in
            async let first = client.execute(uri: "/a", method: .get)
            await arrived.wait()
            async let second = client.execute(uri: "/a", method: .get)
            // The second request may arrive before or after the failure of the first, and succeeds in both cases.
            gate.open()
            let (failed, answered) = try await (first, second)
            #expect(failed.status == .badGateway)
            #expect(body(answered) == "answer")
        }
    }

    @Test("RFC 9111 §4.4: a POST calls its route once, with its content, and invalidates")
    func unsafe() async throws {
        let app = try application("a", .post) { request, _, number in
            let content = try await request.body.collect(upTo: 100)
            return .text("\(String(buffer: content)) \(number)", .caching("max-age=60"))
        }
        try await app.test(.ahc()) { client in
            #expect(try await client.text("/a") == " 1")
            let posted = try await client.execute(uri: "/a", method: .post, body: ByteBuffer(string: "content"))
            #expect(body(posted) == "content 2")
            #expect(try await client.text("/a") == " 3")
            #expect(try await client.text("/a") == " 3")
        }
    }

    @Test("a GET with content bypasses the cache")
    func contentOfGET() async throws {
        let app = try application { request, _, number in
            let content = try await request.body.collect(upTo: 100)
            return .text("\(String(buffer: content)) \(number)", .caching("max-age=60"))
        }
        try await app.test(.ahc()) { client in
            for number in 1...2 {
                let content = ByteBuffer(string: "query")
                let response = try await client.execute(uri: "/a", method: .get, body: content)
                #expect(body(response) == "query \(number)")
            }
        }
    }

    @Test("RFC 9111 §5.2.1.7: only-if-cached never calls the route")
    func onlyIfCached() async throws {
        let app = try application { _, _, _ in .text("a", .caching("max-age=60")) }
        try await app.test(.ahc()) { client in
            let fields = HTTPFields.caching("only-if-cached")
            #expect(try await client.execute(uri: "/a", method: .get, headers: fields).status == .gatewayTimeout)
            #expect(calls.value == 0)
            try await client.execute(uri: "/a", method: .get)
            #expect(try await client.execute(uri: "/a", method: .get, headers: fields).status == .ok)
        }
    }
}
