import CacheLoader
import CacheStore
import Foundation
import HTTPTypes
import TestSupport
import Testing

@Suite("EventOrder")
struct EventOrderTests {
    private func loaded(_ value: Int) -> Loaded<Int> {
        Loaded(
            value: value, url: "https://example.com/", status: .ok, headerFields: [:], source: .network, age: 0,
            isStale: false, expiresAt: nil, failure: nil)
    }

    private func names(_ steps: (inout EventOrder<Int>) -> [[LoadEvent<Int>]]) -> [String] {
        var order = EventOrder<Int>()
        return steps(&order).flatMap { $0 }.map(\.name)
    }

    @Test("Events of the network wait for the stored value", .requirement("C6"))
    func waits() {
        let events = names { order in
            order.awaitCached()
            return [
                order.requesting(), order.progress(received: 1, total: nil), order.cached(loaded(1)),
                order.end(.success(loaded(2))),
            ]
        }
        #expect(events == ["cached", "requesting again", "progress 1/?", "completed network"])
    }

    @Test("A stored value after the network's value is dropped", .requirement("C6"))
    func late() {
        let events = names { order in
            order.awaitCached()
            return [order.requesting(), order.end(.success(loaded(2))), order.cached(loaded(1))]
        }
        #expect(events == ["requesting again", "completed network"])
    }

    @Test("A stored value whose processing fails counts as absent")
    func unusable() {
        let events = names { order in
            order.awaitCached()
            return [order.requesting(), order.cached(nil), order.end(.failure(.notCached(url: "")))]
        }
        #expect(events == ["requesting", "failed"])
    }

    @Test("Progress never decreases, and no event follows the end", .requirement("I1"))
    func progress() {
        let events = names { order in
            [
                order.progress(received: 5, total: 9),
                order.retrying(.cancelled, failedAttempts: 1, delay: nil), order.requesting(),
                order.progress(received: 3, total: 9),
                order.progress(received: 9, total: 9), order.end(.failure(.cancelled)),
                order.end(.success(loaded(1))), order.progress(received: 10, total: nil),
                order.cached(loaded(1)),
            ]
        }
        #expect(events == ["requesting", "progress 5/9", "retrying 1", "progress 9/9", "cancelled"])
    }

    @Test("A failed store is reported once, in order, and not after the end", .requirement("A7"))
    func storeFailed() {
        let events = names { order in
            order.awaitCached()
            return [
                order.storeFailed(.closed), order.storeFailed(.suspended), order.cached(loaded(1)),
                order.end(.success(loaded(2))), order.storeFailed(.closed),
            ]
        }
        #expect(events == ["cached", "requesting again", "storeFailed", "completed network"])
        #expect(names { [$0.end(.success(loaded(1))), $0.storeFailed(.closed)] } == ["completed network"])
    }

    @Test("Events follow the grammar in any order of arrival", .requirement("I1", "C6"), arguments: 0..<4)
    func random(round: Int) {
        var generator = SeededGenerator()
        for _ in 0..<250 { random(&generator) }
    }

    private func random(_ generator: inout SeededGenerator) {
        var order = EventOrder<Int>()
        var events: [LoadEvent<Int>] = []
        let hasCached = Bool.random(using: &generator)
        if hasCached { order.awaitCached() }
        for _ in 0..<Int.random(in: 0...12, using: &generator) {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: events += order.requesting()
            case 1:
                events += order.progress(received: .random(in: 0...9, using: &generator), total: nil)
            case 2: events += order.retrying(.cancelled, failedAttempts: 1, delay: .zero)
            case 3: events += order.storeFailed(.closed)
            default: events += order.cached(Bool.random(using: &generator) ? loaded(0) : nil)
            }
        }
        events += order.end(.success(loaded(1)))
        events += order.cached(loaded(2))
        expectGrammatical(events)
        if !hasCached { #expect(!events.contains { $0.name == "cached" }) }
    }
}
