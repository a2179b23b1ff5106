import TestSupport

/// RFC 9111 §3, §5.2.2, and a policy that ignores the directives of responses.
@Suite struct ForcedLifetimeTests {
    private static let forced = CachePolicy(lifetimeOverride: .forced(.seconds(100)))

    private func decide(
        _ lines: String..., status: HTTPResponse.Status = .ok, to request: HTTPRequest = Sample.request(),
        policy: CachePolicy = forced
    ) -> StorageDecision {
        StorageDecision(status: status, fields: Sample.fields(lines), request: request, policy: policy)
    }

    private func outcome(
        _ control: String, _ request: HTTPRequest = Sample.request(), status: HTTPResponse.Status = .ok,
        policy: CachePolicy = forced, at seconds: Int64
    ) -> Outcome {
        let stored = Sample.stored("Cache-Control: \(control)", "ETag: \"a\"", status: status)
        return Outcome(Sample.decide(request, stored, policy: policy, at: seconds))
    }

    private static let directives = [
        "no-store", "no-cache", "no-cache=\"x\"", "must-revalidate, max-age=1", "must-understand, no-store", "private",
        "max-age=0", "max-age=x", "no-store, no-cache, must-revalidate, max-age=0", "proxy-revalidate, s-maxage=0",
    ]

    @Test("A forced lifetime stores a response despite its directives", arguments: directives)
    func storing(control: String) {
        #expect(decide("Cache-Control: \(control)", "Expires: 0").isStorable)
        let immutable = CachePolicy(lifetimeOverride: .immutable)
        #expect(decide("Cache-Control: \(control)", policy: immutable).isStorable)
    }

    @Test("A fixed lifetime does not freshen a response with no-store that another policy stored")
    func fixed() {
        let fixed = CachePolicy(lifetimeOverride: .fixed(.seconds(100)))
        #expect(outcome("no-store", policy: fixed, at: 1) == .validate)
        #expect(outcome("max-age=0", policy: fixed, at: 1) == .hit)
    }

    @Test(
        "A forced lifetime makes a response fresh despite its directives, until the lifetime ends",
        arguments: directives)
    func reusing(control: String) {
        #expect(outcome(control, at: 99) == .hit)
        #expect(outcome(control, at: 100) == .validate)
        let immutable = CachePolicy(lifetimeOverride: .immutable)
        #expect(outcome(control, policy: immutable, at: 1_000_000_000_000) == .hit)
    }

    @Test("Directives that forbid serving stale do not count under a forced lifetime", arguments: directives)
    func stale(control: String) {
        var policy = Self.forced
        policy.mode = .cacheFirst
        #expect(outcome(control, policy: policy, at: 1000) == .staleHit)
    }

    @Test("Targeted fields do not count under a forced lifetime")
    func targeted() {
        var policy = Self.forced
        policy.targetedFields = ["CDN-Cache-Control"]
        #expect(decide("CDN-Cache-Control: no-store", policy: policy).isStorable)
        let stored = Sample.stored("CDN-Cache-Control: no-cache, max-age=1")
        #expect(Outcome(Sample.decide(Sample.request(), stored, policy: policy, at: 99)) == .hit)
    }

    @Test("A forced lifetime withholds no fields that no-cache lists (RFC 9111 §5.2.2.4)")
    func withheldFields() {
        let stored = Sample.stored("Cache-Control: max-age=1, no-cache=\"x-secret\"", "X-Secret: s")
        #expect(stored.head(age: 1).headerFields.contains { $0.name.canonicalName == "x-secret" } == false)
        let fields = stored.head(age: 1, policy: Self.forced).headerFields
        #expect(fields.contains { $0.name.canonicalName == "x-secret" })
    }

    @Test("Redirects and errors keep their own lifetime", arguments: [301, 302, 404, 410, 500])
    func otherStatuses(code: Int) {
        let status = HTTPResponse.Status(code: code)
        #expect(!decide("Cache-Control: no-store", status: status).isStorable)
        #expect(outcome("max-age=10", status: status, at: 9) == .hit)
        #expect(outcome("max-age=10", status: status, at: 10) != .hit)
    }

    @Test("The directives of the request count under a forced lifetime")
    func requestDirectives() {
        #expect(!decide("X: y", to: Sample.request("Cache-Control: no-store")).isStorable)
        #expect(outcome("no-store", Sample.request("Cache-Control: no-cache"), at: 1) == .validate)
        #expect(outcome("no-store", Sample.request("Cache-Control: max-age=5"), at: 6) == .validate)
        var policy = Self.forced
        policy.mode = .revalidateAlways
        #expect(outcome("no-store", policy: policy, at: 1) == .validate)
    }

    @Test("In a shared cache, private and Authorization still count under a forced lifetime (RFC 9111 §3, §3.5)")
    func shared() {
        var policy = Self.forced
        policy.isShared = true
        #expect(decide("Cache-Control: no-store", policy: policy).isStorable)
        #expect(!decide("Cache-Control: private", policy: policy).isStorable)
        let authorized = Sample.request("Authorization: Basic eA==")
        #expect(!decide("X: y", to: authorized, policy: policy).isStorable)
        #expect(decide("Cache-Control: public", to: authorized, policy: policy).isStorable)
        #expect(outcome("s-maxage=0, proxy-revalidate", policy: policy, at: 99) == .hit)
    }

    @Test("A negative forced lifetime stores nothing; zero stores stale responses")
    func bounds() {
        let negative = CachePolicy(lifetimeOverride: .forced(.seconds(-1)))
        #expect(decide("Cache-Control: max-age=60", policy: negative).removesStored)
        let zero = CachePolicy(lifetimeOverride: .forced(.zero))
        #expect(decide("Cache-Control: no-store", policy: zero).isStorable)
        #expect(outcome("max-age=60", policy: zero, at: 0) == .validate)
    }

    @Test("A 304 with no-store freshens a response that a forced lifetime stored")
    func freshening() {
        let stored = Sample.stored("ETag: \"a\"", "Cache-Control: no-store")
        let reply = Sample.exchange("ETag: \"a\"", "Cache-Control: no-store", status: .notModified)
        guard
            case .freshen(_, answerWith: 0, removeAfterUse: let removes) =
                Sample.decide(on: reply, stored, validated: 0, policy: Self.forced)
        else {
            Issue.record("not freshened")
            return
        }
        #expect(!removes)
    }

    @Test("Under serverPolicy a stored response with no-store is stale", arguments: ["max-age=60", "public"])
    func otherPolicy(control: String) {
        func outcome(_ control: String, policy: CachePolicy = CachePolicy()) -> Outcome {
            let stored = Sample.stored(
                "Cache-Control: \(control)", "ETag: \"a\"", "Last-Modified: \(Sample.time(-1_000_000))")
            return Outcome(Sample.decide(Sample.request(), stored, policy: policy, at: 1))
        }
        #expect(outcome(control) == .hit)
        #expect(outcome("\(control), no-store") == .validate)
        #expect(outcome("\(control), no-store, must-understand") == .hit)
        #expect(outcome("\(control), no-store", policy: CachePolicy(mode: .cacheFirst)) == .staleHit)
        let fixed = CachePolicy(lifetimeOverride: .fixed(.seconds(60)))
        #expect(outcome("\(control), no-store", policy: fixed) == .validate)
    }
}
