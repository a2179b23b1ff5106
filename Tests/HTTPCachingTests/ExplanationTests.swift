import TestSupport

@Suite("Explanation") struct ExplanationTests {
    static let vary = "Vary: Accept-Language"
    static let german = Sample.request("Accept-Language: de")
    static let dated = "Date: \(Sample.time())"

    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var request = Sample.request()
        var stored: [StoredResponse] = []
        var policy = CachePolicy()
        var seconds: Int64 = 0
        let outcome: Explanation.Outcome
        let rule: Rule
        var reason: String?
        var sends: [String] = []
    }

    static func explain(
        _ request: HTTPRequest, _ stored: [StoredResponse], policy: CachePolicy = CachePolicy(), at seconds: Int64 = 0
    ) -> Explanation {
        let now = seconds == .min ? .distantPast : Sample.time(seconds)
        let reuse = ReuseDecision(
            for: request, candidates: stored, policy: policy, now: now, fingerprint: Sample.fingerprint)
        return Explanation(
            of: reuse, on: request, url: "https://example.com/",
            stored: stored.map { Explanation.Stored($0, url: "https://example.com/", byteCount: 5) },
            policy: policy, now: now, fingerprint: Sample.fingerprint)
    }

    static func part(_ lines: String..., end: Int64) -> StoredResponse {
        var stored = Sample.stored()
        stored.fields = Sample.fields(lines + [dated])
        stored.part = StoredPart(bytes: 0..<end, completeLength: 100)
        return stored
    }

    static let cases = [
        Case(
            testDescription: "nothing stored", outcome: .forward,
            rule: Rule("RFC 9111 §4", "no response is stored for the target URI"), reason: "uri-miss"),
        Case(
            testDescription: "unsafe method", request: Sample.request(method: .post),
            stored: [Sample.stored("Cache-Control: max-age=60")], outcome: .forward,
            rule: Rule("RFC 9111 §4", "only GET and HEAD are answered from stored responses"), reason: "method"),
        Case(
            testDescription: "fresh", stored: [Sample.stored("Cache-Control: max-age=60")], seconds: 59, outcome: .hit,
            rule: Rule("RFC 9111 §4.2", "the freshness lifetime is greater than the age")),
        Case(
            testDescription: "stale as the request allows", request: Sample.request("Cache-Control: max-stale"),
            stored: [Sample.stored("Cache-Control: max-age=60")], seconds: 90, outcome: .staleHit,
            rule: Rule("RFC 9111 §5.2.1.2", "stale, but within the max-stale of the request")),
        Case(
            testDescription: "stale-while-revalidate",
            stored: [Sample.stored("Cache-Control: max-age=60, stale-while-revalidate=60")], seconds: 90,
            outcome: .staleWhileRevalidating, rule: Rule("RFC 5861 §3", "stale, but within stale-while-revalidate")),
        Case(
            testDescription: "stale, with validators",
            stored: [Sample.stored("Cache-Control: max-age=60", #"ETag: "v1""#, "Last-Modified: \(Sample.time(-9))")],
            seconds: 60, outcome: .validate,
            rule: Rule("RFC 9111 §4.2", "the age has reached the freshness lifetime"), reason: "stale",
            sends: [#"If-None-Match: "v1""#, "If-Modified-Since: \(Sample.time(-9))"]),
        Case(
            testDescription: "no-cache of the response",
            stored: [Sample.stored("Cache-Control: no-cache", "ETag: W/\"v1\"")],
            outcome: .validate, rule: Rule("RFC 9111 §5.2.2.4", "the response has no-cache"), reason: "stale",
            sends: [#"If-None-Match: W/"v1""#]),
        Case(
            testDescription: "no-cache of the request", request: Sample.request("Cache-Control: no-cache"),
            stored: [Sample.stored("Cache-Control: max-age=60", #"ETag: "v1""#)], outcome: .validate,
            rule: Rule("RFC 9111 §5.2.1.4", "the request has no-cache"), reason: "request",
            sends: [#"If-None-Match: "v1""#]),
        Case(
            testDescription: "stale, without a validator", stored: [Sample.stored("Cache-Control: max-age=60")],
            seconds: 60, outcome: .forward, rule: Rule("RFC 9111 §4.2", "the age has reached the freshness lifetime"),
            reason: "stale"),
        Case(
            testDescription: "the rest of a part",
            stored: [part("Cache-Control: max-age=60", #"ETag: "v1""#, end: 40)], outcome: .resume,
            rule: Rule("RFC 9111 §3.4", "the stored part can be completed"), reason: "partial",
            sends: ["Range: bytes=40-", #"If-Range: "v1""#]),
        Case(
            testDescription: "another variant", stored: [Sample.stored(vary, for: german)], outcome: .forward,
            rule: Rule("RFC 9111 §4.1", "no stored response matches the request in the fields of its Vary"),
            reason: "vary-miss"),
        Case(
            testDescription: "a body that is gone",
            stored: [Sample.stored("Cache-Control: max-age=60", hasIntactBody: false)], outcome: .forward,
            rule: Rule("RFC 9111 §3.3", "the body of the stored response is missing"), reason: "miss"),
        Case(
            testDescription: "only-if-cached", request: Sample.request("Cache-Control: only-if-cached"),
            outcome: .unsatisfiable,
            rule: Rule("RFC 9111 §5.2.1.7", "the request has only-if-cached, and no stored response can answer")),
        Case(
            testDescription: "the policy", stored: [Sample.stored("Cache-Control: max-age=60")],
            policy: CachePolicy(mode: .remoteOnly), outcome: .forward,
            rule: Rule("policy", "the policy uses no stored responses"), reason: "bypass"),
    ]

    @Test("Each outcome has its rule, its reason and the request to send", arguments: cases)
    func outcome(_ c: Case) {
        let explanation = Self.explain(c.request, c.stored, policy: c.policy, at: c.seconds)
        #expect(explanation.outcome == c.outcome)
        #expect(explanation.rule == c.rule)
        #expect(explanation.forwardReason == c.reason)
        #expect(explanation.conditionalFields.map { "\($0.name): \($0.value)" } == c.sends)
        #expect(explanation.candidates.count == c.stored.count)
        let usesStored = ![.forward, .unsatisfiable].contains(c.outcome)
        #expect(explanation.candidates.map(\.isChosen).contains(true) == usesStored)
        #expect(explanation.description.contains("\(c.rule.section): \(c.rule.phrase)"))
        #expect(explanation.description.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    // MARK: The arithmetic

    struct Lifetime: CustomTestStringConvertible {
        let fields: [String]
        var status = 200
        var policy = CachePolicy()
        let lifetime: Int64
        let source: Explanation.LifetimeSource
        var testDescription: String { "\(fields) \(status) \(source)" }
    }

    @Test(
        "RFC 9111 §4.2.1: the sources of the lifetime",
        arguments: [
            Lifetime(fields: ["Cache-Control: max-age=60, s-maxage=9"], lifetime: 60, source: .maxAge),
            Lifetime(
                fields: ["Cache-Control: max-age=60, s-maxage=9"], policy: .shared, lifetime: 9, source: .sharedMaxAge),
            Lifetime(fields: ["Cache-Control: max-age=x"], lifetime: 0, source: .maxAge),
            Lifetime(fields: ["Expires: \(Sample.time(30))"], lifetime: 30, source: .expires),
            Lifetime(fields: ["Expires: 0"], lifetime: 0, source: .expires),
            Lifetime(fields: ["Last-Modified: \(Sample.time(-1000))"], lifetime: 100, source: .heuristic),
            Lifetime(fields: ["Last-Modified: \(Sample.time(-1000))"], status: 302, lifetime: 0, source: .unstated),
            Lifetime(
                fields: ["Last-Modified: \(Sample.time(-1000))", "Cache-Control: public"], status: 302, lifetime: 100,
                source: .heuristic),
            Lifetime(fields: ["Last-Modified: yesterday"], lifetime: 0, source: .unstated),
            Lifetime(fields: ["Last-Modified: Tue, 01 Jan 1980 00:00:00 GMT"], lifetime: 0, source: .unstated),
            Lifetime(fields: [], lifetime: 0, source: .unstated),
            Lifetime(
                fields: [], policy: CachePolicy(defaultLifetime: .seconds(7)), lifetime: 7, source: .defaultLifetime),
            Lifetime(
                fields: ["Cache-Control: max-age=60"], policy: CachePolicy(lifetimeOverride: .fixed(.seconds(5))),
                lifetime: 5, source: .override),
            Lifetime(
                fields: ["Cache-Control: no-store"], policy: CachePolicy(lifetimeOverride: .forced(.seconds(5))),
                lifetime: 5, source: .override),
            Lifetime(
                fields: ["Cache-Control: max-age=60"], status: 301,
                policy: CachePolicy(lifetimeOverride: .forced(.seconds(5))), lifetime: 60, source: .maxAge),
            Lifetime(fields: ["Cache-Control: no-store, max-age=60"], lifetime: 0, source: .unstated),
            Lifetime(
                fields: ["Cache-Control: max-age=60", "CDN-Cache-Control: max-age=8"],
                policy: CachePolicy(targetedFields: ["My-Cache-Control", "CDN-Cache-Control"]), lifetime: 8,
                source: .targeted("CDN-Cache-Control")),
            Lifetime(
                fields: ["Expires: \(Sample.time(30))", "CDN-Cache-Control: must-revalidate"],
                policy: CachePolicy(targetedFields: ["CDN-Cache-Control"]), lifetime: 0, source: .unstated),
        ])
    func lifetime(_ c: Lifetime) throws {
        var stored = Sample.stored(status: HTTPResponse.Status(code: c.status))
        stored.fields = Sample.fields(c.fields + [Self.dated])
        let candidate = try #require(Self.explain(Sample.request(), [stored], policy: c.policy).candidates.first)
        #expect(candidate.lifetime == c.lifetime)
        #expect(candidate.lifetimeSource == c.source)
    }

    @Test("RFC 9111 §4.2.3: the age, term by term")
    func age() throws {
        let stored = Sample.stored(Self.dated, "Age: 10", "Cache-Control: max-age=60", requested: 2, received: 5)
        let candidate = try #require(Self.explain(Sample.request(), [stored], at: 105).candidates.first)
        #expect(candidate.age.apparent == 5)
        #expect(candidate.age.field == 10)
        #expect(candidate.age.responseDelay == 3)
        #expect(candidate.age.onArrival == 13)
        #expect(candidate.age.residentTime == 100)
        #expect(candidate.age.total == 113)
        #expect(candidate.staleBy == 53)
        #expect(candidate.freshFor == nil)
        #expect(!candidate.isFresh)
        let fresh = try #require(Self.explain(Sample.request(), [stored], at: 45).candidates.first)
        #expect(fresh.freshFor == 7)
        #expect(fresh.staleBy == nil)
        #expect(fresh.isFresh)
        // Without a clock the age is unknown.
        let timeless = try #require(Self.explain(Sample.request(), [stored], at: .min).candidates.first)
        #expect(timeless.freshFor == nil)
        #expect(timeless.staleBy == nil)
        #expect(!timeless.isFresh)
    }

    // MARK: The candidates

    @Test("RFC 9111 §4.1: the nominated fields that differ; credentials only as fingerprints")
    func differences() throws {
        let asked = Sample.request("Accept-Language: de", "Cookie: secret=1", "Accept: text/html")
        let stored = Sample.stored("Vary: Accept-Language, Cookie, Accept, DNT", for: asked)
        let request = Sample.request("Cookie: secret=2", "Accept:  text/html", "DNT: 1")
        let explanation = Self.explain(request, [stored])
        let candidate = try #require(explanation.candidates.first)
        #expect(!candidate.isSelected)
        #expect(candidate.hasBody)
        #expect(candidate.variant.count == 4)
        #expect(candidate.differences.map(\.name) == ["accept-language", "cookie", "dnt"])
        #expect(
            candidate.differences.map(\.stored) == ["de", Sample.fingerprint(name: "cookie", value: "secret=1"), nil])
        #expect(
            candidate.differences.map(\.present) == [nil, Sample.fingerprint(name: "cookie", value: "secret=2"), "1"])
        #expect(!explanation.description.contains("secret"))
        #expect(try #require(Self.explain(asked, [stored]).candidates.first).differences.isEmpty)
    }

    @Test("The response to one user does not match a request with another user's credentials")
    func credentials() throws {
        let stored = Sample.stored("Cache-Control: max-age=60")
        let explanation = Self.explain(Sample.request("Authorization: Basic x"), [stored])
        let difference = try #require(explanation.candidates.first?.differences.first)
        #expect(difference.name == "authorization")
        #expect(difference.stored == nil)
        #expect(difference.present == Sample.fingerprint(name: "authorization", value: "Basic x"))
    }

    @Test("The selected response comes first; the explanation has validators, directives and parts")
    func candidate() throws {
        let other = Sample.stored(
            Self.vary, "Cache-Control: max-age=1, must-revalidate, immutable, stale-if-error=9", for: Self.german)
        let chosen = Sample.stored(
            "Cache-Control: max-age=60, no-cache=\"set-cookie\"", "ETag: W/\"x\"", "Last-Modified: then")
        let explanation = Self.explain(Sample.request(), [other, chosen, Self.part(end: 40)])
        #expect(explanation.candidates.map(\.isChosen) == [true, false, false])
        let first = explanation.candidates[0]
        #expect(first.entityTag == "W/\"x\"")
        #expect(first.isEntityTagWeak)
        #expect(first.lastModified == "then")
        #expect(first.directives == ["no-cache=\"set-cookie\""])
        #expect(explanation.candidates[1].directives == ["must-revalidate", "immutable", "stale-if-error=9"])
        let part = try #require(explanation.candidates[2].part)
        #expect(part == StoredPart(bytes: 0..<40, completeLength: 100))
    }

    @Test("RFC 9111 §4.3.2: marks a hit that the caller's own condition turns into a 304")
    func notModified() {
        let stored = Sample.stored("Cache-Control: max-age=60", #"ETag: "v1""#)
        #expect(Self.explain(Sample.request(#"If-None-Match: "v1""#), [stored]).isNotModified)
        #expect(!Self.explain(Sample.request(#"If-None-Match: "v2""#), [stored]).isNotModified)
        #expect(!Self.explain(Sample.request(#"If-None-Match: "v1""#), [stored], at: 60).isNotModified)
    }
}
