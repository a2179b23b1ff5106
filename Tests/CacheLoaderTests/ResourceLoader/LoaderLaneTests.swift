import TestSupport

@Suite("ResourceLoader: lanes", .timeLimit(.minutes(5))) struct LoaderLaneTests {
    private let origin = HeldOrigin()
    private let executor = InOrderExecutor()

    /// A host for each path, unless a test is about hosts.
    private func request(_ path: String, _ lane: Lane = .urgent) -> ResourceRequest {
        ResourceRequest("https://host\(path.dropFirst()).example\(path)", lane: lane)
    }

    /// Begins a load. Consecutive calls enter in order.
    private func begin(_ fixture: LoaderFixture, _ request: ResourceRequest) -> Task<String, any Error> {
        Task(executorPreference: executor) { try await fixture.loader.load(request).text }
    }

    @Test("Of 20 urgent loads 6 run; a change to 2 is in effect immediately; a hit does not wait", .requirement("H1"))
    func width() async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        let hit = "https://example.com/hit"
        try await fixture.loader.insert(Data("hit".utf8), for: hit)
        let tasks = (0..<20).map { begin(fixture, request("/\($0)")) }
        await executor.settled()
        for number in 0..<6 { await origin.asked("/\(number)") }
        #expect(try await fixture.loader.load(hit).source == .disk)
        let head = try await fixture.loader.load(ResourceRequest(hit, method: .head))
        #expect(head.source == .disk)
        #expect(head.data.isEmpty)
        #expect(Set(origin.begun) == Set((0..<6).map { "/\($0)" }))

        fixture.loader.configuration.lanes.urgent = 2
        for number in 0..<4 {
            origin.open("/\(number)")
            #expect(try await tasks[number].value == "/\(number)")
        }
        #expect(origin.begun.count == 6, "two are under way still")
        origin.open("/4")
        await origin.asked("/6")
        #expect(origin.begun.count == 7)
        fixture.loader.configuration.lanes.urgent = 4
        await origin.asked("/7")
        await origin.asked("/8")
        #expect(origin.begun.count == 9)
        for number in 5..<20 { origin.open("/\(number)") }
        for number in 4..<20 { #expect(try await tasks[number].value == "/\(number)") }
        #expect(origin.most == 6)
        #expect(Array(origin.begun.dropFirst(9)).sorted() == (9..<20).map { "/\($0)" }.sorted())
    }

    @Test("A host has at most its share, and other hosts do not wait for it", .requirement("H1"))
    func perHost() async throws {
        let fixture = try LoaderFixture(transport: origin.transport) { $0.lanes.perHost = 1 }
        let one = begin(fixture, ResourceRequest("https://a.example/1"))
        let two = begin(fixture, ResourceRequest("https://a.example/2"))
        let other = begin(fixture, ResourceRequest("https://b.example/3"))
        await origin.asked("/1")
        await origin.asked("/3")
        origin.open("/3")
        #expect(try await other.value == "/3")
        #expect(origin.begun.sorted() == ["/1", "/3"])
        origin.open("/1", "/2")
        #expect(try await [one.value, two.value] == ["/1", "/2"])
    }

    @Test("By default a host whose loads hang does not block the loads of another host", .requirement("H1"))
    func hangingHost() async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        let hanging = (0..<12).map { begin(fixture, ResourceRequest("https://a.example/\($0)")) }
        await executor.settled()
        origin.open("/other")
        #expect(try await begin(fixture, ResourceRequest("https://b.example/other")).value == "/other")
        for number in 0..<12 { origin.open("/\(number)") }
        for (number, task) in hanging.enumerated() { #expect(try await task.value == "/\(number)") }
    }

    @Test("Background loads start only without urgent ones; running ones continue", .requirement("H2"))
    func background() async throws {
        let fixture = try LoaderFixture(transport: origin.transport) { $0.lanes.urgent = 1 }
        let background = ["/b1", "/b2"].map { begin(fixture, request($0, .background)) }
        let urgent = ["/u1", "/u2"].map { begin(fixture, request($0)) }
        await origin.asked("/b1")
        await origin.asked("/u1")
        origin.open("/b1")
        #expect(try await background[0].value == "/b1")
        origin.open("/u1")
        #expect(try await urgent[0].value == "/u1")
        await origin.asked("/u2")
        #expect(Set(origin.begun) == ["/b1", "/u1", "/u2"])
        origin.open("/u2")
        await origin.asked("/b2")
        #expect(origin.begun.last == "/b2")
        origin.open("/b2")
        #expect(try await urgent[1].value == "/u2")
        #expect(try await background[1].value == "/b2")
    }

    @Test("A parked urgent load does not block the background", .requirement("H2"))
    func parked() async throws {
        let reachability = ManualReachability(unreachable: ["down.example"])
        let parked = ScriptedTransport { [origin] request, content throws(TransportError) in
            if request.authority == "down.example" { throw TransportError(.cannotConnect) }
            return try await origin.transport.send(request, content: nil)
        }
        let fixture = try LoaderFixture(transport: parked) { configuration in
            configuration.retry = RetryPolicy()
            configuration.reachability = reachability
        }
        let waiting = begin(fixture, ResourceRequest("https://down.example/u"))
        let background = begin(fixture, request("/b", .background))
        origin.open("/b")
        #expect(try await background.value == "/b")
        #expect(try fixture.loader.isLoading(ResourceRequest("https://down.example/u")))
        waiting.cancel()
        await #expect(throws: LoadError.cancelled) { try await waiting.value }
    }

    @Test("An urgent load promotes a queued background load: 1 request, both end together", .requirement("H3"))
    func promotion() async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        let tasks = [
            begin(fixture, request("/b1", .background)), begin(fixture, request("/b2", .background)),
            begin(fixture, request("/x", .background)), begin(fixture, request("/x")),
        ]
        // Starts before /b2, and runs at the same time as /b1.
        await origin.asked("/b1")
        await origin.asked("/x")
        origin.open("/x")
        #expect(try await [tasks[2].value, tasks[3].value] == ["/x", "/x"])
        #expect(origin.begun.sorted() == ["/b1", "/x"])
        origin.open("/b1", "/b2")
        #expect(try await [tasks[0].value, tasks[1].value] == ["/b1", "/b2"])
        #expect(origin.begun.sorted() == ["/b1", "/b2", "/x"])
    }

    @Test("Loads of either lane join a running load of the other", .requirement("H3"), arguments: Lane.allCases)
    func joining(first: Lane) async throws {
        let fixture = try LoaderFixture(transport: origin.transport)
        let tasks = [first, first == .urgent ? .background : .urgent].map { begin(fixture, request("/x", $0)) }
        await executor.settled()
        await origin.asked("/x")
        origin.open("/x")
        for task in tasks { #expect(try await task.value == "/x") }
        #expect(origin.begun == ["/x"])
    }

    @Test(
        "A queued load moves to the background with all its waiters; an unknown load is no error", .requirement("H4"),
        arguments: [HTTPRequest.Method.get, .put])
    func demotion(method: HTTPRequest.Method) async throws {
        let fixture = try LoaderFixture(transport: origin.transport) { $0.lanes.urgent = 1 }
        let paths = method == .get ? ["/1", "/x", "/x", "/2"] : ["/1", "/x", "/2"]
        let moved = ResourceRequest(request("/x").url, method: method)
        let tasks = paths.map { begin(fixture, $0 == "/x" ? moved : request($0)) }
        await executor.settled()
        fixture.loader.configuration.logOptions = []
        try fixture.loader.setLane(.background, of: moved)
        try fixture.loader.setLane(.background, of: request("/unknown"))
        #expect(throws: LoadError.self) { try fixture.loader.setLane(.urgent, of: ResourceRequest("no URL")) }
        for path in ["/1", "/2", "/x"] {
            await origin.asked(path)
            origin.open(path)
        }
        for (path, task) in zip(paths, tasks) { #expect(try await task.value == path) }
        #expect(origin.begun == ["/1", "/2", "/x"])
    }

    @Test(
        "A running transfer continues in the other lane, without a restart", .requirement("H4"),
        arguments: Lane.allCases)
    func movingWhatRuns(lane: Lane) async throws {
        let fed = FedBody("ha")
        let transport = ScriptedTransport { _, _ in fed.response(.ok, [.cacheControl: "max-age=60"]) }
        let fixture = try LoaderFixture(transport: transport)
        let request = request("/x", lane == .urgent ? .background : .urgent)
        let tasks = (0..<2).map { _ in begin(fixture, request) }
        await fed.asked(2)
        await executor.settled()
        try fixture.loader.setLane(lane, of: request)
        fed.feed("lf")
        fed.end()
        for task in tasks { #expect(try await task.value == "half") }
        #expect(transport.requestCount == 1)
        // Two chunks and the end: one body.
        #expect(fed.pullCount == 3)
    }

    @Test("A load cancelled in the queue leaves the lane, and sends no request", .requirement("H8"))
    func cancelledInLane() async throws {
        let fixture = try LoaderFixture(transport: origin.transport) { $0.lanes.urgent = 1 }
        let paths = ["/1", "/2", "/3"]
        let tasks = paths.map { begin(fixture, request($0)) }
        let background = begin(fixture, request("/b", .background))
        await executor.settled()
        for task in [tasks[1], background] {
            task.cancel()
            await #expect(throws: LoadError.cancelled) { try await task.value }
        }
        for path in ["/2", "/b"] { #expect(try !fixture.loader.isLoading(request(path))) }
        origin.open("/1", "/2", "/3", "/b")
        #expect(try await [tasks[0].value, tasks[2].value] == ["/1", "/3"])
        #expect(origin.begun == ["/1", "/3"])
    }
}
