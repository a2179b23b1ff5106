#if Curl || canImport(Darwin)
import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The kinds of tasks and the behaviours of a cache.
@Suite("Tasks of a session with a cache", .timeLimit(.minutes(5))) struct ProtocolTaskKindTests {
    // MARK: Loads

    @Test("A fresh response answers without the origin", arguments: TaskKind.loads)
    func fresh(_ kind: TaskKind) async throws {
        let body = Data.noise(200_000, seed: 1)
        let fixture = try await ProtocolFixture { _ in .ok(body, cacheControl: "max-age=60", contentType: "a/b") }
        for age in [nil, "0"] {
            let (data, response) = try await kind.run(fixture.request("/a"), in: fixture)
            #expect(data == body)
            #expect(response.statusCode == 200)
            #expect(response.mimeType == "a/b")
            #expect(response.url?.path == "/a")
            #expect(response.value(forHTTPHeaderField: "Age") == age)
        }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("A stale response is validated, and answers after a 304", arguments: TaskKind.loads)
    func notModified(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { request in
            .resource("body".utf8, for: request, etag: "\"1\"", cacheControl: "max-age=60")
        }
        for _ in 0..<2 {
            let (data, response) = try await kind.run(fixture.request("/a"), in: fixture)
            #expect(data == Data("body".utf8))
            #expect(response.statusCode == 200)
            fixture.cache.clock.advance(by: 61)
        }
        #expect(fixture.origin.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"1\""])
        #expect(fixture.origin.counters.notModified == 1)
    }

    @Test("A stored response answers offline; a missing one is an error", arguments: TaskKind.loads)
    func offline(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { _ in .ok("body".utf8, cacheControl: "max-age=60") }
        _ = try await kind.run(fixture.request("/a"), in: fixture)
        await fixture.origin.stop()
        fixture.cache.clock.advance(by: 61)
        #expect(try await kind.run(fixture.request("/a"), in: fixture).0 == Data("body".utf8))
        await expect(.cannotConnectToHost) { _ = try await kind.run(fixture.request("/b"), in: fixture) }
    }

    @Test("RFC 5861 §3: a stale response answers while the cache validates it", arguments: TaskKind.loads)
    func staleWhileRevalidate(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { request in
            .ok("\(request.serial)".utf8, cacheControl: "max-age=60, stale-while-revalidate=600")
        }
        let first = try await kind.run(fixture.request("/a"), in: fixture).0
        fixture.cache.clock.advance(by: 61)
        #expect(try await kind.run(fixture.request("/a"), in: fixture).0 == first)
        await eventually { fixture.origin.requestCount == 2 }
        var latest = first
        while latest == first { latest = try await kind.run(fixture.request("/a"), in: fixture).0 }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("An unsuccessful status is a response, not an error", arguments: TaskKind.loads)
    func status(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { _ in .status(.notFound) }
        #expect(try await kind.run(fixture.request("/a"), in: fixture).1.statusCode == 404)
    }

    @Test("A body that breaks off is an error", arguments: TaskKind.loads)
    func broken(_ kind: TaskKind) async throws {
        let body = Data(count: 100_000)
        let fixture = try await ProtocolFixture { _ in .ok(body).delivered(.declaring(length: 200_000)) }
        await expect(.networkConnectionLost) { _ = try await kind.run(fixture.request("/a"), in: fixture) }
    }

    @Test("A response without content ends the task", arguments: TaskKind.loads)
    func empty(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { _ in .status(.noContent) }
        let (data, response) = try await kind.run(fixture.request("/a"), in: fixture)
        #expect(data.isEmpty)
        #expect(response.statusCode == 204)
    }

    @Test(
        "Each cache policy of a request works as Apple documents",
        arguments: [
            (URLRequest.CachePolicy.useProtocolCachePolicy, 1), (.reloadIgnoringLocalCacheData, 2),
            (.reloadIgnoringLocalAndRemoteCacheData, 2), (.returnCacheDataElseLoad, 1), (.returnCacheDataDontLoad, 0),
            (.reloadRevalidatingCacheData, 2),
        ])
    func policies(_ policy: URLRequest.CachePolicy, requestCount: Int) async throws {
        let fixture = try await ProtocolFixture { _ in .ok("body".utf8, cacheControl: "max-age=60") }
        var request = try fixture.request("/a")
        request.cachePolicy = policy
        let session = fixture.session()
        for _ in 0..<2 {
            if policy == .returnCacheDataDontLoad {
                await expect(.resourceUnavailable) { _ = try await session.data(for: request) }
            } else {
                #expect(try await session.data(for: request).0 == Data("body".utf8))
            }
        }
        #expect(fixture.origin.requestCount == requestCount)
    }

    // MARK: Downloads

    #if canImport(FoundationNetworking)
    @Test("On Linux a download task loads without the cache", arguments: TaskKind.downloads)
    func download(_ kind: TaskKind) async throws {
        let body = Data.noise(200_000, seed: 2)
        let fixture = try await ProtocolFixture { _ in .ok(body, cacheControl: "max-age=60") }
        for _ in 0..<2 {
            let (data, response) = try await kind.run(fixture.request("/a"), in: fixture)
            #expect(data == body)
            #expect(response.statusCode == 200)
        }
        #expect(fixture.origin.requestCount == 2)
    }
    #else
    @Test("A download task has its file from the cache", arguments: TaskKind.downloads)
    func download(_ kind: TaskKind) async throws {
        let body = Data.noise(200_000, seed: 2)
        let fixture = try await ProtocolFixture { _ in .ok(body, cacheControl: "max-age=60") }
        for _ in 0..<2 { #expect(try await kind.run(fixture.request("/a"), in: fixture).0 == body) }
        #expect(fixture.origin.requestCount == 1)
    }
    #endif

    // MARK: Uploads

    @Test("The content of an upload reaches the origin, and its response the program", arguments: TaskKind.uploads)
    func upload(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { request in .ok(request.body.reversed()) }
        for content in [Data("content".utf8), Data.noise(300_000, seed: 3)] {
            let (data, _) = try await kind.run(fixture.request("/a", "POST", body: content), in: fixture)
            #expect(data == Data(content.reversed()))
            #expect(fixture.origin.requests.last?.body == [UInt8](content))
            #expect(fixture.origin.requests.last?.method == .post)
        }
    }

    @Test("RFC 9111 §4.4: an upload invalidates the stored response", arguments: TaskKind.uploads)
    func invalidating(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { _ in .ok("body".utf8, cacheControl: "max-age=60") }
        let session = fixture.session()
        _ = try await session.data(for: fixture.request("/a"))
        _ = try await kind.run(fixture.request("/a", "PUT", body: Data("new".utf8)), in: fixture)
        _ = try await session.data(for: fixture.request("/a"))
        #expect(fixture.origin.requests.map(\.method) == [.get, .put, .get])
    }

    @Test("RFC 9110 §15.4.8: 307 repeats content that can be read again", arguments: TaskKind.uploads)
    func redirected(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { request in
            request.path == "/new"
                ? .ok(request.body) : OriginReply(status: .temporaryRedirect, fields: [.location: "/new"])
        }
        let content = Data("content".utf8)
        let request = try fixture.request("/old", "POST", body: content)
        if [.uploadStream, .bodyStream].contains(kind) {
            await expect(.requestBodyStreamExhausted) { _ = try await kind.run(request, in: fixture) }
        } else {
            #expect(try await kind.run(request, in: fixture).0 == content)
            #expect(fixture.origin.requests.map(\.method) == [.post, .post])
        }
    }

    @Test("An upload without an origin is an error", arguments: TaskKind.uploads)
    func unreachable(_ kind: TaskKind) async throws {
        let fixture = try await ProtocolFixture { _ in .ok() }
        await fixture.origin.stop()
        let request = try fixture.request("/a", "POST", body: Data("content".utf8))
        await expect(.cannotConnectToHost) { _ = try await kind.run(request, in: fixture) }
    }
}
#endif
