import TestSupport

@Suite("HTTPCache: malformed replies", .timeLimit(.minutes(5))) struct MalformedReplyTests {
    private static let url = "https://example.com/a"

    @Test(
        "RFC 9112 §6.3: a response with different values of Content-Length is malformed; equal values are accepted",
        .requirement("E3"),
        arguments: [
            (["4", "5"], false), (["4, 5"], false), (["4", "4"], true), (["4, 4"], true), (["4", "x"], false),
        ])
    func contentLength(values: [String], isAccepted: Bool) async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            var fields: HTTPFields = [.cacheControl: "max-age=60"]
            for value in values { fields.append(HTTPField(name: .contentLength, value: value)) }
            return .reply(200, fields, "body")
        }
        let response = try await fixture.cache.response(for: .to("/a"))
        #expect(response.status == (isAccepted ? .ok : .badGateway))
        #expect(try await response.text == (isAccepted ? "body" : ""))
        #expect(try fixture.store.statistics().entries == (isAccepted ? 1 : 0))
    }

    @Test("RFC 9110 §15.3.7: a 206 to a request without Range is malformed")
    func unaskedPart() async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in .reply(206, [.contentRange: "bytes 0-3/10"], "body") }
        #expect(try await fixture.cache.response(for: .to("/a")).status == .badGateway)
        await #expect(throws: LoadError.self) { try await fixture.loader.load(Self.url) }
        #expect(try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-3"])).text == "body")
    }

    @Test("A 206 with all bytes, to a request without Range, is the whole")
    func wholePart() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(206, [.contentRange: "bytes 0-3/4", .cacheControl: "max-age=60"], "body")
        }
        for _ in 0..<2 {
            let response = try await fixture.cache.response(for: .to("/a"))
            #expect(response.status == .ok)
            #expect(response.headerFields[.contentRange] == nil)
            #expect(try await response.text == "body")
        }
        #expect(transport.requestCount == 1)
    }

    @Test("RFC 9110 §14.4: a 200 with Content-Range to a range request does not become the whole")
    func mislabelledPart() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.range] == nil
                ? .reply(200, [.cacheControl: "max-age=60"], "whole body")
                : .reply(200, [.contentRange: "bytes 0-3/10", .cacheControl: "max-age=60"], "whol")
        }
        #expect(try await fixture.cache.response(for: .to("/a", [.range: "bytes=0-3"])).text == "whol")
        #expect(try await fixture.cache.response(for: .to("/a")).text == "whole body")
    }

    @Test("RFC 9112 §8: an unstored body must have the announced length, or reading it throws", arguments: [3, 4, 5])
    func unstoredLength(announced: Int) async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(200, [.cacheControl: "no-store", .contentLength: "\(announced)"], "bo", "dy")
        }
        let response = try await fixture.cache.response(for: .to("/a"))
        let code: TransportError.Code? = announced < 4 ? .malformedResponse : announced > 4 ? .truncated : nil
        do throws(LoadError) {
            #expect(try await response.data() == Data("body".utf8))
            #expect(code == nil)
        } catch {
            guard case .transport(let error, Self.url) = error else { throw error }
            #expect(error.code == code)
        }
    }

    @Test("A malformed success of an unsafe method invalidates, too", .requirement("I01"))
    func invalidation() async throws {
        let (_, fixture) = try LoaderFixture.scripted { request, _ in
            request.method == .put
                ? .reply(206, [.contentRange: "bytes 0-3/10"]) : .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        _ = try await fixture.cache.response(for: .to("/a")).data()
        #expect(try await fixture.cache.response(for: .to("/a", method: .put)).status == .badGateway)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("Bytes after a response without a body are not delivered", arguments: [HTTPRequest.Method.head, .get])
    func noBody(method: HTTPRequest.Method) async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            .reply(method == .head ? 200 : 204, [.cacheControl: "no-store"], "body")
        }
        let response = try await fixture.cache.response(for: .to("/a", method: method))
        #expect(try await response.data().isEmpty)
        #expect(response.body.byteCount == 0)
    }

    @Test("Bytes after a response without a body are received up to a limit")
    func endlessNoBody() async throws {
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            TransportResponse(
                head: HTTPResponse(status: .ok, headerFields: [.cacheControl: "no-store"]),
                body: TransportBody { () async throws(TransportError) in Data("more".utf8) })
        }
        fixture.cache.configuration.maxBodyBytes = 100
        #expect(try await fixture.cache.response(for: .to("/a", method: .head)).data().isEmpty)
    }

    @Test("A body from the network has one reader; a second gets an error", arguments: ["no-store", "max-age=60"])
    func oneReader(cacheControl: String) async throws {
        let transport = ScriptedTransport { _, _ in .reply(200, [.cacheControl: cacheControl], "bo", "dy") }
        let fixture = try LoaderFixture(transport: transport)
        let response = try await fixture.cache.response(for: .to("/a"))
        let results = await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { () async -> Result<Data, LoadError> in
                    do throws(LoadError) { return .success(try await response.data()) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == .success(Data("body".utf8)) }.count == 1)
        #expect(results.filter { $0 == .failure(.bodyAlreadyRead) }.count == 7)
        var iterator = response.body.makeAsyncIterator()
        await #expect(throws: LoadError.bodyAlreadyRead) { try await iterator.next() }
    }

    @Test("A stored body starts again for each reader, also for concurrent readers")
    func severalReaders() async throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let transport = ScriptedTransport([.reply(200, [.cacheControl: "max-age=60"], body: bytes)])
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.cache.response(for: .to("/a")).data()
        let body = try await fixture.cache.response(for: .to("/a")).body
        var (first, second) = (body.makeAsyncIterator(), body.makeAsyncIterator())
        var (one, two) = (Data(), Data())
        while let chunk = try await first.next() {
            one += chunk
            if let other = try await second.next() { two += other }
        }
        #expect(one == bytes)
        #expect(two == bytes)
        for _ in 0..<2 {
            var all = Data()
            for try await chunk in body { all += chunk }
            #expect(all == bytes)
        }
    }

    // MARK: A 304 for another response

    /// Stores a response, and answers its validation with a 304 for another response and then with `reply`.
    private func fixture(_ reply: TransportResponse) async throws -> LoaderFixture {
        let number = Counter()
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            switch number.next() {
            case 1: .reply(200, [.cacheControl: "max-age=1, stale-if-error=100", .eTag: "\"a\""], "old")
            case 2: .reply(304, [.eTag: "\"b\""])
            default: reply
            }
        }
        _ = try await fixture.cache.response(for: .to("/a")).data()
        fixture.clock.advance(by: 10)
        return fixture
    }

    @Test("After a 304 for another response and an error, the stale response is served", .requirement("C7"))
    func foreign304ThenError() async throws {
        let fixture = try await fixture(.reply(503))
        let response = try await fixture.cache.response(for: .to("/a"))
        #expect(try await response.text == "old")
        #expect(response.isStale)
        #expect(response.failure?.brief == .status(503, url: Self.url))
    }

    @Test("After two 304s for another response, the stale response is served", .requirement("C7", "C13"))
    func foreign304Twice() async throws {
        let fixture = try await fixture(.reply(304, [.eTag: "\"b\""]))
        let response = try await fixture.cache.response(for: .to("/a"))
        #expect(try await response.text == "old")
        guard response.isStale, case .transport(let failure, Self.url)? = response.failure else {
            Issue.record("\(String(describing: response.failure))")
            return
        }
        #expect(failure.code == .malformedResponse)
    }

    @Test("A 304 for another response, followed by no-store, removes the stored response", .requirement("B6"))
    func foreign304ThenNoStore() async throws {
        let fixture = try await fixture(.reply(200, [.cacheControl: "no-store"], "new"))
        #expect(try await fixture.cache.response(for: .to("/a")).text == "new")
        #expect(try fixture.store.statistics().entries == 0)
    }
}
