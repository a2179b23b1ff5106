import CacheLoader
import CacheTier
import Foundation
import HTTPTypes
import LoopbackOrigin
import Synchronization
import TestSupport
import Testing

@Suite("The load that a tier puts on its engine", .timeLimit(.minutes(20)))
struct LoadOfEngineTests {
    @Test("waitForWrites waits for earlier writes only, under a steady stream of later ones")
    func steadyWrites() async throws {
        let server = try await ObjectServer()
        let origin = try await LoopbackOrigin { .ok($0.path.utf8, cacheControl: "max-age=60") }
        let machine = try Machine(server)
        // A request that asks tier and origin concurrently reads no epoch of an unknown group, and then writes nothing.
        let scopes = [TierScope.partition, .host(origin.authority), .tag("t", origin: origin.url("/"))]
        for scope in scopes + (0..<300).map({ .url(origin.url("/\($0)")) }) {
            try await machine.tier.removeAll(in: scope)
        }
        // Each write ends once the next one has arrived.
        let gate = Gate()
        server.setFault { request in
            guard request.method == .put else { return nil }
            if gate.waiters > 0 { gate.admit() }
            await gate.wait()
            return nil
        }
        let isDrained = Mutex(false)
        async let drained: Void = {
            await gate.reached(1)
            await machine.tier.waitForWrites()
            isDrained.withLock { $0 = true }
        }()
        for number in 0..<300 where !isDrained.withLock({ $0 }) {
            let response = try await machine.send(origin, "/\(number)")
            while try await response.body.next() != nil {}
            await gate.reached(number + 1)
        }
        #expect(isDrained.withLock { $0 })
        gate.open()
        await drained
    }

    @Test("a hit after the origin's response holds no connection to the engine", .requirement("T9"))
    func lateHit() async throws {
        let server = try await ObjectServer()
        let body = Data.noise(6_000_000, seed: 1)
        let origin = try await LoopbackOrigin { request in
            .ok(request.path == "/large" ? body : Data(request.path.utf8), cacheControl: "max-age=60")
        }
        try await Machine(server).get(origin.url("/large"))
        var connections = DefaultTransport.Configuration()
        connections.connectionsPerHost = 1
        let machine = try Machine(.plain(server.url, transport: DefaultTransport(configuration: connections)))
        // Without hits, requests ask tier and origin concurrently.
        for number in 0..<HedgingPlan.leastMeasurements { try await machine.get(origin.url("/\(number)")) }
        let gate = Gate()
        server.setFault { _ in
            await gate.wait()
            return nil
        }
        let response = try await machine.send(origin, "/large")
        gate.open()
        try await machine.tier.check()
        await until { machine.tier.statistics.lateHits == 1 }
        var received = Data()
        while let chunk = try await response.body.next() { received += chunk }
        #expect(received == body)
        await machine.tier.waitForWrites()
    }
}
