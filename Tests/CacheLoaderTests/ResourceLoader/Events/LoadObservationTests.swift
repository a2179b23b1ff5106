import TestSupport

@Suite("LoadObservation") struct LoadObservationTests {
    private typealias Observation = LoadObservation<Int>

    private func loaded(_ value: Int) -> Loaded<Int> {
        Loaded(
            value: value, url: "https://example.com/", status: .ok, headerFields: [:], source: .network, age: 0,
            isStale: false, expiresAt: nil, failure: nil)
    }

    /// The events of an observation that `steps` ends.
    private func events(_ steps: (Observation) -> Void) async -> [LoadEvent<Int>] {
        let (stream, continuation) = AsyncStream<LoadEvent<Int>>.makeStream()
        steps(Observation(continuation))
        return await stream.all
    }

    @Test("Events of the network wait for the stored value", .requirement("C6"))
    func waits() async {
        let events = await events { observation in
            observation.awaitCached()
            observation.receive(.requesting)
            observation.receive(.progress(received: 1, total: nil))
            observation.cached(loaded(1))
            observation.end(.success(loaded(2)))
        }
        #expect(events.map(\.name) == ["cached", "requesting again", "progress 1/?", "completed network"])
    }

    @Test("A stored value whose processing fails counts as absent")
    func unusable() async {
        let events = await events { observation in
            observation.awaitCached()
            observation.receive(.requesting)
            observation.cached(nil)
            observation.end(.failure(.notCached(url: "")))
        }
        #expect(events.map(\.name) == ["requesting", "failed"])
    }

    @Test(
        "A failure waits for the stored value; a cancellation and a newer value do not", .requirement("I4", "C6"),
        arguments: [
            ([.failure(.notCached(url: ""))], true, ["cached", "requesting again", "failed"]),
            ([.failure(.notCached(url: ""))], false, ["requesting", "failed"]),
            ([.failure(.notCached(url: "")), .failure(.cancelled)], true, ["requesting again", "cancelled"]),
            ([.failure(.cancelled)], true, ["requesting again", "cancelled"]),
            ([.success(2)], true, ["requesting again", "completed network"]),
        ] as [([Result<Int, LoadError>], Bool, [String])])
    func ends(results: [Result<Int, LoadError>], isUsable: Bool, names: [String]) async {
        let events = await events { observation in
            observation.awaitCached()
            observation.receive(.requesting)
            for result in results { observation.end(result.map { loaded($0) }) }
            observation.receive(.progress(received: 1, total: nil))
            observation.cached(isUsable ? loaded(1) : nil)
        }
        #expect(events.map(\.name) == names)
    }

    @Test("Progress never decreases, and a failed store is reported once", .requirement("I1", "A7"))
    func repetitions() async {
        let events = await events { observation in
            observation.receive(.progress(received: 5, total: 9))
            observation.receive(.retrying(.cancelled, failedAttempts: 1, delay: nil))
            observation.receive(.requesting)
            observation.receive(.storeFailed(.closed))
            observation.receive(.progress(received: 3, total: 9))
            observation.receive(.storeFailed(.suspended))
            observation.receive(.progress(received: 9, total: 9))
            observation.end(.failure(.cancelled))
        }
        #expect(
            events.map(\.name) == [
                "requesting", "progress 5/9", "retrying 1", "storeFailed", "progress 9/9", "cancelled",
            ])
    }

    @Test("Events follow the grammar in any order of arrival", .requirement("I1", "C6"), arguments: 0..<4)
    func random(round: Int) async {
        var generator = SeededGenerator()
        for _ in 0..<250 { await random(&generator) }
    }

    private func random(_ generator: inout SeededGenerator) async {
        let hasCached = Bool.random(using: &generator)
        let events = await events { observation in
            if hasCached { observation.awaitCached() }
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: observation.receive(.requesting)
                case 1: observation.receive(.progress(received: .random(in: 0...9, using: &generator), total: nil))
                case 2: observation.receive(.retrying(.cancelled, failedAttempts: 1, delay: .zero))
                case 3: observation.receive(.storeFailed(.closed))
                default: observation.cached(Bool.random(using: &generator) ? loaded(0) : nil)
                }
            }
            observation.end(Bool.random(using: &generator) ? .success(loaded(1)) : .failure(.notCached(url: "")))
            observation.cached(loaded(2))
        }
        expectGrammatical(events)
        if !hasCached { #expect(!events.contains { $0.name == "cached" }) }
    }
}
