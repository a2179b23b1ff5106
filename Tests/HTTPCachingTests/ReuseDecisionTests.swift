internal import TestSupport

@Suite struct ReuseDecisionTests {
    private let minute = Sample.stored("Cache-Control: max-age=60", "ETag: \"a\"")

    private func conditional(_ tag: String, _ request: HTTPRequest = Sample.request()) -> HTTPRequest {
        var request = request
        request.headerFields[.ifNoneMatch] = tag
        return request
    }

    // MARK: Use

    @Test("RFC 9111 §5.2.2.7: a shared cache does not use a response that a private cache stored for its user")
    func privateInShared() {
        let response = Sample.stored("Cache-Control: private, max-age=60", "ETag: \"a\"")
        #expect(Outcome(Sample.decide(Sample.request(), response)) == .hit)
        let forced = CachePolicy(lifetimeOverride: .immutable, isShared: true)
        for seconds in [0, 60] as [Int64] {
            #expect(Sample.decide(Sample.request(), response, policy: .shared, at: seconds) == .forward(.miss))
            #expect(Sample.decide(Sample.request(), response, policy: forced, at: seconds) == .forward(.miss))
        }
        #expect(
            StaleFallback.choose(
                for: Sample.request(), candidates: [response], status: nil, policy: .shared,
                now: Sample.time(60), fingerprint: Sample.fingerprint) == nil)
        #expect(Sample.decide(Sample.request(), response, minute, policy: .shared) == .hit(1, age: 0, isStale: false))
    }

    @Test("A fresh response answers, a stale one is validated", .requirement("F01", "B1"))
    func freshness() {
        #expect(Sample.decide(Sample.request(), minute, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Sample.decide(Sample.request(), minute, at: 60) == .validate(0, conditional("\"a\""), .stale))
        let bare = Sample.stored("Cache-Control: max-age=60")
        #expect(Sample.decide(Sample.request(), bare, at: 60) == .forward(.stale))
    }

    @Test("A response from the future is validated", .requirement("A07", "B1"))
    func clockSetBack() {
        #expect(Outcome(Sample.decide(Sample.request(), minute, at: -5)) == .hit)
        #expect(Outcome(Sample.decide(Sample.request(), minute, at: -6)) == .validate)
    }

    @Test("RFC 9111 §5.2.2.4: no-cache is validated even if fresh, whatever the request allows", .requirement("F08"))
    func noCache() {
        let response = Sample.stored("Cache-Control: no-cache, max-age=60", "ETag: \"a\"")
        #expect(Sample.decide(Sample.request(), response) == .validate(0, conditional("\"a\""), .stale))
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: max-stale"), response)) == .validate)
    }

    @Test("Of conflicting directives the more restrictive wins", .requirement("P07"))
    func conflict() {
        let response = Sample.stored("Cache-Control: max-age=60, no-cache, immutable, public", "ETag: \"a\"")
        #expect(Outcome(Sample.decide(Sample.request(), response)) == .validate)
    }

    @Test("RFC 9111 §5.2.2.2: a fresh response with must-revalidate answers", .requirement("F11"))
    func mustRevalidate() {
        let response = Sample.stored("Cache-Control: must-revalidate, max-age=60", "ETag: \"a\"")
        #expect(Sample.decide(Sample.request(), response, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Outcome(Sample.decide(Sample.request(), response, at: 60)) == .validate)
    }

    // MARK: Request directives

    @Test(
        "RFC 9111 §5.2.1.1: max-age limits the age", .requirement("Q01"),
        arguments: [
            ("max-age=10", 10, .hit), ("max-age=10", 11, .validate), ("max-age=100", 59, .hit),
            ("max-age=100", 60, .validate), ("max-age=100, max-stale", 60, .staleHit),
            ("max-age=70, max-stale", 71, .validate), ("max-age=x", 0, .validate),
            ("max-age=x, max-stale", 0, .validate), ("max-age=0", 0, .validate), ("max-age=1", 0, .hit),
        ] as [(String, Int64, Outcome)])
    func maxAge(control: String, at: Int64, expected: Outcome) {
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: \(control)"), minute, at: at)) == expected)
    }

    @Test(
        "RFC 9111 §5.2.1.2: max-stale allows staleness up to its argument, or any", .requirement("Q02"),
        arguments: [
            ("max-stale=5", 65, .staleHit), ("max-stale=5", 66, .validate), ("max-stale=0", 60, .staleHit),
            ("max-stale", 1_000_000, .staleHit), ("max-stale=x", 61, .validate), ("max-stale=5", 59, .hit),
            ("max-stale=99999999999", 2_000_000_000, .staleHit),
        ] as [(String, Int64, Outcome)])
    func maxStale(control: String, at: Int64, expected: Outcome) {
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: \(control)"), minute, at: at)) == expected)
    }

    @Test("Only max-stale without a value allows the unknown staleness of a future response", .requirement("Q02"))
    func staleFromFuture() {
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: max-stale=9999"), minute, at: -60)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: max-stale"), minute, at: -60)) == .staleHit)
    }

    @Test(
        "RFC 9111 §5.2.1.3: min-fresh asks for a lifetime of at least age + n", .requirement("Q03"),
        arguments: [
            ("min-fresh=10", 50, .hit), ("min-fresh=10", 51, .validate), ("min-fresh=0", 59, .hit),
            ("min-fresh=x", 0, .validate), ("min-fresh=10, max-stale", 51, .validate),
            ("min-fresh=99999999999", 0, .validate),
        ] as [(String, Int64, Outcome)])
    func minFresh(control: String, at: Int64, expected: Outcome) {
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: \(control)"), minute, at: at)) == expected)
    }

    @Test(
        "RFC 9111 §5.2.1.4: no-cache validates with the stored validators", .requirement("Q04"),
        arguments: ["Cache-Control: no-cache", "Cache-Control: no-cache=\"x\"", "Cache-Control: max-stale, no-cache"])
    func requestNoCache(line: String) {
        let request = Sample.request(line)
        #expect(Sample.decide(request, minute) == .validate(0, conditional("\"a\"", request), .request))
        #expect(Sample.decide(request, minute, at: 60) == .validate(0, conditional("\"a\"", request), .stale))
        #expect(Sample.decide(request, Sample.stored("Cache-Control: max-age=60")) == .forward(.request))
    }

    @Test("RFC 9111 §5.4: Pragma: no-cache counts only without Cache-Control", .requirement("F12"))
    func pragma() {
        #expect(Outcome(Sample.decide(Sample.request("Pragma: no-cache"), minute)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request("pragma: foo, No-Cache"), minute)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request("Pragma: foo"), minute)) == .hit)
        #expect(Outcome(Sample.decide(Sample.request("Pragma: no-cache", "Cache-Control: max-age=5"), minute)) == .hit)
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control:", "Pragma: no-cache"), minute)) == .hit)
    }

    @Test(
        "RFC 9111 §5.2.2: no request can allow serving stale if the response forbids it", .requirement("Q05", "R01"),
        arguments: ["must-revalidate", "no-cache"])
    func responseOutranks(directive: String) {
        let response = Sample.stored("Cache-Control: max-age=60, \(directive)", "ETag: \"a\"")
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: max-stale"), response, at: 60)) == .validate)
        #expect(
            Sample.decide(Sample.request("Cache-Control: max-stale, only-if-cached"), response, at: 60)
                == .unsatisfiable)
    }

    @Test(
        "RFC 9111 §5.2.2.8, §5.2.2.10: in a shared cache, proxy-revalidate and s-maxage also forbid it",
        .requirement("R01"), arguments: ["max-age=60, proxy-revalidate", "s-maxage=60"])
    func sharedResponseOutranks(control: String) {
        let response = Sample.stored("Cache-Control: \(control)", "ETag: \"a\"")
        let request = Sample.request("Cache-Control: max-stale")
        #expect(Outcome(Sample.decide(request, response, policy: .shared, at: 60)) == .validate)
        #expect(Outcome(Sample.decide(request, response, at: 60)) == .staleHit)
    }

    @Test("RFC 9111 §5.2.1.7: only-if-cached gets a usable stored response or a miss", .requirement("R07"))
    func onlyIfCached() {
        let request = Sample.request("Cache-Control: only-if-cached")
        #expect(Sample.decide(request, minute, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Sample.decide(request, minute, at: 60) == .unsatisfiable)
        #expect(Sample.decide(request) == .unsatisfiable)
        #expect(
            Sample.decide(Sample.request("Cache-Control: only-if-cached, max-stale"), minute, at: 60)
                == .hit(0, age: 60, isStale: true))
        #expect(Sample.decide(request, minute, policy: CachePolicy(mode: .remoteOnly)) == .unsatisfiable)
        #expect(Sample.decide(request, minute, policy: CachePolicy(mode: .revalidateAlways)) == .unsatisfiable)
        let post = Sample.request("Cache-Control: only-if-cached", method: .post)
        #expect(Sample.decide(post, minute) == .unsatisfiable)
    }

    @Test("RFC 9111 §5.2.1.5: the store may answer a request with no-store, but is not updated", .requirement("S06"))
    func requestNoStore() {
        let request = Sample.request("Cache-Control: no-store")
        #expect(Sample.decide(request, minute, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Sample.decide(request, minute, at: 60) == .forward(.stale))
    }

    @Test("RFC 8246 §2: a reload uses a fresh immutable response; a forced reload does not", .requirement("M01", "M02"))
    func immutable() {
        let response = Sample.stored("Cache-Control: max-age=60, immutable", "ETag: \"a\"")
        let reload = Sample.request("Cache-Control: max-age=0")
        #expect(Sample.decide(reload, response, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Outcome(Sample.decide(reload, response, at: 60)) == .validate)
        let anyAge = Sample.request("Cache-Control: max-age=0, max-stale")
        #expect(Outcome(Sample.decide(anyAge, response, at: 60)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: no-cache"), response)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: no-cache, max-age=0"), response)) == .validate)
        #expect(Outcome(Sample.decide(Sample.request("Cache-Control: max-age=5"), response, at: 6)) == .validate)
        #expect(Outcome(Sample.decide(reload, response, policy: CachePolicy(mode: .revalidateAlways))) == .validate)
        #expect(Sample.decide(reload, minute) == .validate(0, conditional("\"a\"", reload), .request))
    }

    @Test("RFC 8246 §3: immutable is ignored without TLS, and in a request", .requirement("M03"))
    func immutableElsewhere() {
        let response = Sample.stored("Cache-Control: max-age=60, immutable", "ETag: \"a\"")
        let plain = Sample.request("Cache-Control: max-age=0", scheme: "http")
        #expect(Outcome(Sample.decide(plain, response)) == .validate)
        let shouted = Sample.request("Cache-Control: max-age=0", scheme: "HTTPS")
        #expect(Outcome(Sample.decide(shouted, response)) == .hit)
        let request = Sample.request("Cache-Control: max-age=0, immutable")
        #expect(Outcome(Sample.decide(request, minute)) == .validate)
    }

    // MARK: Request methods

    @Test("RFC 9111 §4: a stored response to GET answers GET and HEAD", .requirement("R05"))
    func head() {
        let request = Sample.request(method: .head)
        #expect(Sample.decide(request, minute, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(Sample.decide(request, minute, at: 60) == .validate(0, conditional("\"a\"", request), .stale))
    }

    @Test(
        "RFC 9111 §4: other methods go to the origin", .requirement("R04"),
        arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "get", "M-SEARCH"])
    func otherMethods(name: String) throws {
        let method = try #require(HTTPRequest.Method(name))
        #expect(Sample.decide(Sample.request(method: method), minute) == .forward(.method))
        let local = CachePolicy(mode: .cacheOnly)
        #expect(Sample.decide(Sample.request(method: method), minute, policy: local) == .unsatisfiable)
    }

    @Test(
        "RFC 9111 §4.3.2: forwards conditions that only the origin may evaluate, and evaluates the others",
        .requirement("Q06", "C10"),
        arguments: [
            ("Range: bytes=0-1", Outcome.hit), ("If-Range: \"a\"", .hit), ("If-Match: \"a\"", .forward),
            ("If-None-Match: \"a\"", .hit), ("If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT", .hit),
            ("If-Unmodified-Since: x", .forward), ("if-none-match: *", .hit),
        ])
    func conditions(line: String, outcome: Outcome) {
        #expect(Outcome(Sample.decide(Sample.request(line), minute)) == outcome)
    }

    @Test("A request with too many fields goes to the origin unchanged")
    func manyFields() {
        var request = Sample.request()
        for _ in 0..<1000 { request.headerFields.append(Sample.field(.via, "x")) }
        #expect(Outcome(Sample.decide(request, minute)) == .hit)
        request.headerFields.append(Sample.field(.via, "x"))
        #expect(Sample.decide(request, minute) == .forward(.bypass))
    }

    // MARK: Selection

    @Test("RFC 9111 §4.1: a response that other request fields selected does not answer", .requirement("V02"))
    func vary() {
        let german = Sample.request("Accept-Language: de")
        let response = Sample.stored("Cache-Control: max-age=60", "Vary: accept-language", for: german)
        #expect(Outcome(Sample.decide(german, response)) == .hit)
        #expect(Sample.decide(Sample.request("Accept-Language: en"), response) == .forward(.varyMiss))
        #expect(Sample.decide(Sample.request(), response) == .forward(.varyMiss))
        let local = Sample.request("Accept-Language: en", "Cache-Control: only-if-cached")
        #expect(Sample.decide(local, response) == .unsatisfiable)
    }

    @Test("RFC 9111 §2: of several variants the matching one answers", .requirement("V06"))
    func variants() {
        let german = Sample.request("Accept-Language: de")
        let english = Sample.request("Accept-Language: en")
        let first = Sample.stored("Cache-Control: max-age=60", "Vary: Accept-Language", for: german)
        let second = Sample.stored("Cache-Control: max-age=60", "Vary: Accept-Language", for: english)
        #expect(Sample.decide(german, first, second) == .hit(0, age: 0, isStale: false))
        #expect(Sample.decide(english, first, second) == .hit(1, age: 0, isStale: false))
        #expect(Sample.decide(Sample.request(), first, second) == .forward(.varyMiss))
    }

    @Test("RFC 9111 §4: of several usable responses the most recent by Date answers", .requirement("V07"))
    func mostRecent() {
        let older = Sample.stored("Cache-Control: max-age=600", "Date: \(Sample.time(0))", received: 20)
        let newer = Sample.stored("Cache-Control: max-age=600", "Date: \(Sample.time(10))", received: 10)
        #expect(Sample.decide(Sample.request(), older, newer, at: 20) == .hit(1, age: 10, isStale: false))
        #expect(Sample.decide(Sample.request(), newer, older, at: 20) == .hit(0, age: 10, isStale: false))
        let received = Sample.stored("Cache-Control: max-age=600", "Date: \(Sample.time(10))", received: 15)
        #expect(Sample.decide(Sample.request(), newer, received, older, at: 20) == .hit(1, age: 10, isStale: false))
    }

    @Test("An unusable response is not a candidate", .requirement("V07"))
    func mostRecentUsable() {
        let fresh = Sample.stored("Cache-Control: max-age=600", "ETag: \"a\"")
        let stale = Sample.stored("Cache-Control: max-age=1", "ETag: \"b\"", received: 10)
        #expect(Sample.decide(Sample.request(), fresh, stale, at: 20) == .hit(0, age: 20, isStale: false))
        #expect(Sample.decide(Sample.request(), fresh, stale, at: 700) == .validate(1, conditional("\"b\""), .stale))
    }

    @Test("RFC 9111 §4.1: a response with Vary precedes a more recent one without", .requirement("V08"))
    func varyFirst() {
        let german = Sample.request("Accept-Language: de")
        let plain = Sample.stored("Cache-Control: max-age=60", received: 10)
        let varied = Sample.stored("Cache-Control: max-age=60", "Vary: Accept-Language", for: german)
        #expect(Sample.decide(german, plain, varied, at: 10) == .hit(1, age: 10, isStale: false))
        #expect(Sample.decide(german, varied, plain, at: 10) == .hit(0, age: 10, isStale: false))
        #expect(Sample.decide(Sample.request(), plain, varied, at: 10) == .hit(0, age: 0, isStale: false))
    }

    @Test("A response with a validator is validated before a more recent one without", .requirement("C01"))
    func validatorFirst() {
        let tagged = Sample.stored("ETag: \"a\"")
        let bare = Sample.stored("X: y", received: 10)
        #expect(Sample.decide(Sample.request(), tagged, bare, at: 20) == .validate(0, conditional("\"a\""), .stale))
        #expect(Sample.decide(Sample.request(), bare, tagged, at: 20) == .validate(1, conditional("\"a\""), .stale))
    }

    @Test("A response without its body neither answers nor is validated", .requirement("C2"))
    func missingBody() {
        let lost = Sample.stored("Cache-Control: max-age=60", "ETag: \"a\"", hasIntactBody: false)
        #expect(Sample.decide(Sample.request(), lost) == .forward(.miss))
        #expect(Sample.decide(Sample.request(), lost, minute) == .hit(1, age: 0, isStale: false))
        #expect(Sample.decide(Sample.request(), lost, policy: CachePolicy(mode: .cacheOnly)) == .unsatisfiable)
        #expect(Sample.decide() == .forward(.uriMiss))
    }

    @Test("RFC 9211 §2.2: the reasons have their registered names", .requirement("W02"))
    func reasons() {
        let reasons: [ForwardReason] = [.bypass, .method, .uriMiss, .varyMiss, .miss, .request, .stale]
        #expect(reasons.map(\.rawValue) == ["bypass", "method", "uri-miss", "vary-miss", "miss", "request", "stale"])
    }
}
