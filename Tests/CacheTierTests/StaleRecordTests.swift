import CacheTier
import TestSupport

@Suite("Stale records and private habits of a tier") struct StaleRecordTests {
    struct Failure: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let cacheControl: String
        let isDisconnected: Bool
        let isAnswered: Bool
    }

    @Test(
        "a stale record answers a cold machine if the origin fails, as far as stale-if-error permits",
        .requirement("T5"),
        arguments: [
            Failure(
                testDescription: "disconnected", cacheControl: "max-age=60, stale-if-error=600", isDisconnected: true,
                isAnswered: true),
            Failure(
                testDescription: "503", cacheControl: "max-age=60, stale-if-error=600", isDisconnected: false,
                isAnswered: true),
            Failure(
                testDescription: "too old", cacheControl: "max-age=60, stale-if-error=10", isDisconnected: true,
                isAnswered: false),
            Failure(
                testDescription: "must-revalidate", cacheControl: "max-age=60, must-revalidate, stale-if-error=600",
                isDisconnected: true, isAnswered: false),
        ], [10, 100_000])
    func staleIfError(_ c: Failure, _ byteCount: Int) async throws {
        let body = String(repeating: "a", count: byteCount)
        let fleet = MemoryFleet { (_, serial) throws(TransportError) in
            guard serial > 1 else { return .reply(200, [.cacheControl: c.cacheControl], body) }
            if c.isDisconnected { throw TransportError(.cannotConnect) }
            return .reply(503, [:], "error")
        }
        try await fleet.machine().send("/a")
        fleet.clock.advance(by: .seconds(100))
        let machine = try fleet.machine()
        guard c.isAnswered || !c.isDisconnected else {
            await #expect(throws: TransportError.self) { try await machine.send("/a") }
            return
        }
        let response = try await machine.send("/a")
        #expect(response.status == 200)
        #expect(response.body == body)
        #expect(response.fields[.age] == "100")
        #expect(machine.tier.statistics.staleAnswers == 1)
    }

    @Test("a record whose body the engine has lost costs one request without its validator", .requirement("T5"))
    func lostBody() async throws {
        let body = String(repeating: "a", count: 100_000)
        let fleet = MemoryFleet { request, _ in
            request.headerFields.contains(.ifNoneMatch)
                ? .reply(304, [.cacheControl: "max-age=60", .eTag: "\"1\""])
                : .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], body)
        }
        try await fleet.machine().send("/a")
        fleet.clock.advance(by: .seconds(61))
        for name in fleet.engine.names where name.contains("/cas/") { try await fleet.engine.delete(name) }
        #expect(try await fleet.machine().send("/a").body == body)
        #expect(fleet.origin.requests.count == 3)
        #expect(try await fleet.machine().send("/a").body == body)
        #expect(fleet.origin.requests.count == 3)
    }

    @Test("a 304 writes the body again if its retention nears its end", .requirement("T5"), arguments: [3600, 50])
    func retention(_ seconds: Int) async throws {
        let fleet = MemoryFleet { request, _ in
            request.headerFields.contains(.ifNoneMatch)
                ? .reply(304, [.cacheControl: "max-age=60", .eTag: "\"1\""])
                : .reply(200, [.cacheControl: "max-age=60", .eTag: "\"1\""], String(repeating: "a", count: 100_000))
        }
        try await fleet.machine().send("/a")
        fleet.clock.advance(by: .seconds(61))
        fleet.engine.removeRequests()
        try await fleet.machine { $0.retention = .seconds(seconds) }.send("/a")
        let bodies = fleet.engine.requests.filter { $0.operation == .put && $0.name.contains("/cas/") }
        #expect(bodies.count == (seconds == 50 ? 1 : 0))
    }

    @Test(
        "a lifetime is not guessed for a request of a user, unless the setting permits it", .requirement("T2"),
        arguments: [.cookie, .authorization] as [HTTPField.Name], [true, false])
    func habits(_ name: HTTPField.Name, _ isShared: Bool) async throws {
        let fleet = MemoryFleet { request, serial in
            var fields: HTTPFields = [.lastModified: "Sun, 06 Nov 1994 08:49:37 GMT"]
            if request.path == "/stated" { fields[.cacheControl] = "public, max-age=60" }
            if request.headerFields.contains(.authorization), request.path == "/guessed" {
                fields[.cacheControl] = "public"
            }
            return .reply(200, fields, "\(serial)")
        }
        func machine() throws -> MemoryMachine { try fleet.machine { $0.sharesHeuristically = isShared } }
        try await machine().send("/guessed", [name: "alice"])
        #expect(try await machine().send("/guessed", [name: "bob"]).body == (isShared ? "1" : "2"))
        let next = fleet.origin.requests.count + 1
        try await machine().send("/stated", [name: "alice"])
        #expect(try await machine().send("/stated", [name: "bob"]).body == "\(next)")
        // Without credentials, the lifetime is guessed as before.
        try await machine().send("/plain")
        #expect(try await machine().send("/plain").body == "\(next + 1)")
        if !isShared { #expect(try await machine().send("/plain", [name: "bob"]).body == "\(next + 2)") }
    }
}
