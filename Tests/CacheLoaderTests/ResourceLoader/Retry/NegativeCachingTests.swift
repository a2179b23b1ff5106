import TestSupport

@Suite("NegativeCaching") struct NegativeCachingTests {
    @Test("Off by default, with 3 attempts", .requirement("D1"))
    func defaults() {
        #expect(NegativeCaching().lifetime == nil)
        #expect(NegativeCaching().maxAttempts == 3)
    }

    struct Case: Sendable {
        let name: String
        var lifetime: Duration? = .seconds(60)
        var maxAttempts = 3
        var failures = 3
        /// Seconds since the last failure.
        var age = 0.0
        let isBlocked: Bool
    }

    @Test(
        "A key is blocked after this many errors, for this long after the last", .requirement("D1"),
        arguments: [
            Case(name: "at once", isBlocked: true),
            Case(name: "last moment", age: 59.999, isBlocked: true),
            Case(name: "time is over", age: 60, isBlocked: false),
            Case(name: "long over", age: 1e12, isBlocked: false),
            Case(name: "too few", failures: 2, isBlocked: false),
            Case(name: "more than enough", failures: 4, isBlocked: true),
            Case(name: "one attempt", maxAttempts: 1, failures: 1, isBlocked: true),
            Case(name: "none is one", maxAttempts: 0, failures: 1, isBlocked: true),
            Case(name: "fewer than none is one", maxAttempts: .min, failures: 1, isBlocked: true),
            Case(name: "off", lifetime: nil, isBlocked: false),
            Case(name: "off, clock set back", lifetime: nil, age: -1, isBlocked: false),
            Case(name: "no time", lifetime: .zero, isBlocked: false),
            Case(name: "less than no time", lifetime: .seconds(-60), isBlocked: false),
            Case(name: "for ever", lifetime: .seconds(Int64.max), age: 1e12, isBlocked: true),
            Case(name: "a fraction of a second", lifetime: .milliseconds(500), age: 0.499, isBlocked: true),
            Case(name: "the fraction is over", lifetime: .milliseconds(500), age: 0.5, isBlocked: false),
            Case(name: "clock set back", age: -0.001, isBlocked: false),
            Case(name: "clock set back by years", age: -1e9, isBlocked: false),
        ])
    func blocking(_ c: Case) throws {
        let clock = ManualClock()
        var configuration = ResponseStore.Configuration()
        configuration.clock = clock.date
        let directory = try TemporaryDirectory()
        let store = try ResponseStore(directory: directory.url, configuration: configuration)
        let key = try CacheKey(url: "https://example.com/")
        for _ in 0..<c.failures { try store.recordFailure(for: key, status: 503) }
        let failure = try #require(try store.failure(for: key))
        let caching = NegativeCaching(lifetime: c.lifetime, maxAttempts: c.maxAttempts)
        #expect(caching.blocks(failure, at: clock.now.addingTimeInterval(c.age)) == c.isBlocked, "\(c.name)")
    }
}
