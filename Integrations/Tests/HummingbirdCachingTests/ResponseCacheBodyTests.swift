import CacheStore
import CacheStoreTesting
import HTTPTypes
import Hummingbird
import HummingbirdCaching
import HummingbirdTesting
import NIOCore
import Testing

@Suite("ResponseCacheMiddleware: bodies of routes", .timeLimit(.minutes(5)))
struct ResponseCacheBodyTests {
    private let calls = CallCount()

    private func application(
        route: @escaping @Sendable (Int) -> Response
    ) throws -> Application<RouterResponder<BasicRequestContext>> {
        let store = try ResponseStore.temporary()
        return HummingbirdCachingTests.application { router in
            router.add(middleware: ResponseCacheMiddleware(store: store))
            router.get("a") { [calls] _, _ in route(calls.add()) }
        }
    }

    @Test("stores a body whole that a route writes piece by piece")
    func streamed() async throws {
        let app = try application { _ in
            Response(
                status: .ok, headers: .caching("max-age=60"),
                body: .init { writer in
                    for number in 0..<500 {
                        try await writer.write(ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: 1_000))
                        try await writer.write(ByteBuffer())
                    }
                    try await writer.finish(nil)
                })
        }
        let expected = (0..<500).flatMap { Array(repeating: UInt8(truncatingIfNeeded: $0), count: 1_000) }
        try await app.test(.ahc()) { client in
            for _ in 0..<2 {
                let response = try await client.execute(uri: "/a", method: .get)
                #expect(Array(buffer: response.body) == expected)
            }
        }
        #expect(calls.value == 1)
    }

    @Test("a truncated body truncates the response and is not stored")
    func truncated() async throws {
        struct Failure: Error {}
        let app = try application { number in
            Response(
                status: .ok, headers: .caching("max-age=60"),
                body: .init { writer in
                    try await writer.write(ByteBuffer(string: "begin"))
                    if number == 1 { throw Failure() }
                    try await writer.finish(nil)
                })
        }
        try await app.test(.ahc()) { client in
            _ = await #expect(throws: (any Error).self) { try await client.execute(uri: "/a", method: .get) }
            let response = try await client.execute(uri: "/a", method: .get)
            #expect(String(buffer: response.body) == "begin")
        }
        #expect(calls.value == 2)
    }

    @Test("trailers reach the client whose request called the route, and a stored response announces none")
    func trailers() async throws {
        let name = try #require(HTTPField.Name("X-Digest"))
        let app = try application { _ in
            Response(
                status: .ok, headers: .caching("max-age=60", [.trailer: "X-Digest"]),
                body: .init { writer in
                    try await writer.write(ByteBuffer(string: "a"))
                    try await writer.finish([name: "1"])
                })
        }
        try await app.test(.live) { client in
            let first = try await client.execute(uri: "/a", method: .get)
            #expect(first.trailerHeaders?[name] == "1")
            #expect(first.headers[.trailer] == "X-Digest")
            let second = try await client.execute(uri: "/a", method: .get)
            #expect(second.trailerHeaders?[name] == nil)
            #expect(second.headers[.trailer] == nil)
            #expect(String(buffer: second.body) == "a")
        }
        #expect(calls.value == 1)
    }
}
