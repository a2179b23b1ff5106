import TestSupport

@Suite("ResourceLoader: requests of all kinds", .timeLimit(.minutes(5))) struct LoaderMethodTests {
    private let url = "https://example.com/a"

    @Test("Two POSTs are two requests, concurrent or not, and leave no row", .requirement("K3"))
    func posts() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { _, content in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], String(decoding: content ?? Data(), as: UTF8.self))
        }
        let requests = ["x", "y", "y"].map { ResourceRequest(url, method: .post, content: Data($0.utf8)) }
        let tasks = requests.map { request in Task { try await fixture.loader.load(request).text } }
        await gate.reached(3)
        gate.open()
        for (task, text) in zip(tasks, ["x", "y", "y"]) { #expect(try await task.value == text) }
        #expect(try await fixture.loader.load(requests[0]).source == .network)
        #expect(transport.requestCount == 4)
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("HEADs share a request, but not with a GET; a stored GET answers them", .requirement("K3"))
    func heads() async throws {
        let gate = Gate()
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            await gate.wait()
            let fields: HTTPFields = [.cacheControl: "max-age=60", .contentLength: "4"]
            return request.method == .head ? .reply(200, fields) : .reply(200, fields, "body")
        }
        let executor = InOrderExecutor()
        let head = ResourceRequest(url, method: .head)
        let tasks = [head, head, ResourceRequest(url)].map { request in
            Task(executorPreference: executor) { try await fixture.loader.load(request) }
        }
        await executor.settled()
        await gate.reached(2)
        gate.open()
        for (task, text) in zip(tasks, ["", "", "body"]) { #expect(try await task.value.text == text) }
        #expect(transport.requestCount == 2)
        #expect(try await fixture.loader.load(head).source == .disk)
        #expect(transport.requestCount == 2)
    }

    @Test("Forwards a caller's own condition, and its 304 reaches the caller, stored or not", .requirement("K3"))
    func ownCondition() async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.headerFields[.ifNoneMatch] == "\"1\""
                ? .reply(304, [.eTag: "\"1\""])
                : .reply(200, [.eTag: "\"1\"", .cacheControl: "max-age=60"], "body")
        }
        let request = ResourceRequest(url, headerFields: [.ifNoneMatch: "\"1\""])
        for isStored in [false, true] {
            if isStored { _ = try await fixture.loader.load(url) }
            let resource = try await fixture.loader.load(request)
            #expect(resource.status == .notModified)
            #expect(resource.data.isEmpty)
        }
        #expect(transport.requests.first?.headerFields[.ifNoneMatch] == "\"1\"")
        #expect(try await fixture.loader.load(url).text == "body")
    }

    @Test("A load beyond its timeout is timedOut, which is not final; its transfer is stopped", .requirement("K3"))
    func timeout() async throws {
        let (sleeper, gate, wasCancelled) = (ManualClock(), Gate(), Gate())
        let transport = ScriptedTransport { _, _ in
            await gate.wait()
            if Task.isCancelled { wasCancelled.open() }
            return .reply(200, [.cacheControl: "max-age=60"], "late")
        }
        let fixture = try LoaderFixture(transport: transport) { $0.sleep = sleeper.sleep }
        let task = Task { try await fixture.loader.load(ResourceRequest(url, timeout: .seconds(30))) }
        await gate.reached(1)
        await sleeper.waitForSleeps(1)
        #expect(sleeper.sleeps == [.seconds(30)])
        sleeper.advance(by: .seconds(30))
        let error = await #expect(throws: LoadError.self) { try await task.value }
        guard case .transport(let reason, url) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.code == .timedOut)
        #expect(error?.isFatal == false)
        await wasCancelled.wait()
        #expect(try fixture.store.statistics().entries == 0)
    }

    @Test("A timeout does not delay a load in time", .requirement("K3"))
    func inTime() async throws {
        let sleeper = ManualClock()
        let fixture = try LoaderFixture(transport: ScriptedTransport(.ok("body".utf8))) { $0.sleep = sleeper.sleep }
        #expect(try await fixture.loader.load(ResourceRequest(url, timeout: .seconds(30))).text == "body")
        #expect(sleeper.sleeperCount == 0)
    }

    // MARK: Redirects

    struct RedirectStep: Sendable {
        let status: Int
        let method: HTTPRequest.Method
        let next: HTTPRequest.Method

        init(_ status: Int, _ method: HTTPRequest.Method, _ next: HTTPRequest.Method) {
            (self.status, self.method, self.next) = (status, method, next)
        }
    }

    @Test(
        "RFC 9110 §15.4: a redirect keeps the method, except that 303 asks for GET, and so do 301 and 302 after POST",
        arguments: [
            RedirectStep(301, .get, .get), RedirectStep(301, .head, .head), RedirectStep(301, .post, .get),
            RedirectStep(301, .put, .put), RedirectStep(302, .get, .get), RedirectStep(302, .head, .head),
            RedirectStep(302, .post, .get), RedirectStep(302, .delete, .delete), RedirectStep(303, .get, .get),
            RedirectStep(303, .head, .head), RedirectStep(303, .post, .get), RedirectStep(303, .put, .get),
            RedirectStep(307, .get, .get), RedirectStep(307, .post, .post), RedirectStep(308, .head, .head),
            RedirectStep(308, .post, .post),
        ])
    func redirects(_ hop: RedirectStep) async throws {
        let (transport, fixture) = try LoaderFixture.scripted { request, _ in
            request.path == "/a" ? .reply(.init(code: hop.status), [.location: "/b"]) : .reply(200, [:])
        }
        let content: Data? = [.post, .put].contains(hop.method) ? Data("content".utf8) : nil
        let fields: HTTPFields = [
            .contentType: "text/plain", .contentLanguage: "en", .accept: "*/*", .authorization: "Basic x",
        ]
        let request = ResourceRequest(url, method: hop.method, content: content, headerFields: fields)
        #expect(try await fixture.loader.load(request).url == "https://example.com/b")
        let sent = transport.sent
        #expect(sent.map(\.request.method) == [hop.method, hop.next])
        let keepsContent = hop.method == hop.next
        #expect(sent.map(\.body) == [content, keepsContent ? content : nil])
        let last = try #require(sent.last?.request.headerFields)
        #expect(last[.contentType] == (keepsContent ? "text/plain" : nil))
        #expect(last[.contentLanguage] == (keepsContent ? "en" : nil))
        #expect(last[.accept] == "*/*")
        #expect(last[.authorization] == "Basic x")
    }
}
