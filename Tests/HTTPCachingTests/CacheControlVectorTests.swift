internal import TestSupport

/// A requirement of the acceptance table's Appendix A for a private cache with a default lifetime of 0.
private enum Required: Hashable {
    /// Stored, and fresh for this time.
    case lifetime(Int64)
    /// Stored, and validated each time.
    case validatedAlways
    /// Not stored; removes an older entry.
    case notStored
    /// Stored, fresh for this time, and never served stale.
    case notServedStale(lifetime: Int64)
}

@Suite struct CacheControlVectorTests {
    @Test(
        "Appendix A: the requirements of each of the 21 headers", .requirement("B2"),
        arguments: [
            ("max-age=600", .lifetime(600)),
            ("public, max-age=600", .lifetime(600)),
            ("max-age = 600", .lifetime(0)),
            (#"max-age="600""#, .lifetime(600)),
            ("max-age=0", .lifetime(0)),
            ("max-age=-5", .lifetime(0)),
            ("max-age=-0.5", .lifetime(0)),
            ("max-age=1e3", .lifetime(0)),
            ("max-age=99999999999999999999", .lifetime(2_147_483_648)),
            ("s-maxage=10, max-age=600", .lifetime(600)),
            ("stale-while-revalidate=30, max-age=600", .lifetime(600)),
            ("max-age=600, stale-while-revalidate=30", .lifetime(600)),
            (#"private="x", max-age=60"#, .lifetime(60)),
            ("immutable, max-age=31536000", .lifetime(31_536_000)),
            ("no-cache", .validatedAlways),
            ("No-Cache", .validatedAlways),
            ("no-cache, max-age=600", .validatedAlways),
            ("no-store", .notStored),
            ("no-store, max-age=0", .notStored),
            // Without Last-Modified, the default lifetime, 0, is the next rung of B3.
            ("private", .lifetime(0)),
            ("must-revalidate", .notServedStale(lifetime: 0)),
        ] as [(String, Required)])
    fileprivate func vector(header: String, required: Required) throws {
        let exchange = Sample.exchange("Cache-Control: \(header)", #"ETag: "a""#)
        let older = Sample.stored("Cache-Control: max-age=60")
        let decision = Sample.decide(on: exchange, older)
        guard required != .notStored else {
            #expect(decision == .relay(removeStored: true))
            return
        }
        let stored = try #require(decision.stored)
        let request = Sample.request()
        let anyAge = Sample.request("Cache-Control: max-stale")
        switch required {
        case .lifetime(let lifetime):
            expect(stored, freshFor: lifetime)
            #expect(Outcome(Sample.decide(anyAge, stored, at: lifetime)) == .staleHit)
        case .notServedStale(let lifetime):
            expect(stored, freshFor: lifetime)
            #expect(Outcome(Sample.decide(anyAge, stored, at: lifetime)) == .validate)
        case .validatedAlways:
            #expect(Outcome(Sample.decide(request, stored)) == .validate)
            #expect(Outcome(Sample.decide(anyAge, stored)) == .validate)
            #expect(Freshness(of: stored, policy: CachePolicy()).expiry == nil)
        case .notStored:
            break
        }
    }

    private func expect(_ stored: StoredResponse, freshFor lifetime: Int64) {
        #expect(Freshness(of: stored, policy: CachePolicy()).lifetime == lifetime)
        let outcome = Outcome(Sample.decide(Sample.request(), stored, at: lifetime))
        #expect(outcome == .validate || outcome == .revalidatedHit)
        if lifetime > 0 { #expect(Outcome(Sample.decide(Sample.request(), stored, at: lifetime - 1)) == .hit) }
    }

    @Test("no-cache lasts no longer than its response", .requirement("B6"))
    func notSticky() throws {
        let strict = Sample.stored("Cache-Control: no-cache", #"ETag: "a""#)
        #expect(Outcome(Sample.decide(Sample.request(), strict, at: 1)) == .validate)
        let reply = Sample.exchange("Cache-Control: max-age=60", received: 1)
        let replacement = try #require(Sample.decide(on: reply, strict, validated: 0).stored)
        #expect(Outcome(Sample.decide(Sample.request(), replacement, at: 60)) == .hit)
        #expect(Outcome(Sample.decide(Sample.request(), replacement, at: 61)) == .forward)
    }
}
