#if Curl || canImport(Darwin)
import TestSupport
import URLSessionCompatibility
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Delegates of a session with a cache", .timeLimit(.minutes(5))) struct ProtocolDelegateTests {
    @Test("A delegate is called in the order of URLSession")
    func order() async throws {
        let fixture = try await ProtocolFixture { request in
            request.path == "/a"
                ? .ok("body".utf8) : OriginReply(status: .found, fields: [.location: "/a"])
        }
        let recorder = TaskRecorder()
        _ = try await recorder.result(of: fixture.session(recorder).dataTask(with: fixture.request("/old")))
        #expect(recorder.callbacks == ["redirect 302", "response", "data", "end"])
    }

    @Test(
        "A task that its delegate cancels in a callback ends as cancelled, once",
        arguments: ["redirect 303", "stream", "response", "data"])
    func cancelling(callback: String) async throws {
        let gate = Gate()
        let fixture = try await ProtocolFixture { request in
            guard request.path == "/a" else { return OriginReply(status: .seeOther, fields: [.location: "/a"]) }
            return .ok(Data(count: 200_000)).delivered(.paced(bytes: 100_000) { if $0 == 1 { await gate.wait() } })
        }
        let recorder = TaskRecorder()
        recorder.content = Data("content".utf8)
        recorder.onCallback = { name, task in if name == callback { task.cancel() } }
        let session = fixture.session(recorder)
        let request = try fixture.request("/old", "POST")
        await expect(.cancelled) { _ = try await recorder.result(of: session.uploadTask(withStreamedRequest: request)) }
        gate.open()
        let all = ["stream", "redirect 303", "response"]
        let expected = callback == "data" ? all : Array(all.prefix(through: try #require(all.firstIndex(of: callback))))
        #expect(recorder.callbacks.filter { $0 != "data" } == expected + ["end"])
        #expect(recorder.callbacks.contains("data") == (callback == "data"))
    }

    @Test("Cancelling the task of an asynchronous method ends its request, before and after the head")
    func cancellingMethod() async throws {
        let gate = Gate()
        let fixture = try await ProtocolFixture { request in
            if request.path == "/head" { await gate.wait() }
            // The cache receives the rest of a shorter body.
            return .ok(Data(count: 200_000)).delivered(.paced(bytes: 100_000) { if $0 == 1 { await gate.wait() } })
        }
        let session = fixture.session()
        for (path, number) in [("/head", 1), ("/body", 2)] {
            let request = try fixture.request(path)
            let task = Task { try await session.data(for: request) }
            await gate.reached(number)
            task.cancel()
            await expect(.cancelled) { _ = try await task.value }
        }
        // The origin sees the client leave: both replies end although the gate is closed.
        await eventually { gate.waiters == 0 }
    }

    @Test("A suspended task delivers nothing until it is resumed")
    func suspending() async throws {
        let gate = Gate()
        let fixture = try await ProtocolFixture { _ in
            .ok("onetwo".utf8).delivered(.paced(bytes: 3) { if $0 == 1 { await gate.wait() } })
        }
        let recorder = TaskRecorder()
        let session = fixture.session(recorder)
        let isFirst = FirstTime()
        recorder.onCallback = { name, task in
            guard name == "data", isFirst.isFirst() else { return }
            task.suspend()
            gate.open()
        }
        let task = try session.dataTask(with: fixture.request("/a"))
        async let result = recorder.result(of: task)
        await eventually { task.state == .suspended }
        // Another task passes all its steps, so the suspended one had the time to go on.
        _ = try await fixture.session().data(for: fixture.request("/b"))
        #expect(recorder.callbacks == ["response", "data"])
        task.resume()
        #expect(try await result.0 == Data("onetwo".utf8))
    }

    #if canImport(FoundationNetworking)
    @Test("The cache reads a body on only while the delegate takes it")
    func pace() async throws {
        let pulls = CallCount()
        let transport = ScriptedTransport { request, _ in
            guard request.path == "/a" else { return .reply(200) }
            return TransportResponse(
                head: HTTPResponse(status: .ok),
                body: TransportBody { () async throws(TransportError) in
                    pulls.increment()
                    return pulls.value <= 1_000 ? Data(count: 16_384) : nil
                })
        }
        let fixture = try SessionFixture(transport)
        let (entered, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let recorder = TaskRecorder()
        let isFirst = FirstTime()
        recorder.onCallback = { name, _ in
            guard name == "data", isFirst.isFirst() else { return }
            entered.signal()
            release.wait()
        }
        let session = URLSession(
            configuration: .ephemeral.cached(by: fixture.cache), delegate: recorder, delegateQueue: nil)
        async let result = recorder.result(of: session.dataTask(with: .to("/a")))
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                entered.wait()
                continuation.resume()
            }
        }
        // Other loads pass, so this one had the time to read on.
        for _ in 0..<100 { _ = try await fixture.cache.data(for: .to("/b", "POST")) }
        #expect(pulls.value < 50)
        release.signal()
        #expect(try await result.0.count == 16_384_000)
    }

    @Test("A 401 asks the delegate for a credential, as FoundationNetworking does")
    func challenge() async throws {
        let fixture = try await ProtocolFixture { request in
            request.fields[.authorization] == nil
                ? OriginReply(status: .unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"r\""])
                : .ok("secret".utf8)
        }
        let recorder = TaskRecorder()
        recorder.credential = URLCredential(user: "u", password: "p", persistence: .none)
        let session = fixture.session(recorder)
        let (data, response) = try await recorder.result(of: session.dataTask(with: fixture.request("/a")))
        #expect(response.statusCode == 200)
        #expect(data == Data("secret".utf8))
        #expect(fixture.origin.requests.last?.fields[.authorization] == "Basic dTpw")
    }
    #endif
}
#endif
