import TestSupport

@Suite("ResourceLoader: loads shared through the store", .timeLimit(.minutes(5))) struct SharedLoadTests {
    /// Two loaders with separate store objects, as in two processes.
    private struct Pair {
        let first: LoaderFixture
        let second: LoaderFixture

        init(_ transport: any HTTPTransport) throws {
            first = try LoaderFixture(transport: transport)
            second = try LoaderFixture(transport: transport, directory: first.directory)
        }
    }

    @Test("Two processes that load the same URLs concurrently send one request for each", .requirement("E1"))
    func once() async throws {
        let transport = ScriptedTransport { request, _ in
            await Task.yield()
            return .reply(200, [.cacheControl: "max-age=60"], request.path ?? "")
        }
        let pair = try Pair(transport)
        let requests = (0..<200).map { ResourceRequest("https://example.com/\($0)") }
        let (one, two) = (pair.first.loader.prefetch(requests), pair.second.loader.prefetch(requests.reversed()))
        let progress = await [one.finished(), two.finished()]
        #expect(progress.allSatisfy { $0.failed == 0 && $0.completed == 200 })
        #expect(transport.requestCount == 200)
        #expect(try pair.first.store.statistics().entries == 200)
    }

    @Test("A load that waits for another process gets the response that the other process stored", .requirement("E1"))
    func waiting() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let pair = try Pair(transport)
        async let one = pair.first.loader.load("https://example.com/a")
        await gate.reached(1)
        async let two = pair.second.loader.load("https://example.com/a")
        try await eventually { try pair.second.loader.isLoading(ResourceRequest("https://example.com/a")) }
        gate.open()
        #expect(try await one.source == .network)
        #expect(try await two.source == .disk)
        #expect(transport.requestCount == 1)
    }

    @Test("A process whose wait is zero, or over, asks the origin itself")
    func impatient() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let pair = try Pair(transport)
        async let one = pair.first.loader.load("https://example.com/a")
        await gate.reached(1)
        for wait in [Duration.zero, .milliseconds(1)] {
            pair.second.loader.configuration.processWait = wait
            async let two = pair.second.loader.load("https://example.com/a")
            await gate.reached(wait == .zero ? 2 : 3)
            pair.second.loader.cancelAll()
            _ = try? await two
        }
        gate.open()
        #expect(try await one.text == "body")
    }

    @Test("The wait for another process counts towards the timeout of a request")
    func waitAndTimeout() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "max-age=60"], "body"))
        let first = try LoaderFixture(transport: transport)
        let pauses = Mutex<[Duration]>([])
        let second = try LoaderFixture(transport: transport, directory: first.directory) {
            $0.sleep = { duration in
                pauses.withLock { $0.append(duration) }
                if duration > .seconds(5) { try await Task.sleep(for: .seconds(600)) }
            }
        }
        async let one = first.loader.load("https://example.com/a")
        await gate.reached(1)
        async let two = second.loader.load(ResourceRequest("https://example.com/a", timeout: .seconds(30)))
        await gate.reached(2)
        let waited = pauses.withLock { $0.filter { $0 <= .seconds(5) }.reduce(.zero, +) }
        let limits = pauses.withLock { $0.filter { $0 > .seconds(5) } }
        #expect(waited >= .seconds(9))
        #expect(limits == [.seconds(30) - waited])
        gate.open()
        #expect(try await one.text == "body")
        #expect(try await two.text == "body")
    }

    @Test("After a failed load, the waiting process sends the request")
    func failing() async throws {
        let gate = Gate()
        let count = Counter()
        let transport = ScriptedTransport { _, _ in
            let isFirst = count.next() == 1
            await gate.wait()
            return isFirst ? .reply(500) : .reply(200, [.cacheControl: "max-age=60"], "body")
        }
        let pair = try Pair(transport)
        async let one = pair.first.loader.load("https://example.com/a")
        await gate.reached(1)
        async let two = pair.second.loader.load("https://example.com/a")
        try await eventually { try pair.second.loader.isLoading(ResourceRequest("https://example.com/a")) }
        gate.open()
        _ = try? await one
        #expect(try await two.text == "body")
        #expect(transport.requestCount == 2)
    }
}
