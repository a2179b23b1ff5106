import CacheStoreTestTraits
import TestSupport

/// Contains every listing of the articles, so that each compiles and passes.
@Suite("The articles on testing", .timeLimit(.minutes(5)))
struct TestingArticleTests {
    @Test func newsComeFromTheDiskForAMinute() async throws {
        let transport = ScriptedTransport(.reply(200, [.cacheControl: "max-age=60"], "news"))
        let clock = ManualClock()
        let store = try ResponseStore.temporary(clock: clock)
        let loader = ResourceLoader(store: store, transport: transport, clock: clock)

        _ = try await loader.load("https://example.com/feed")
        clock.advance(by: .seconds(59))
        let again = try await loader.load("https://example.com/feed")
        #expect(again.source == .disk)
        #expect(transport.requestCount == 1)
    }

    @Test(.replay("Recordings/search"))
    func searchFindsSwift() async throws {
        let clock = ManualClock(ReplayTrait.startDate)
        let store = try ResponseStore.temporary(clock: clock)
        let loader = ResourceLoader(store: store, transport: ReplayTrait.transport, clock: clock)

        let found = try await loader.load("https://example.com/search?q=swift", as: .text)
        #expect(found.value.contains("Swift"))
    }

    @Test("Each URL has its own replies, and the last one repeats")
    func repliesByURL() async throws {
        let png = Data([0x89])
        let transport = ScriptedTransport([
            "https://example.com/feed": [.reply(200, [.eTag: "\"1\""], "one"), .reply(304), .failure(.cannotConnect)],
            "https://example.com/logo.png": [.reply(200, [.contentType: "image/png"], body: png)],
        ])
        let store = try ResponseStore.temporary()
        var configuration = ResourceLoader.Configuration()
        configuration.retry = .never
        let loader = ResourceLoader(
            store: store, transport: transport, clock: ManualClock(), configuration: configuration)
        #expect(try await loader.load("https://example.com/logo.png").data == png)
        #expect(try await loader.load("https://example.com/feed").source == .network)
        #expect(try await loader.load("https://example.com/feed").source == .notModified)
        for _ in 0..<2 {
            let stale = try await loader.load("https://example.com/feed")
            #expect(stale.isStale)
            #expect(stale.failure == .transport(TransportError(.cannotConnect), url: "https://example.com/feed"))
        }
        #expect(
            transport.requests(to: "https://example.com/feed").map { $0.headerFields[.ifNoneMatch] }
                == [nil, "\"1\"", "\"1\"", "\"1\""])
    }

    @Test("A function may answer")
    func function() async throws {
        let transport = ScriptedTransport { request, body in
            request.headerFields[.authorization] == nil ? .reply(401) : .reply(200, [:], "secret")
        }
        let cache = HTTPCache(store: try .temporary(), transport: transport, clock: ManualClock())
        var request = HTTPRequest(method: .get, scheme: "https", authority: "example.com", path: "/")
        #expect(try await cache.response(for: request).status == .unauthorized)
        request.headerFields[.authorization] = "Basic YTpi"
        #expect(try await cache.response(for: request).status == .ok)
    }

    @Test("A retry waits for the clock")
    func retry() async throws {
        let (clock, store) = (ManualClock(), try ResponseStore.temporary())
        let transport = ScriptedTransport(.failure(.connectionLost), .reply(200, [:], "news"))
        let loader = ResourceLoader(store: store, transport: transport, clock: clock)
        async let feed = loader.load("https://example.com/feed", as: .text)
        await clock.waitForSleeps(1)
        clock.advance(by: .seconds(10))
        #expect(try await feed.value == "news")
        #expect(transport.requestCount == 2)
    }

    @Suite struct FeedTests {
        let clock = ManualClock()
        let store: ResponseStore

        init() throws {
            store = try .temporary(clock: clock)
        }

        @Test("A store of a suite is empty")
        func isEmpty() throws { #expect(try store.statistics().entries == 0) }
    }

    @Test("A directory outlives its stores")
    func secondStart() throws {
        let directory = try TemporaryDirectory()
        try ResponseStore(directory: directory.url).close()
        let store = try ResponseStore(directory: directory.url)
        #expect(try store.statistics().entries == 0)
    }

    @Test("A loopback origin serves the usual transport")
    func loopback() async throws {
        let store = try ResponseStore.temporary()
        let origin = try await LoopbackOrigin { request in
            .ok("news".utf8, cacheControl: "max-age=60")
        }
        let loader = ResourceLoader(store: store)
        let feed = try await loader.load(origin.url("/feed"))
        #expect(feed.data == Data("news".utf8))
        await origin.stop()
    }

    @Test("The file contains every listing of the articles", arguments: ["CacheStoreTesting.md", "TestingYourCode.md"])
    func listings(_ article: String) throws {
        func lines(_ text: String) -> String {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        }
        let file = URL(filePath: #filePath)
        let folder = file.appending(path: "../../../Sources/CacheStoreTesting/CacheStoreTesting.docc").standardized
        let text = try String(contentsOf: folder.appending(path: article), encoding: .utf8)
        let code = lines(try String(contentsOf: file, encoding: .utf8))
        for block in text.components(separatedBy: "```swift\n").dropFirst() {
            let listing = lines(block.components(separatedBy: "```")[0])
            // The suite in the article ends where this file's suite continues.
            let isHere = code.contains(listing.hasSuffix("\n}") ? String(listing.dropLast(2)) : listing)
            #expect(isHere, "\(listing)")
        }
    }
}

@Suite("CacheStoreTesting", .timeLimit(.minutes(5)))
struct CacheStoreTestingTests {
    /// A reply, the bytes that arrive, and the error after them.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let reply: ScriptedReply
        let bytes: String
        let length: String?
        let error: TransportError.Code?
    }

    static let cases = [
        Case(testDescription: "whole", reply: .reply(200, [:], "ab", "", "cd"), bytes: "abcd", length: nil, error: nil),
        Case(
            testDescription: "lost within a chunk", reply: .reply(200, [:], "ab", "cd").broken(afterBytes: 3),
            bytes: "abc", length: "4", error: .connectionLost),
        Case(
            testDescription: "truncated between chunks",
            reply: .reply(200, [:], "ab", "cd").broken(afterBytes: 2, with: .truncated), bytes: "ab", length: "4",
            error: .truncated),
        Case(
            testDescription: "lost before the body, with another length",
            reply: .reply(200, [.contentLength: "9"], "ab").broken(afterBytes: 0), bytes: "", length: "9",
            error: .connectionLost),
        Case(
            testDescription: "lost after the body",
            reply: .reply(200, [:], body: Data("ab".utf8)).broken(afterBytes: 2), bytes: "ab", length: "2",
            error: .connectionLost),
    ]

    @Test("A body arrives as scripted, also when repeated", arguments: cases)
    func bodies(_ c: Case) async throws {
        let transport = ScriptedTransport(c.reply)
        for _ in 0..<2 {
            let response = try await transport.send(Self.request(), content: nil)
            #expect(response.head.headerFields[.contentLength] == c.length)
            #expect(await Self.read(response.body) == Arrived(bytes: c.bytes, error: c.error))
        }
        let head = try await transport.send(Self.request(.head), content: nil)
        #expect(await Self.read(head.body) == Arrived(bytes: ""))
    }

    @Test("Interim responses arrive in order, before the pause for the head")
    func interimResponses() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(
            .reply(200, [:], "a").preceded(by: 103, [.server: "s"]).preceded(by: 102).delayed(
                by: .seconds(5), on: clock))
        let (heads, received) = AsyncStream<HTTPResponse>.makeStream()
        async let response = transport.send(Self.request(), content: nil) { received.yield($0) }
        await clock.waitForSleeps(1)
        received.finish()
        let interim = await heads.reduce(into: []) { $0.append($1) }
        #expect(interim.map(\.status.code) == [103, 102])
        #expect(interim.map { $0.headerFields[.server] } == ["s", nil])
        clock.advance(by: .seconds(5))
        #expect(try await response.head.status == .ok)

        async let plain = transport.send(Self.request(), content: nil)
        await clock.waitForSleeps(2)
        clock.advance(by: .seconds(5))
        #expect(try await plain.head.status == .ok)
    }

    @Test("A request without a scripted reply fails, is not retried, and is recorded with its content")
    func noReply() async throws {
        let transport = ScriptedTransport(["https://example.com/b": [.reply()]])
        let loader = ResourceLoader(store: try .temporary(), transport: transport, clock: ManualClock())
        let error = TransportError(
            .unsupportedRequest, message: "the script has no reply to POST https://example.com/a?b")
        let request = ResourceRequest("https://example.com/a?b", method: .post, content: Data("c".utf8))
        await #expect(throws: LoadError.transport(error, url: "https://example.com/a?b")) {
            try await loader.load(request)
        }
        #expect(transport.sent.map(\.body) == [Data("c".utf8)])
    }

    @Test("The clock delays heads, errors and chunks; a delay ends with its task")
    func delays() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(
            .failure(.timedOut).delayed(by: .seconds(5), on: clock),
            .reply(200, [:], "a", "b").delayed(by: .seconds(5), on: clock).paced(by: .seconds(1), on: clock))
        let failed = Task { try await transport.send(Self.request(), content: nil) }
        await clock.waitForSleeps(1)
        clock.advance(by: .seconds(5))
        await #expect(throws: TransportError(.timedOut)) { _ = try await failed.value }

        async let response = transport.send(Self.request(), content: nil)
        await clock.waitForSleeps(2)
        clock.advance(by: .seconds(5))
        let body = try await response.body
        async let read = Self.read(body)
        for number in 3...4 {
            await clock.waitForSleeps(number)
            clock.advance(by: .seconds(1))
        }
        #expect(await read == Arrived(bytes: "ab"))
        #expect(clock.sleeps == [.seconds(5), .seconds(5), .seconds(1), .seconds(1)])

        let cancelled = Task { try await transport.send(Self.request(), content: nil) }
        await clock.waitForSleeps(5)
        cancelled.cancel()
        await #expect(throws: TransportError(.cancelled)) { _ = try await cancelled.value }
    }

    @Test("One clock drives the store, the loader and the views")
    func oneClock() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(.reply(200, [.cacheControl: "max-age=60"], "body"))
        let loader = ResourceLoader(store: try .temporary(clock: clock), transport: transport, clock: clock)
        _ = try await loader.load("https://example.com/")
        let sql = "SELECT freshness, created_at, strftime('%s', 'now') FROM cache_entries"
        for (seconds, source, freshness) in [(59, ResponseSource.disk, "fresh"), (1, .network, "stale")] {
            clock.advance(by: .seconds(seconds))
            let now = String(Int(clock.now.timeIntervalSince1970))
            #expect(
                try loader.store.query(sql).rows
                    == [[.text(freshness), .text("1994-11-06T08:49:37.000Z"), .text(now)]])
            #expect(try await loader.load("https://example.com/").source == source)
        }
    }

    @Test("An advance wakes the tasks that are due; setting the date wakes none")
    func sleeping() async throws {
        let clock = ManualClock()
        let start = clock.now
        let (ended, continuation) = AsyncStream.makeStream(of: Int.self)
        for (number, seconds) in [30, 10, 20].enumerated() {
            Task {
                try await clock.sleep(.seconds(seconds))
                continuation.yield(seconds)
            }
            await clock.waitForSleeps(number + 1)
        }
        clock.set(start + 1_000)
        #expect(clock.sleeperCount == 3)
        clock.advance(by: .seconds(10))
        #expect(clock.sleeperCount == 2)
        #expect(clock.now == start + 1_010)
        clock.advance(by: .milliseconds(19_999))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .milliseconds(1))
        #expect(clock.sleeperCount == 0)
        #expect(Set(await ended.prefix(3).reduce(into: []) { $0.append($1) }) == [10, 20, 30])
    }

    @Test("Releasing a temporary store removes its directory, even immediately after its creation")
    func removed() throws {
        for _ in 0..<20 {
            var store: ResponseStore? = try .temporary()
            let path = try #require(store).directory.path(percentEncoded: false)
            #expect(FileManager.default.fileExists(atPath: path + "/index.sqlite"))
            store = nil
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("Temporary stores are distinct, and keep the configuration except for the clock")
    func distinct() throws {
        var configuration = ResponseStore.Configuration()
        configuration.readerCount = 1
        let clock = ManualClock()
        let first = try ResponseStore.temporary(clock: clock, configuration: configuration)
        let second = try ResponseStore.temporary(configuration: configuration)
        #expect(first.directory != second.directory)
        #expect([first, second].map(\.configuration.readerCount) == [1, 1])
        #expect(first.configuration.clock() == clock.now)
        #expect(second.configuration.clock() > clock.now)
    }

    private static func request(_ method: HTTPRequest.Method = .get) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "example.com", path: "/")
    }

    /// The bytes of a body, and the error after them.
    private struct Arrived: Hashable {
        var bytes: String
        var error: TransportError.Code?
    }

    private static func read(_ body: TransportBody) async -> Arrived {
        var bytes = Data()
        do throws(TransportError) {
            while let chunk = try await body.next() { bytes += chunk }
            return Arrived(bytes: String(decoding: bytes, as: UTF8.self))
        } catch {
            return Arrived(bytes: String(decoding: bytes, as: UTF8.self), error: error.code)
        }
    }
}
