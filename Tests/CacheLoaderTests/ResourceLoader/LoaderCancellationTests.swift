import TestSupport

@Suite("ResourceLoader: cancelling at any time", .timeLimit(.minutes(5))) struct LoaderCancellationTests {
    @Test("Cancelling a handle before its load waits for a request also ends the load", .requirement("E4"))
    func atOnce() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let (ends, continuation) = AsyncStream<String>.makeStream()
        for number in 0..<100 {
            let handle = fixture.loader.start(ResourceRequest("https://example.com/\(number)")) { event in
                if event.isLast { continuation.yield(event.name) }
            }
            handle.cancel()
        }
        var iterator = ends.makeAsyncIterator()
        for _ in 0..<100 { #expect(await iterator.next() == "cancelled") }
    }

    @Test("Cancelling a resource ends all its loads immediately, no other; later loads succeed", .requirement("E4"))
    func resource() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let loader = fixture.loader
        let url = "https://example.com/a"
        // Not all of these loads share a transfer.
        let requests = [
            ResourceRequest(url), ResourceRequest(url), ResourceRequest(url, method: .head),
            ResourceRequest(url, headerFields: [.accept: "text/plain"]), ResourceRequest(url, lane: .background),
            ResourceRequest(url, abandonment: .finishAndStore),
        ]
        let cancelled = requests.map { request in Task { try await loader.load(request).text } }
        let other = Task { try await loader.load("https://example.com/b").text }
        await eventually { requests.prefix(1).allSatisfy { loader.waiterCount(of: $0) == 4 } }
        await eventually { loader.waiterCount(of: requests[2]) == 1 && loader.waiterCount(of: requests[3]) == 1 }
        await eventually { origin.begun.contains("/b") }
        // The same resource in another spelling.
        try loader.cancel("HTTPS://EXAMPLE.com:443/a")
        for task in cancelled { await #expect(throws: LoadError.cancelled) { try await task.value } }
        for request in requests { #expect(try !loader.isLoading(request)) }
        #expect(throws: LoadError.self) { try loader.cancel("no URL") }
        origin.open("/b")
        #expect(try await other.value == "/b")
        origin.open("/a")
        #expect(try await loader.load(url).text == "/a")
    }

    @Test(
        "Cancelling a POST leaves the GETs of the URL, and cancelling a GET ends only the safe requests",
        .requirement("E4"), arguments: [[.post], [.put], [.get, .head]] as [[HTTPRequest.Method]])
    func methods(_ cancelled: [HTTPRequest.Method]) async throws {
        let origin = HeldOrigin()
        let loader = try LoaderFixture(transport: origin.transport).loader
        let url = "https://example.com/a"
        let methods: [HTTPRequest.Method] = [.get, .head, .post, .put]
        let loads = methods.map { method in Task { try await loader.load(ResourceRequest(url, method: method)) } }
        await origin.asked("/a", 4)
        try loader.cancel(ResourceRequest(url, method: try #require(cancelled.last)))
        for (method, load) in zip(methods, loads) where cancelled.contains(method) {
            await #expect(throws: LoadError.cancelled) { try await load.value }
        }
        origin.open("/a")
        for (method, load) in zip(methods, loads) where !cancelled.contains(method) {
            #expect(try await load.value.status == .ok)
        }
    }

    @Test(
        "Cancelling a resource, or all, during a load's lookup prevents its transfer", .requirement("E4"),
        arguments: ["a", "b", nil] as [String?])
    func whileLookingUp(_ name: String?) async throws {
        let origin = HeldOrigin()
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        let fixture = try LoaderFixture(transport: origin.transport) { configuration in
            // A lookup reads the clock.
            let clock = configuration.clock
            configuration.clock = {
                cancel.withLock { $0.take() }?()
                return clock()
            }
        }
        let loader = fixture.loader
        origin.open("/a")
        cancel.withLock {
            $0 = { if let name { try? loader.cancel("https://example.com/\(name)") } else { loader.cancelAll() } }
        }
        if name != "b" {
            await #expect(throws: LoadError.cancelled) { try await loader.load("https://example.com/a") }
            #expect(origin.begun.isEmpty)
        }
        #expect(try await loader.load("https://example.com/a").text == "/a")
    }

    @Test(
        "A load cancelled while its processor runs throws cancelled, even if the processor goes on",
        .requirement("E4"), arguments: [true, false])
    func whileProcessing(heedsCancellation: Bool) async throws {
        let gate = Gate()
        let fixture = try LoaderFixture(transport: HeldOrigin().transport)
        let url = "https://example.com/a"
        try await fixture.loader.insert(Data("stored".utf8), for: url)
        let processor = ClosureProcessor<Data, String>(ProcessorID("held")) { _, _ in
            await gate.wait()
            if heedsCancellation { try Task.checkCancellation() }
            return "made"
        }
        let task = Task { try await fixture.loader.load(url, as: processor).value }
        await gate.reached(1)
        task.cancel()
        gate.open()
        await #expect(throws: LoadError.cancelled) { try await task.value }
    }

    @Test("An attempt ends at its timeout, even if its transport ignores the cancellation", .requirement("K3"))
    func timeoutOfADeafTransport() async throws {
        let deaf = Gate()
        let transport = ScriptedTransport { _, _ in
            await withCheckedContinuation { continuation in
                Task.detached {
                    await deaf.wait()
                    continuation.resume()
                }
            }
            return .reply(200, [:], "late")
        }
        let sleeping = Gate()
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.sleep = { _ in await sleeping.wait() }
        }
        let request = ResourceRequest("https://example.com/a", timeout: .seconds(3))
        let load = Task { try await fixture.loader.load(request) }
        await deaf.reached(1)
        sleeping.open()
        await #expect { try await load.value } throws: { error in
            if case .transport(let error, _)? = error as? LoadError { error.code == .timedOut } else { false }
        }
        deaf.open()
    }

    @Test(
        "A handle cancelled while its origin is blocked ends with cancelled", .requirement("E4"),
        arguments: [true, false])
    func whileBlocked(deliversStale: Bool) async throws {
        let (gate, count) = (Gate(), Counter())
        let transport = ScriptedTransport { _, _ in
            count.next() == 1 ? .reply(200, [.cacheControl: "max-age=1"], "stored") : .reply(500)
        }
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.negativeCaching = NegativeCaching(lifetime: .seconds(60), maxAttempts: 1)
            configuration.policy.staleIfError = deliversStale ? .zero : .seconds(600)
        }
        let request = ResourceRequest("https://example.com/a")
        _ = try await fixture.loader.load(request)
        fixture.clock.advance(by: 10)
        _ = try? await fixture.loader.load(request)
        let processor = ClosureProcessor<Data, String>(ProcessorID("deaf")) { _, _ in
            await gate.wait()
            return "made"
        }
        let (events, continuation) = AsyncStream<String>.makeStream()
        let handle = fixture.loader.start(request, as: processor, deliversStale: deliversStale) { event in
            continuation.yield(event.name)
            if event.isLast { continuation.finish() }
        }
        await gate.reached(1)
        handle.cancel()
        gate.open()
        var last: String?
        for await event in events { last = event }
        #expect(last == "cancelled")
        #expect(transport.requestCount == 2)
    }
}
