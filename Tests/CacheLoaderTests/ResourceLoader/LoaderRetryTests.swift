import TestSupport

@Suite("ResourceLoader: retries", .timeLimit(.minutes(5))) struct LoaderRetryTests {
    private let url = "https://example.com/a"
    private let sleeper = ManualClock()

    private func fixture(
        _ transport: any HTTPTransport, _ configure: (inout ResourceLoader.Configuration) -> Void = { _ in }
    ) throws -> LoaderFixture {
        try LoaderFixture(transport: transport) { configuration in
            configuration.retry = RetryPolicy()
            configuration.sleep = sleeper.sleep
            // Without randomness.
            configuration.chance = { 0 }
            configure(&configuration)
        }
    }

    // MARK: Retried failures

    @Test(
        "A 4xx other than 408, 425 and 429 is final after 1 request", .requirement("H5"),
        arguments: [400, 401, 403, 404, 410, 418, 451, 499])
    func fatalStatus(code: Int) async throws {
        let transport = ScriptedTransport(.status(.init(code: code)))
        let fixture = try fixture(transport)
        let error = await expectError(.status(code, url: url)) { try await fixture.loader.load(url) }
        #expect(error?.isFatal == true)
        #expect(transport.requestCount == 1)
        #expect(sleeper.sleeps == [])
    }

    @Test(
        "408, 425, 429 and 5xx are retried", .requirement("H5"),
        arguments: [408, 425, 429, 500, 501, 502, 503, 504, 505])
    func retryableStatus(code: Int) async throws {
        let transport = ScriptedTransport(.status(.init(code: code)), .ok("good".utf8))
        let fixture = try fixture(transport)
        let task = Task { try await fixture.loader.load(url).text }
        await sleeper.waitForSleeps(1)
        sleeper.advance(by: .seconds(1))
        #expect(try await task.value == "good")
        #expect(transport.requestCount == 2)
    }

    @Test(
        "Retries a transport that timed out or lost its connection, but not an insecure or malformed one",
        .requirement("H5"),
        arguments: [
            (TransportError.Code.timedOut, 2), (.connectionLost, 2), (.insecure, 1), (.malformedResponse, 1),
        ])
    func transportErrors(code: TransportError.Code, requests: Int) async throws {
        let number = Counter()
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            if number.next() == 1 { throw TransportError(code) }
            return .reply(200, [.cacheControl: "max-age=60"], "good")
        }
        let fixture = try fixture(transport)
        let task = Task { try await fixture.loader.load(url).text }
        if requests == 1 {
            await #expect(throws: LoadError.transport(TransportError(code), url: url)) { try await task.value }
        } else {
            await sleeper.waitForSleeps(1)
            sleeper.advance(by: .seconds(1))
            #expect(try await task.value == "good")
        }
        #expect(transport.requestCount == requests)
    }

    @Test(
        "A refused connection and an unknown host are final, unless a reachability source is configured",
        .requirement("H5"), arguments: [TransportError.Code.cannotConnect, .cannotFindHost], [false, true])
    func refused(code: TransportError.Code, hasReachability: Bool) async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in throw TransportError(code) }
        let fixture = try fixture(transport) { configuration in
            configuration.reachability = hasReachability ? ManualReachability() : nil
            configuration.retry.maxAttempts = 2
        }
        let task = Task { try await fixture.loader.load(url) }
        if hasReachability {
            await sleeper.waitForSleeps(1)
            sleeper.advance(by: .seconds(1))
        }
        await #expect(throws: LoadError.transport(TransportError(code), url: url)) { try await task.value }
        #expect(transport.requestCount == (hasReachability ? 2 : 1))
    }

    @Test("Retries a body that breaks off as a whole, and an attempt beyond its timeout", .requirement("H5"))
    func broken() async throws {
        let number = Counter()
        let hanging = FedBody("half")
        let transport = ScriptedTransport { [sleeper] _, _ in
            switch number.next() {
            case 1:
                // The timer of an attempt is a separate task.
                await sleeper.waitForSleeps(1)
                return .reply(200, [:], "half", failure: TransportError(.truncated))
            case 2: return hanging.response()
            default: return .reply(200, [:], "whole")
            }
        }
        let fixture = try fixture(transport)
        let task = Task { try await fixture.loader.load(ResourceRequest(url, timeout: .seconds(30))).text }
        // The timeout of the first attempt, and the pause after it.
        await sleeper.waitForSleeps(2)
        sleeper.advance(by: .seconds(1))
        await hanging.asked(2)
        await sleeper.waitForSleeps(3)
        sleeper.advance(by: .seconds(30))
        await sleeper.waitForSleeps(4)
        #expect(sleeper.sleeps == [.seconds(30), .seconds(1), .seconds(30), .seconds(2)])
        sleeper.advance(by: .seconds(2))
        #expect(try await task.value == "whole")
        #expect(transport.requestCount == 3)
        #expect(sleeper.sleeperCount == 0)
    }

    // MARK: Times and limits

    @Test("5 attempts at the times of the policy, then one failure for all waiters", .requirement("H7"))
    func schedule() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(503, [:], ""))
        let fixture = try fixture(transport)
        let tasks = (0..<3).map { _ in Task { try await fixture.loader.load(url) } }
        // A load that joined after the first attempt would begin the second one immediately.
        await eventually { fixture.loader.waiterCount(of: ResourceRequest(url)) == 3 }
        gate.open()
        for (number, seconds) in [1, 2, 4, 8].enumerated() {
            await sleeper.waitForSleeps(number + 1)
            #expect(transport.requestCount == number + 1)
            sleeper.advance(by: .seconds(seconds) - .milliseconds(1))
            #expect(sleeper.sleeperCount == 1, "it is not yet time")
            sleeper.advance(by: .milliseconds(1))
        }
        for task in tasks { await expectError(.status(503, url: url)) { try await task.value } }
        #expect(transport.requestCount == 5)
        #expect(sleeper.sleeps == [.seconds(1), .seconds(2), .seconds(4), .seconds(8)])
        try await eventually { try !fixture.loader.isLoading(ResourceRequest(url)) }
    }

    @Test("The third attempt is the same request, and its response is stored under the same key", .requirement("H7"))
    func thirdAttempt() async throws {
        let transport = ScriptedTransport(
            .status(.serviceUnavailable), .status(.badGateway), .ok("good".utf8, cacheControl: "max-age=60"))
        let fixture = try fixture(transport)
        let request = ResourceRequest(url, headerFields: [.accept: "text/plain"], key: "name")
        let task = Task { try await fixture.loader.load(request) }
        for (number, seconds) in [1, 2].enumerated() {
            await sleeper.waitForSleeps(number + 1)
            sleeper.advance(by: .seconds(seconds))
        }
        #expect(try await task.value.source == .network)
        #expect(transport.requests.map { $0.headerFields[.accept] } == ["text/plain", "text/plain", "text/plain"])
        #expect(Set(transport.requests).count == 1)
        #expect(try fixture.loader.peek(request) == Data("good".utf8))
        #expect(try !fixture.loader.contains(url))
        #expect(try await fixture.loader.load(request).source == .disk)
        #expect(transport.requestCount == 3)
    }

    @Test(
        "Waits for Retry-After, in seconds or until a date", .requirement("H7"),
        arguments: ["120", "Sun, 06 Nov 1994 08:51:37 GMT"])
    func retryAfter(text: String) async throws {
        let transport = ScriptedTransport(.status(.serviceUnavailable, fields: [.retryAfter: text]), .ok("good".utf8))
        let fixture = try fixture(transport)
        let task = Task { try await fixture.loader.load(url).text }
        await sleeper.waitForSleeps(1)
        #expect(sleeper.sleeps == [.seconds(120)])
        sleeper.advance(by: .seconds(120))
        #expect(try await task.value == "good")
    }

    @Test("A too long Retry-After makes the failure final", .requirement("H7"))
    func retryAfterTooLong() async throws {
        let transport = ScriptedTransport(.status(.tooManyRequests, fields: [.retryAfter: "301"]))
        let fixture = try fixture(transport)
        await expectError(.status(429, url: url)) { try await fixture.loader.load(url) }
        #expect(transport.requestCount == 1)
        #expect(sleeper.sleeps == [])
    }

    @Test("A background load is retried in the background", .requirement("H7"))
    func lane() async throws {
        let origin = HeldOrigin()
        let number = Counter()
        let transport = ScriptedTransport { request, content throws(TransportError) in
            if request.path == "/b", number.next() == 1 { throw TransportError(.connectionLost) }
            return try await origin.transport.send(request, content: nil)
        }
        let fixture = try fixture(transport)
        let background = Task {
            try await fixture.loader.load(ResourceRequest("https://example.com/b", lane: .background)).text
        }
        await sleeper.waitForSleeps(1)
        let urgent = Task { try await fixture.loader.load(url).text }
        await origin.asked("/a")
        sleeper.advance(by: .seconds(1))
        origin.open("/b")
        origin.open("/a")
        #expect(try await urgent.value == "/a")
        #expect(try await background.value == "/b")
        #expect(origin.begun == ["/a", "/b"])
    }

    @Test("RFC 9110 §9.2.2: retries by the request's own policy, if idempotent", .requirement("H7"))
    func policies() async throws {
        for (request, attempts) in [
            (ResourceRequest(url, retry: .never), 1), (ResourceRequest(url, retry: RetryPolicy(maxAttempts: 2)), 2),
            (ResourceRequest(url, method: .head), 5), (ResourceRequest(url, method: .put, content: Data("x".utf8)), 5),
            (ResourceRequest(url, method: .post, content: Data("x".utf8)), 1),
            (ResourceRequest(url, method: .patch), 1),
        ] {
            let transport = ScriptedTransport(.status(.serviceUnavailable))
            // Without pauses, so that the clock need not move.
            let fixture = try fixture(transport) { $0.retry.baseDelay = .zero }
            var request = request
            request.retry?.baseDelay = .zero
            await expectError(.status(503, url: url)) { try await fixture.loader.load(request) }
            #expect(transport.requestCount == attempts, "\(request.method) \(String(describing: request.retry))")
            #expect(transport.sent.allSatisfy { $0.body == request.content })
        }
    }

    @Test("A load cancelled during the pause is not retried; its pause ends", .requirement("H8"))
    func cancelledDuringPause() async throws {
        let transport = ScriptedTransport(.status(.serviceUnavailable), .ok("good".utf8))
        let fixture = try fixture(transport)
        let task = Task { try await fixture.loader.load(url) }
        await sleeper.waitForSleeps(1)
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
        await eventually { sleeper.sleeperCount == 0 }
        sleeper.advance(by: .seconds(100))
        #expect(try !fixture.loader.isLoading(ResourceRequest(url)))
        #expect(transport.requestCount == 1)
    }

    @Test("A new load during the pause retries immediately, once, for all waiters", .requirement("H6"))
    func newDemandDuringPause() async throws {
        let transport = ScriptedTransport(.status(.serviceUnavailable), .ok("good".utf8))
        let fixture = try fixture(transport)
        let first = Task { try await fixture.loader.load(url).text }
        await sleeper.waitForSleeps(1)
        #expect(try await fixture.loader.load(url).text == "good")
        #expect(try await first.value == "good")
        await eventually { sleeper.sleeperCount == 0 }
        sleeper.advance(by: .seconds(100))
        #expect(transport.requestCount == 2)
    }
}
