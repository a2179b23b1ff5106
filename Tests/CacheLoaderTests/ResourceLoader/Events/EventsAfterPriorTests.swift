import CacheLoader
import CacheStoreTesting
import Foundation
import HTTPTypes
import LoopbackOrigin
import TestSupport
import Testing

@Suite("EventsAfterPrior", .timeLimit(.minutes(20)))
struct EventsAfterPriorTests {
    // MARK: Pure

    private static func told(_ events: [LoadEvent<Int>], prior: Int = 2) -> [String] {
        // A value is its own version if it has one digit.
        let order = EventsAfterPrior(prior, version: prior, url: "a") { loaded in
            loaded.value < 10 ? loaded.value : nil
        }
        return ([order.first] + events.compactMap(order.event)).map(description)
    }

    private static func description(_ event: LoadEvent<Int>) -> String {
        switch event {
        case .cached(let loaded): "cached \(loaded.value) \(loaded.source)"
        case .requesting(let hadCached): "requesting \(hadCached)"
        case .progress: "progress"
        case .retrying: "retrying"
        case .storeFailed: "storeFailed"
        case .completed(let loaded): "completed \(loaded.value) \(loaded.source)"
        case .failed: "failed"
        case .cancelled: "cancelled"
        }
    }

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        let events: [LoadEvent<Int>]
        let expect: [String]

        init(_ name: String, _ events: [LoadEvent<Int>], expect: [String]) {
            (testDescription, self.events, self.expect) = (name, events, expect)
        }
    }

    @Test(
        "The events after version 2",
        arguments: [
            Case("C8: older", [.completed(1)], expect: ["cached 2 local", "completed 2 local"]),
            Case("C8: equal", [.completed(2)], expect: ["cached 2 local", "completed 2 notModified"]),
            Case("C8: newer", [.completed(3)], expect: ["cached 2 local", "completed 3 local"]),
            Case("C8: without a version", [.completed(10)], expect: ["cached 2 local", "completed 10 local"]),
            Case("C8: a failure", [.failed(.offline)], expect: ["cached 2 local", "failed"]),
            Case("C8: a cancellation", [.cancelled], expect: ["cached 2 local", "cancelled"]),
            Case(
                "C8: there is one cached value, and the origin is asked in spite of it",
                [.cached(1), .requesting(hadCached: false), .completed(3)],
                expect: ["cached 2 local", "requesting true", "completed 3 local"]),
        ])
    func events(_ c: Case) {
        #expect(Self.told(c.events) == c.expect)
    }

    // MARK: A loader

    private struct Item: Hashable {
        let event: String
        let text: String
        let source: ResponseSource
    }

    private static func version(_ data: Data) -> Int? {
        Int(String(decoding: data, as: UTF8.self))
    }

    private static func values(_ events: AsyncStream<LoadEvent<Data>>) async -> [Item] {
        var items: [Item] = []
        for await event in events {
            switch event {
            case .cached(let loaded): items.append(Item(event: "cached", text: loaded.text, source: loaded.source))
            case .completed(let loaded):
                items.append(Item(event: "completed", text: loaded.text, source: loaded.source))
            default: break
            }
        }
        return items
    }

    @Test(
        "A prior value of version 2 comes first and stays, unless the origin has a newer one", .requirement("C8"),
        arguments: [
            (1, "2", ResponseSource.local), (2, "2", .notModified), (3, "3", .network),
        ])
    func fetched(version: Int, text: String, source: ResponseSource) async throws {
        let transport = ScriptedTransport(.ok("\(version)".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        let events = fixture.loader.events(
            for: ResourceRequest("https://example.com/a"), prior: Data("2".utf8), version: 2
        ) { Self.version($0.data) }
        #expect(
            await Self.values(events) == [
                Item(event: "cached", text: "2", source: .local), Item(event: "completed", text: text, source: source),
            ])
        #expect(transport.requestCount == 1)
    }

    @Test(
        "A stored value, fresh or stale, does not replace a newer prior value either", .requirement("C8"),
        arguments: [0, 61])
    func stored(age: TimeInterval) async throws {
        let transport = ScriptedTransport(
            .ok("1".utf8, cacheControl: "max-age=60"), .ok("3".utf8, cacheControl: "max-age=60"))
        let fixture = try LoaderFixture(transport: transport)
        _ = try await fixture.loader.load("https://example.com/a")
        fixture.clock.advance(by: age)
        let events = fixture.loader.events(
            for: ResourceRequest("https://example.com/a"), prior: Data("2".utf8), version: 2
        ) { Self.version($0.data) }
        let last =
            age == 0
            ? Item(event: "completed", text: "2", source: .local)
            : Item(event: "completed", text: "3", source: .network)
        #expect(await Self.values(events) == [Item(event: "cached", text: "2", source: .local), last])
    }

    @Test("Releasing the events releases the load", .requirement("C8", "E4"))
    func letGo() async throws {
        let gate = Gate()
        let transport = ScriptedTransport { _, _ in
            await gate.wait()
            return .reply(200, [.cacheControl: "max-age=60"], "3")
        }
        let fixture = try LoaderFixture(transport: transport)
        let request = ResourceRequest("https://example.com/a")
        let reader = Task {
            let events = fixture.loader.events(for: request, prior: Data("2".utf8), version: 2) {
                Self.version($0.data)
            }
            return await Self.values(events)
        }
        await gate.reached(1)
        reader.cancel()
        #expect(await reader.value == [Item(event: "cached", text: "2", source: .local)])
        try await eventually { try !fixture.loader.isLoading(request) }
        #expect(try !fixture.loader.contains(request))
    }
}
