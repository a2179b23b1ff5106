import TestSupport

@Suite("ResourceLoader: the order of waiters", .timeLimit(.minutes(5))) struct LoaderOrderTests {
    private let url = "https://example.com/a"

    /// The finished waiters, in order.
    private final class Log: Sendable {
        /// Guards the numbers.
        private let numbers = Mutex<[Int]>([])

        var entries: [Int] { numbers.withLock { $0 } }

        func append(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// Begins loads in order. Returns once all of them wait.
    private func begin(_ count: Int, _ fixture: LoaderFixture, _ finished: Log) async -> [Task<String, any Error>] {
        let executor = InOrderExecutor()
        let tasks = (0..<count).map { number in
            Task<String, any Error>(executorPreference: executor) {
                defer { finished.append(number) }
                return try await fixture.loader.load(url).text
            }
        }
        await executor.settled()
        return tasks
    }

    @Test("Waiters finish in order of arrival; loads that they start are neither lost nor merged", .requirement("E2"))
    func order() async throws {
        let gate = Gate()
        let transport = ScriptedTransport.held(by: gate, .reply(200, [.cacheControl: "no-store"], "body"))
        let fixture = try LoaderFixture(transport: transport)
        let (executor, finished, again) = (InOrderExecutor(), Log(), Log())
        let tasks = (0..<20).map { number in
            // Some loads are in the background: sharing a request with urgent loads changes nothing.
            let request = ResourceRequest(url, lane: number % 3 == 0 ? .background : .urgent)
            return Task(executorPreference: executor) {
                _ = try await fixture.loader.load(request)
                finished.append(number)
                let text = try await fixture.loader.load(request).text
                again.append(number)
                return text
            }
        }
        await executor.settled()
        await gate.reached(1)
        gate.admit()
        // All tasks wait again: the gate holds the only request.
        await eventually { finished.entries.count == 20 }
        await executor.settled()
        #expect(finished.entries == Array(0..<20))
        await gate.reached(2)
        gate.open()
        for task in tasks { #expect(try await task.value == "body") }
        #expect(again.entries == Array(0..<20))
        #expect(transport.requestCount == 2)
    }

    @Test("A cancelled waiter ends immediately, the others later and in their order", .requirement("E2"))
    func orderWithoutSome() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let finished = Log()
        let tasks = await begin(10, fixture, finished)
        for number in [7, 0, 3] {
            tasks[number].cancel()
            await #expect(throws: LoadError.cancelled) { try await tasks[number].value }
        }
        origin.open("/a")
        for number in [1, 2, 4, 5, 6, 8, 9] { #expect(try await tasks[number].value == "/a") }
        #expect(finished.entries == [7, 0, 3, 1, 2, 4, 5, 6, 8, 9])
        #expect(origin.begun == ["/a"])
    }

    @Test("Waiters receive a failure in the order of their arrival", .requirement("E2"))
    func failureOrder() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport.held(by: gate, .reply(404)))
        let finished = Log()
        let tasks = await begin(10, fixture, finished)
        gate.open()
        for task in tasks { await expectError(.status(404, url: url)) { try await task.value } }
        #expect(finished.entries == Array(0..<10))
        #expect(transport.requestCount == 1)
    }

    @Test("isLoading is true from the first waiter until the last one has its result or has left", .requirement("E8"))
    func isLoading() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let request = ResourceRequest(url)
        #expect(try !fixture.loader.isLoading(request))
        let executor = InOrderExecutor()
        let tasks = (0..<2).map { _ in Task(executorPreference: executor) { try await fixture.loader.load(request) } }
        await executor.settled()
        #expect(try fixture.loader.isLoading(request))
        #expect(try !fixture.loader.isLoading(ResourceRequest("https://example.com/b")))
        tasks[0].cancel()
        await #expect(throws: LoadError.cancelled) { try await tasks[0].value }
        #expect(try fixture.loader.isLoading(request))
        tasks[1].cancel()
        await #expect(throws: LoadError.cancelled) { try await tasks[1].value }
        #expect(try !fixture.loader.isLoading(request), "stopped")

        let last = Task(executorPreference: executor) { try await fixture.loader.load(request) }
        await executor.settled()
        #expect(try fixture.loader.isLoading(request))
        origin.open("/a")
        #expect(try await last.value.text == "/a")
        // A task may resume before the loader has released its waiters.
        try await eventually { try !fixture.loader.isLoading(request) }
        #expect(throws: LoadError.self) { try fixture.loader.isLoading(ResourceRequest("no URL")) }
    }

    @Test("isLoading finds a load of any method, also after a change of the configuration", .requirement("E8"))
    func isLoadingAnyMethod() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let get = ResourceRequest(url)
        let post = ResourceRequest(url, method: .post, content: Data("a".utf8))
        let others = [
            ResourceRequest(url, method: .post, content: Data("b".utf8)),
            ResourceRequest(url, headerFields: [.accept: "text/plain"]),
        ]
        let tasks = [get, post, post].map { request in Task { try await fixture.loader.load(request).text } }
        await origin.asked("/a", 3)
        fixture.loader.configuration.logOptions = []
        fixture.loader.configuration.policy.mode = .cacheFirst
        for request in [get, post] { #expect(try fixture.loader.isLoading(request)) }
        #expect(fixture.loader.waiterCount(of: post) == 2)
        for request in others { #expect(try !fixture.loader.isLoading(request)) }
        origin.open("/a")
        for task in tasks { #expect(try await task.value == "/a") }
        for request in [get, post] { try await eventually { try !fixture.loader.isLoading(request) } }
    }

    @Test("isLoading is true between a failed attempt and the next one", .requirement("E8"))
    func isLoadingBetweenAttempts() async throws {
        let sleeper = ManualClock()
        let transport = ScriptedTransport(.status(.serviceUnavailable), .ok("good".utf8))
        let fixture = try LoaderFixture(transport: transport) { configuration in
            configuration.retry = RetryPolicy()
            configuration.sleep = sleeper.sleep
        }
        let task = Task { try await fixture.loader.load(url).text }
        await sleeper.waitForSleeps(1)
        #expect(try fixture.loader.isLoading(ResourceRequest(url)))
        sleeper.advance(by: .seconds(1))
        #expect(try await task.value == "good")
        try await eventually { try !fixture.loader.isLoading(ResourceRequest(url)) }
    }
}
