import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

/// LoadTableTests have the rules; these tests show that a loader follows its source and its configuration.
@Suite("ResourceLoader: conditions of the network", .timeLimit(.minutes(5)))
struct LoaderConditionTests {
    private let origin = HeldOrigin()
    private let executor = InOrderExecutor()
    private let network = ManualReachability(conditions: .expensive)
    private let held: [Lane: NetworkConditions] = [.background: [.constrained, .expensive]]

    private func fixture(_ heldBack: [Lane: NetworkConditions]) throws -> LoaderFixture {
        try LoaderFixture(transport: origin.transport) { configuration in
            configuration.reachability = network
            configuration.heldBack = heldBack
        }
    }

    private func request(_ path: String, _ lane: Lane = .urgent) -> ResourceRequest {
        ResourceRequest("https://example.com\(path)", lane: lane)
    }

    private func begin(_ fixture: LoaderFixture, _ request: ResourceRequest) -> Task<String, any Error> {
        Task(executorPreference: executor) { try await fixture.loader.load(request).text }
    }

    /// Loads another resource, after which a load that was not held back would have sent its request.
    private func expectHeld(_ paths: [String], _ fixture: LoaderFixture) async throws {
        await executor.settled()
        origin.open("/other")
        let other = ResourceRequest("https://other.example/other", policy: .init(mode: .remoteOnly))
        for _ in 0..<3 { #expect(try await fixture.loader.load(other).text == "/other") }
        #expect(Set(origin.begun).isDisjoint(with: paths))
    }

    enum End: CaseIterable {
        case conditions, limits, source, urgentLoad, setLane
    }

    @Test(
        "H9: a background load waits for the network; an end of the condition, another limit, source or lane begins it",
        arguments: End.allCases)
    func heldBack(_ end: End) async throws {
        let fixture = try fixture(held)
        let waiting = begin(fixture, request("/b", .background))
        try await expectHeld(["/b"], fixture)
        network.setConditions([.expensive, .lowPower])
        try await expectHeld(["/b"], fixture)
        var other: Task<String, any Error>?
        switch end {
        case .conditions: network.setConditions(.lowPower)
        case .limits: fixture.loader.configuration.heldBack = [:]
        case .source: fixture.loader.configuration.reachability = nil
        case .urgentLoad: other = begin(fixture, request("/b"))
        case .setLane: try fixture.loader.setLane(.urgent, of: request("/b"))
        }
        await origin.asked("/b")
        origin.open("/b")
        #expect(try await waiting.value == "/b")
        if let other { #expect(try await other.value == "/b") }
        #expect(origin.begun.count { $0 == "/b" } == 1)
    }

    @Test("H9: loads of a user begin, and stored content answers, in any lane and in any condition")
    func notHeldBack() async throws {
        let fixture = try fixture([.background: [.constrained, .expensive, .lowPower]])
        network.setConditions([.constrained, .expensive, .lowPower])
        origin.open("/u")
        #expect(try await begin(fixture, request("/u")).value == "/u")
        #expect(try await fixture.loader.load(request("/u", .background)).source == .disk)
        let prefetch = fixture.loader.prefetch([request("/u")], heldBackBy: .expensive)
        #expect(await prefetch.finished().hits == 1)
    }

    @Test("H9: a prefetch waits in its own conditions; a demanded resource comes at once, also for the prefetch")
    func prefetch() async throws {
        let fixture = try fixture([:])
        let prefetch = fixture.loader.prefetch(["/1", "/2", "/3"].map { request($0) }, heldBackBy: .expensive)
        while try !fixture.loader.isLoading(request("/3")) { await Task.yield() }
        try await expectHeld(["/1", "/2", "/3"], fixture)
        // A background load without conditions of its own.
        let demanded = begin(fixture, request("/2", .background))
        await origin.asked("/2")
        origin.open("/1", "/2", "/3")
        #expect(try await demanded.value == "/2")
        try await expectHeld(["/1", "/3"], fixture)
        network.setConditions(.constrained)
        #expect(await prefetch.finished().loaded == 3)
        #expect(origin.begun.filter { $0 != "/other" }.count == 3)
    }

    @Test("H9: a prefetch that is held back can be cancelled, and sends nothing")
    func cancelledPrefetch() async throws {
        let fixture = try fixture(held)
        let prefetch = fixture.loader.prefetch([request("/1"), request("/2")])
        while try !fixture.loader.isLoading(request("/2")) { await Task.yield() }
        prefetch.cancel()
        #expect(await prefetch.finished().cancelled == 2)
        network.setConditions([])
        try await expectHeld(["/1", "/2"], fixture)
    }

    @Test("H9: a loader takes the conditions of a new source over, and no longer those of an earlier one")
    func otherSource() async throws {
        let fixture = try fixture(held)
        let other = ManualReachability(conditions: .constrained)
        fixture.loader.configuration.reachability = other
        let waiting = begin(fixture, request("/b", .background))
        network.setConditions([])
        try await expectHeld(["/b"], fixture)
        other.setConditions([])
        await origin.asked("/b")
        origin.open("/b")
        #expect(try await waiting.value == "/b")
    }
}
