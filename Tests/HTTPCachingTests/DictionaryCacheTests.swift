import TestSupport

/// The documentation's sample, with a closure as origin.
@Suite struct DictionaryCacheTests {
    /// An origin that records its requests, and a clock.
    private final class Origin: Sendable {
        private struct State {
            var requests: [HTTPRequest] = []
            var seconds: Int64 = 0
        }

        private let state = Mutex(State())
        private let answer: @Sendable (HTTPRequest, _ number: Int) throws -> HTTPResponse
        /// Yields a value for each request.
        let arrivals: AsyncStream<Void>
        private let arrival: AsyncStream<Void>.Continuation

        init(_ answer: @escaping @Sendable (HTTPRequest, _ number: Int) throws -> HTTPResponse) {
            self.answer = answer
            (arrivals, arrival) = AsyncStream.makeStream()
        }

        var requests: [HTTPRequest] { state.withLock { $0.requests } }
        func advance(by seconds: Int64) { state.withLock { $0.seconds += seconds } }

        func makeCache() -> DictionaryCache {
            DictionaryCache(now: { Sample.time(self.state.withLock { $0.seconds }) }) { request in
                let number = self.state.withLock { state in
                    state.requests.append(request)
                    return state.requests.count
                }
                self.arrival.yield()
                let head = try self.answer(request, number)
                let isEmpty = request.method == .head || head.status == .notModified
                return (head, isEmpty ? [] : Array("body \(number)".utf8))
            }
        }
    }

    private static func response(_ lines: String..., status: HTTPResponse.Status = .ok) -> HTTPResponse {
        HTTPResponse(status: status, headerFields: Sample.fields(lines))
    }

    private func text(_ reply: DictionaryCache.Reply) -> String { String(decoding: reply.body, as: UTF8.self) }

    @Test("A miss goes to the origin; a hit stays local, and carries its Age")
    func hit() async throws {
        let origin = Origin { _, _ in Self.response("Cache-Control: max-age=60") }
        let cache = origin.makeCache()
        let miss = try await cache.reply(to: Sample.request())
        #expect(text(miss) == "body 1")
        #expect(miss.head.headerFields[.age] == nil)
        origin.advance(by: 59)
        let hit = try await cache.reply(to: Sample.request())
        #expect(text(hit) == "body 1")
        #expect(hit.head.headerFields[.age] == "59")
        #expect(origin.requests.count == 1)
        origin.advance(by: 1)
        #expect(text(try await cache.reply(to: Sample.request())) == "body 2")
    }

