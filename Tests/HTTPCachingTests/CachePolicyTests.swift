internal import TestSupport

@Suite struct CachePolicyTests {
    @Test("Each default equals the documented one", .requirement("K1"))
    func defaults() {
        var defaults = DocumentedDefaults(of: CachePolicy())
        defaults.check("mode") { $0.mode == .http }
        defaults.check("lifetimeOverride") { $0.lifetimeOverride == .serverPolicy }
        defaults.check("defaultLifetime") { $0.defaultLifetime == .zero }
        defaults.check("heuristicFraction") { $0.heuristicFraction == 0.1 }
        defaults.check("heuristicLimit") { $0.heuristicLimit == .seconds(604_800) }
        defaults.check("isShared") { !$0.isShared }
        defaults.check("staleIfError") { $0.staleIfError == nil }
        defaults.check("staleWhenDisconnected") { $0.staleWhenDisconnected == .seconds(Int64.max) }
        defaults.check("targetedFields") { $0.targetedFields == [] }
        defaults.check("contentKeys") { !$0.contentKeys }
        defaults.check("verifiesDigests") { !$0.verifiesDigests }
        defaults.check("usesDictionaries") { !$0.usesDictionaries }
        #expect(defaults.differences == [])
    }

    @Test(".shared differs from the default only in that it is shared", .requirement("K1"))
    func shared() {
        var policy = CachePolicy.shared
        #expect(policy.isShared)
        policy.isShared = false
        #expect(policy == CachePolicy())
    }

    private static let expired = Sample.stored("Cache-Control: max-age=10", "ETag: \"a\"")
    private static let mustRevalidate = Sample.stored("Cache-Control: max-age=10, must-revalidate", "ETag: \"a\"")
    private static let noCache = Sample.stored("Cache-Control: max-age=10, no-cache", "ETag: \"a\"")

    @Test(
        "The decision of each mode for a response that is fresh for 10 seconds", .requirement("B5", "B7"),
        arguments: [
            (.http, .hit, .validate),
            (.cacheFirst, .hit, .staleHit),
            (.revalidateAlways, .validate, .validate),
            (.remoteOnly, .forward, .forward),
            (.cacheOnly, .hit, .staleHit),
        ] as [(CachePolicy.Mode, Outcome, Outcome)])
    func modes(mode: CachePolicy.Mode, whenFresh: Outcome, whenStale: Outcome) {
        let policy = CachePolicy(mode: mode)
        #expect(Outcome(Sample.decide(Sample.request(), Self.expired, policy: policy, at: 9)) == whenFresh)
        #expect(Outcome(Sample.decide(Sample.request(), Self.expired, policy: policy, at: 10)) == whenStale)
    }

    @Test("Without a stored response, every mode but .cacheOnly asks the origin", .requirement("B5"))
    func nothingStored() {
        for mode in [.http, .cacheFirst, .revalidateAlways] as [CachePolicy.Mode] {
            #expect(Sample.decide(policy: CachePolicy(mode: mode)) == .forward(.uriMiss))
        }
        #expect(Sample.decide(policy: CachePolicy(mode: .remoteOnly)) == .forward(.bypass))
        #expect(Sample.decide(policy: CachePolicy(mode: .cacheOnly)) == .unsatisfiable)
    }

    @Test("RFC 9111 §4.2.4: no mode serves stale against the origin's prohibition", .requirement("R01", "F08"))
    func forbidden() {
        let cacheFirst = CachePolicy(mode: .cacheFirst)
        #expect(Outcome(Sample.decide(Sample.request(), Self.mustRevalidate, policy: cacheFirst, at: 9)) == .hit)
        #expect(Outcome(Sample.decide(Sample.request(), Self.mustRevalidate, policy: cacheFirst, at: 10)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request(), Self.noCache, policy: cacheFirst, at: 0)) == .validate)
        let cacheOnly = CachePolicy(mode: .cacheOnly)
        #expect(Sample.decide(Sample.request(), Self.mustRevalidate, policy: cacheOnly, at: 10) == .unsatisfiable)
        #expect(Sample.decide(Sample.request(), Self.noCache, policy: cacheOnly, at: 0) == .unsatisfiable)
    }

    @Test(".cacheFirst and .cacheOnly alone use a response with neither freshness nor validator", .requirement("F07"))
    func nothingToGoBy() {
        let response = Sample.stored("X: y")
        #expect(Sample.decide(Sample.request(), response) == .forward(.stale))
        for mode in [.cacheFirst, .cacheOnly] as [CachePolicy.Mode] {
            let decision = Sample.decide(Sample.request(), response, policy: CachePolicy(mode: mode), at: 100)
            #expect(decision == .hit(0, age: 100, isStale: true))
        }
    }

    @Test(".remoteOnly sends the request unchanged, and stores the response", .requirement("B7"))
    func remoteOnly() {
        let policy = CachePolicy(mode: .remoteOnly)
        #expect(Sample.decide(Sample.request(), Self.expired, policy: policy) == .forward(.bypass))
        #expect(Sample.decide(on: Sample.exchange("X: y"), Self.expired, policy: policy).stored != nil)
    }

    @Test("A fixed lifetime overrides the header, longer or shorter, but not no-cache", .requirement("B4"))
    func fixedLifetime() {
        func outcome(_ seconds: Int, at now: Int64, _ response: StoredResponse = Self.expired) -> Outcome {
            let policy = CachePolicy(lifetimeOverride: .fixed(.seconds(seconds)))
            return Outcome(Sample.decide(Sample.request(), response, policy: policy, at: now))
        }
        #expect(outcome(5, at: 4) == .hit)
        #expect(outcome(5, at: 5) == .validate)
        #expect(outcome(100, at: 99) == .hit)
        #expect(outcome(0, at: 0) == .validate)
        #expect(outcome(100, at: 0, Self.noCache) == .validate)
    }

    @Test("Under .doNotStore a stored response answers only .cacheOnly and only-if-cached", .requirement("B4"))
    func doNotStore() {
        let policy = CachePolicy(lifetimeOverride: .doNotStore)
        #expect(Sample.decide(Sample.request(), Self.expired, policy: policy) == .forward(.bypass))
        let local = CachePolicy(mode: .cacheOnly, lifetimeOverride: .doNotStore)
        #expect(Sample.decide(Sample.request(), Self.expired, policy: local) == .hit(0, age: 0, isStale: false))
        #expect(
            Sample.decide(Sample.request("Cache-Control: only-if-cached"), Self.expired, policy: policy)
                == .hit(0, age: 0, isStale: false))
    }
}
