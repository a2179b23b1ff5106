import TestSupport

@Suite("ResourceLoader: abandoned loads", .timeLimit(.minutes(5))) struct LoaderAbandonmentTests {
    private let url = "https://example.com/a"

    /// Begins a load, cancels it during its transfer, and expects that it ends immediately.
    private func cancel(_ fixture: LoaderFixture, _ request: ResourceRequest, once isUnderWay: () async -> Void) async {
        let task = Task { try await fixture.loader.load(request) }
        await isUnderWay()
        task.cancel()
        await #expect(throws: LoadError.cancelled) { try await task.value }
    }

    @Test(
        ".stop cancels the transfer, before the head or in the body; nothing is stored", .requirement("E5"),
        arguments: [0, 1, 2])
    func stopping(chunks: Int) async throws {
        let (fed, gate) = (FedBody(), Gate())
        for _ in 0..<chunks { fed.feed("half") }
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            if chunks == 0 { await gate.wait() }
            // So little is missing that a cache would fetch the rest.
            return fed.response(.ok, [.cacheControl: "max-age=60", .contentLength: "9"])
        }
        await cancel(fixture, ResourceRequest(url)) {
            if chunks == 0 { await gate.reached(1) } else { await fed.asked(chunks + 1) }
        }
        await fed.stopped()
        #expect(try !fixture.loader.isLoading(ResourceRequest(url)))
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try fixture.blobs.isEmpty)
    }

    @Test(
        ".finishAndStore completes and stores; the next load makes no request", .requirement("E5"),
        arguments: [true, false])
    func finishing(isInBody: Bool) async throws {
        let (fed, gate) = (FedBody("half"), Gate())
        let (transport, fixture) = try LoaderFixture.scripted { _, _ in
            if !isInBody { await gate.wait() }
            return fed.response(.ok, [.cacheControl: "max-age=60"])
        }
        let request = ResourceRequest(url, abandonment: .finishAndStore)
        await cancel(fixture, request) { if isInBody { await fed.asked(2) } else { await gate.reached(1) } }
        #expect(try fixture.loader.isLoading(request))
        gate.open()
        fed.feed("half")
        fed.end()
        try await eventually { try !fixture.loader.isLoading(request) }
        let resource = try await fixture.loader.load(url)
        #expect(resource.text == "halfhalf")
        #expect(resource.source == .disk)
        #expect(transport.requestCount == 1)
    }

    @Test("One waiter with finishAndStore is enough; a load joins a transfer without waiters", .requirement("E5"))
    func finishingForOne() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        await cancel(fixture, ResourceRequest(url, abandonment: .finishAndStore)) { await origin.asked("/a") }
        let executor = InOrderExecutor()
        let stopping = Task(executorPreference: executor) { try await fixture.loader.load(url) }
        await executor.settled()
        stopping.cancel()
        await #expect(throws: LoadError.cancelled) { try await stopping.value }
        let joining = Task(executorPreference: executor) { try await fixture.loader.load(url) }
        await executor.settled()
        origin.open("/a")
        #expect(try await joining.value.source == .network)
        #expect(origin.begun == ["/a"])
    }

    @Test("A waiter with finishAndStore that joins a load makes it finish, too", .requirement("E5"))
    func finishingForAJoiner() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport)
        let executor = InOrderExecutor()
        let waiters = [Abandonment.stop, .finishAndStore].map { abandonment in
            Task(executorPreference: executor) {
                try await fixture.loader.load(ResourceRequest(url, abandonment: abandonment))
            }
        }
        await executor.settled()
        await origin.asked("/a")
        for waiter in waiters {
            waiter.cancel()
            await #expect(throws: LoadError.cancelled) { try await waiter.value }
        }
        #expect(try fixture.loader.isLoading(ResourceRequest(url)))
        origin.open("/a")
        try await eventually { try !fixture.loader.isLoading(ResourceRequest(url)) }
        #expect(try await fixture.loader.load(url).source == .disk)
        #expect(origin.begun == ["/a"])
    }

    /// The result after the cancellation, from a transport that ignores the cancellation.
    enum Late: String, CaseIterable {
        case failure, error, success, emptySuccess, redirect

        var status: HTTPResponse.Status {
            switch self {
            case .failure, .success, .emptySuccess: .ok
            case .error: .notFound
            case .redirect: .found
            }
        }
    }

    @Test(
        "After a cancellation, a late failure or success changes nothing", .requirement("E6", "H8"),
        arguments: Late.allCases)
    func lateAnswer(late: Late) async throws {
        let (fed, gate, ended) = (FedBody(heedsCancellation: false), Gate(), Gate())
        switch late {
        case .success: fed.feed("late")
        case .failure: fed.fail()
        case .emptySuccess, .error, .redirect: break
        }
        fed.end()
        let length = late == .success ? "4" : "0"
        let transport = ScriptedTransport { _, _ in
            // A separate task, which the cancellation does not reach.
            await Task { await gate.wait() }.value
            defer { ended.open() }
            return fed.response(late.status, [.cacheControl: "max-age=60", .contentLength: length, .location: "/b"])
        }
        let fixture = try LoaderFixture(transport: transport) { $0.retry = RetryPolicy() }
        await cancel(fixture, ResourceRequest(url)) { await gate.reached(1) }
        gate.open()
        await ended.wait()
        await fed.stopped()
        #expect(try fixture.store.statistics().entries == 0)
        #expect(try fixture.store.statistics().failingKeys == 0)
        #expect(try !fixture.loader.isLoading(ResourceRequest(url)))
        #expect(transport.requestCount == 1)
    }

    @Test("Bytes after a stop are not stored, and later loads are whole", .requirement("E6"))
    func lateBytes() async throws {
        let (fed, number) = (FedBody("half", heedsCancellation: false), Counter())
        let (_, fixture) = try LoaderFixture.scripted { _, _ in
            number.next() == 1
                ? fed.response(.ok, [.cacheControl: "max-age=60", .contentLength: "8"])
                : .reply(200, [.cacheControl: "max-age=60"], "whole")
        }
        await cancel(fixture, ResourceRequest(url)) { await fed.asked(2) }
        await fed.cancelled()
        #expect(try await fixture.loader.load(url).text == "whole")
        fed.feed("half")
        fed.end()
        await fed.stopped()
        #expect(try fixture.loader.peek(url) == Data("whole".utf8))
        #expect(try fixture.blobs.count == 1)
    }

    @Test("A load cancelled before its transfer sends nothing", .requirement("E6", "H8"))
    func cancelledAtOnce() async throws {
        let (transport, fixture) = try LoaderFixture.sending(to: ScriptedTransport(.ok("body".utf8)))
        let started = Gate()
        for _ in 0..<100 {
            let task = Task {
                await started.wait()
                return try await fixture.loader.load(url)
            }
            task.cancel()
            await #expect(throws: LoadError.cancelled) { try await task.value }
        }
        #expect(transport.requestCount == 0)
    }

    @Test("cancelAll ends all loads immediately, and later loads succeed", .requirement("E6"))
    func cancellingAll() async throws {
        let origin = HeldOrigin()
        let fixture = try LoaderFixture(transport: origin.transport) { $0.lanes.urgent = 1 }
        let executor = InOrderExecutor()
        let tasks = ["/a", "/b", "/a"].map { path in
            Task(executorPreference: executor) { try await fixture.loader.load("https://example.com\(path)") }
        }
        await executor.settled()
        await origin.asked("/a")
        fixture.loader.cancelAll()
        for task in tasks { await #expect(throws: LoadError.cancelled) { try await task.value } }
        #expect(try !fixture.loader.isLoading(ResourceRequest(url)))
        #expect(origin.begun == ["/a"])
        origin.open("/a", "/b")
        #expect(try await fixture.loader.load(url).text == "/a")
        #expect(origin.begun == ["/a", "/a"])
    }
}