    @Test("RFC 9111 §4.3: a stale response is validated, and a 304 makes it fresh again")
    func validation() async throws {
        let origin = Origin { request, number in
            number == 1
                ? Self.response("Cache-Control: max-age=60", #"ETag: "v1""#)
                : Self.response(#"ETag: "v1""#, "Cache-Control: max-age=60, x=\(number)", status: .notModified)
        }
        let cache = origin.makeCache()
        _ = try await cache.reply(to: Sample.request())
        origin.advance(by: 60)
        let validated = try await cache.reply(to: Sample.request())
        #expect(origin.requests.last?.headerFields[.ifNoneMatch] == #""v1""#)
        #expect(validated.head.status == .ok)
        #expect(text(validated) == "body 1")
        #expect(validated.head.headerFields[.cacheControl] == "max-age=60, x=2")
        origin.advance(by: 59)
        #expect(text(try await cache.reply(to: Sample.request())) == "body 1")
        #expect(origin.requests.count == 2)
    }

    @Test("RFC 9111 §4.3.2: answers the caller's own condition with a 304")
    func callerCondition() async throws {
        let origin = Origin { _, _ in Self.response("Cache-Control: max-age=60", #"ETag: "v1""#) }
        let cache = origin.makeCache()
        _ = try await cache.reply(to: Sample.request())
        let reply = try await cache.reply(to: Sample.request(#"If-None-Match: "v1""#))
        #expect(reply.head.status == .notModified)
        #expect(reply.body.isEmpty)
        #expect(origin.requests.count == 1)
        let range = try await cache.reply(to: Sample.request("Range: bytes=0-3"))
        #expect(range.head.status == .partialContent)
        #expect(text(range) == "body")
        #expect(origin.requests.count == 1)
    }

    @Test("RFC 9111 §4.1: stores a response for each variant")
    func vary() async throws {
        let origin = Origin { _, _ in Self.response("Cache-Control: max-age=60", "Vary: Accept-Language") }
        let cache = origin.makeCache()
        for _ in 0..<2 {
            #expect(text(try await cache.reply(to: Sample.request("Accept-Language: de"))) == "body 1")
            #expect(text(try await cache.reply(to: Sample.request("Accept-Language: fr"))) == "body 2")
        }
        #expect(origin.requests.count == 2)
    }

    @Test("RFC 9111 §5.2.2.5, §5.2.1.7: a no-store response is not stored; a later only-if-cached gets 504")
    func noStore() async throws {
        let origin = Origin { _, _ in Self.response("Cache-Control: no-store") }
        let cache = origin.makeCache()
        #expect(text(try await cache.reply(to: Sample.request())) == "body 1")
        #expect(text(try await cache.reply(to: Sample.request())) == "body 2")
        let offline = try await cache.reply(to: Sample.request("Cache-Control: only-if-cached"))
        #expect(offline.head.status == .gatewayTimeout)
        #expect(origin.requests.count == 2)
    }

    @Test("RFC 9111 §4.4: a POST invalidates its URL and that in Location, unless it fails")
    func invalidation() async throws {
        let origin = Origin { request, number in
            if request.method == .get { return Self.response("Cache-Control: max-age=60") }
            return Self.response("Location: /b", status: number == 3 ? .badRequest : .created)
        }
        let cache = origin.makeCache()
        var other = Sample.request()
        other.path = "/b"
        _ = try await cache.reply(to: Sample.request())
        _ = try await cache.reply(to: other)
        _ = try await cache.reply(to: Sample.request(method: .post))
        #expect(text(try await cache.reply(to: Sample.request())) == "body 1")
        _ = try await cache.reply(to: Sample.request(method: .post))
        #expect(text(try await cache.reply(to: Sample.request())) == "body 5")
        #expect(text(try await cache.reply(to: other)) == "body 6")
    }

    @Test("RFC 9111 §4.3.5: a HEAD that contradicts the stored response makes it stale")
    func head() async throws {
        let origin = Origin { request, _ in
            let tag = request.method == .head ? "v2" : "v1"
            return Self.response("Cache-Control: max-age=60", "ETag: \"\(tag)\"")
        }
        let cache = origin.makeCache()
        _ = try await cache.reply(to: Sample.request())
        _ = try await cache.reply(to: Sample.request("Cache-Control: no-cache", method: .head))
        #expect(text(try await cache.reply(to: Sample.request())) == "body 3")
    }

    @Test("RFC 5861 §4: within stale-if-error, the stored response replaces a server error")
    func staleIfError() async throws {
        let origin = Origin { _, number in
            number == 1
                ? Self.response("Cache-Control: max-age=60, stale-if-error=60")
                : Self.response(status: .serviceUnavailable)
        }
        let cache = origin.makeCache()
        _ = try await cache.reply(to: Sample.request())
        origin.advance(by: 120)
        let stale = try await cache.reply(to: Sample.request())
        #expect(text(stale) == "body 1")
        #expect(stale.head.headerFields[.age] == "120")
        origin.advance(by: 1)
        #expect(try await cache.reply(to: Sample.request()).head.status == .serviceUnavailable)
    }

    @Test("RFC 5861 §3: within stale-while-revalidate, the stored response answers and is validated in the background")
    func staleWhileRevalidate() async throws {
        let origin = Origin { _, number in
            Self.response("Cache-Control: max-age=60, stale-while-revalidate=60", "ETag: \"\(number)\"")
        }
        let cache = origin.makeCache()
        var arrivals = origin.arrivals.makeAsyncIterator()
        _ = try await cache.reply(to: Sample.request())
        await arrivals.next()
        origin.advance(by: 60)
        #expect(text(try await cache.reply(to: Sample.request())) == "body 1")
        await arrivals.next()
        #expect(origin.requests.last?.headerFields[.ifNoneMatch] == "\"1\"")
    }

    @Test("A 304 that no stored response can answer leads to one unconditional request")
    func retry() async throws {
        let origin = Origin { _, number in
            number == 1
                ? Self.response("Cache-Control: max-age=60", #"ETag: "v1""#)
                : number == 2 ? Self.response(#"ETag: "v2""#, status: .notModified) : Self.response()
        }
        let cache = origin.makeCache()
        _ = try await cache.reply(to: Sample.request())
        origin.advance(by: 60)
        #expect(text(try await cache.reply(to: Sample.request())) == "body 3")
        #expect(origin.requests.last?.headerFields[.ifNoneMatch] == nil)
    }

    @Test("Does not store a response that the origin sent before an invalidation")
    func invalidationDuringRequest() async throws {
        let gates = (open: AsyncStream<Void>.makeStream(), reached: AsyncStream<Void>.makeStream())
        let count = Mutex(0)
        let cache = DictionaryCache(now: { Sample.time() }) { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 {
                gates.reached.continuation.yield()
                for await _ in gates.open.stream { break }
            }
            return (Self.response("Cache-Control: max-age=60"), Array("body \(number)".utf8))
        }
        async let slow = cache.reply(to: Sample.request())
        for await _ in gates.reached.stream { break }
        _ = try await cache.reply(to: Sample.request(method: .post))
        gates.open.continuation.yield()
        #expect(text(try await slow) == "body 1")
        #expect(text(try await cache.reply(to: Sample.request())) == "body 3")
    }

    @Test("The article shows the tested code")
    func article() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../").standardizedFileURL
        let sample = try String(
            contentsOf: root.appending(path: "Snippets/CachingInADictionary.swift"), encoding: .utf8)
        let article = try String(
            contentsOf: root.appending(path: "Sources/HTTPCaching/HTTPCaching.docc/BuildingACache.md"),
            encoding: .utf8)
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
        // An article indents the members of the actor as the sample does.
        var rest = Substring(sample)
        for block in blocks {
            let range = try #require(rest.range(of: block), "not in the sample, or not in this order:\n\(block)")
            let skipped = rest[..<range.lowerBound].filter { !$0.isWhitespace && $0 != "}" }
            #expect(skipped.isEmpty || skipped.hasPrefix("//"), "the article leaves out:\n\(skipped)")
            rest = rest[range.upperBound...]
        }
        #expect(rest.allSatisfy { $0.isWhitespace || $0 == "}" }, "the article leaves out:\n\(rest)")
    }
}
