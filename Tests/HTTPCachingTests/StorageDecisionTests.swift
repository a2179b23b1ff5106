internal import TestSupport

/// The effect of a reply on the store, with the rule that decided it.
private enum Effect: Equatable {
    case stored(Rule)
    /// Stores nothing, and leaves the stored responses alone.
    case passed(Rule)
    /// Stores nothing, and removes the stored responses.
    case removed(Rule)
}

@Suite struct StorageDecisionTests {
    private func decide(
        _ lines: String..., status: HTTPResponse.Status = .ok, to request: HTTPRequest = Sample.request(),
        policy: CachePolicy = CachePolicy()
    ) -> StorageDecision {
        StorageDecision(status: status, fields: Sample.fields(lines), request: request, policy: policy)
    }

    /// The effect of a reply with these directives in `Cache-Control`, or with the fields of `lines`.
    private func effect(
        _ control: String? = nil, _ lines: String..., status: HTTPResponse.Status = .ok,
        to request: HTTPRequest = Sample.request(), policy: CachePolicy = CachePolicy()
    ) -> Effect {
        let fields = Sample.fields((control.map { ["Cache-Control: \($0)"] } ?? []) + lines)
        return effect(StorageDecision(status: status, fields: fields, request: request, policy: policy))
    }

    private func effect(_ decision: StorageDecision) -> Effect {
        #expect(!decision.isStorable || !decision.removesStored)
        if decision.isStorable { return .stored(decision.rule) }
        return decision.removesStored ? .removed(decision.rule) : .passed(decision.rule)
    }

    // MARK: Method, status and no-store

    @Test(
        "RFC 9111 §3: only responses to GET are stored", .requirement("S01"),
        arguments: ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "QUERY", "get", "M-SEARCH"])
    func methods(name: String) throws {
        let request = Sample.request(method: try #require(HTTPRequest.Method(name)))
        #expect(effect("max-age=60", to: request) == .passed(.methodNotUnderstood))
        #expect(effect("no-store", to: request) == .passed(.methodNotUnderstood))
        #expect(effect("max-age=60") == .stored(.maxAgeDirective))
    }

    @Test("RFC 9111 §3: only final statuses, and neither a part nor a 304", .requirement("S02", "S03"))
    func statuses() {
        for code in [0, 100, 101, 103, 199, 600, 999] {
            let status = HTTPResponse.Status(code: code)
            #expect(effect("public, max-age=60", status: status) == .passed(.statusNotFinal), "\(code)")
        }
        for status in [HTTPResponse.Status.partialContent, .notModified] {
            #expect(effect("public, max-age=60", status: status) == .passed(.statusNotUnderstood), "\(status)")
        }
    }

    @Test("RFC 9111 §5.2.2.5: a no-store response removes the stored one", .requirement("S04", "S05", "B6"))
    func noStore() {
        #expect(effect("no-store") == .removed(.noStore))
        #expect(effect("max-age=60, no-store, public") == .removed(.noStore))
        #expect(effect("no-store", status: .partialContent) == .removed(.noStore))
    }

    @Test(
        "An error with no-store leaves the last good response alone", .requirement("S05"),
        arguments: [404, 429, 500, 503])
    func noStoreError(code: Int) {
        #expect(effect("no-store", status: HTTPResponse.Status(code: code)) == .passed(.noStore))
    }

    @Test("The reply to a range or a precondition answers no other request", .requirement("G12"))
    func requestSpecific() {
        #expect(effect("max-age=60, public", status: 416) == .passed(.rangeNotSatisfiable))
        #expect(effect("max-age=60, public", status: 412) == .passed(.preconditionFailed))
    }

    @Test("RFC 9111 §5.2.1.5: a no-store request stores nothing; the stored response stays", .requirement("S06"))
    func requestNoStore() {
        let request = Sample.request("Cache-Control: no-store")
        #expect(effect("max-age=60", to: request) == .passed(.requestNoStore))
        #expect(effect("no-store, max-age=60", to: request) == .removed(.noStore))
    }

    @Test("RFC 9111 §5.2.2.3: must-understand overrides no-store for an understood status", .requirement("S07"))
    func mustUnderstand() {
        #expect(effect("must-understand, no-store, max-age=60") == .stored(.maxAgeDirective))
        #expect(effect("must-understand, no-store") == .stored(.heuristicallyCacheable))
        #expect(effect("no-store, must-understand", status: .notFound) == .stored(.heuristicallyCacheable))
        #expect(effect("must-understand, max-age=60", status: 599) == .passed(.mustUnderstand))
        #expect(effect("must-understand, no-store", status: 599) == .passed(.mustUnderstand))
        #expect(effect("must-understand, no-store", status: 299) == .removed(.mustUnderstand))
        #expect(effect("must-understand, max-age=60", status: 418) == .passed(.mustUnderstand))
        #expect(effect("max-age=60", status: 418) == .stored(.maxAgeDirective))
    }

    @Test(".doNotStore and a negative lifetime store nothing, and remove the stored response", .requirement("B4"))
    func doNotStore() {
        let overrides: [CachePolicy.LifetimeOverride] = [.doNotStore, .fixed(.seconds(-1)), .fixed(.milliseconds(-1))]
        for override in overrides {
            let policy = CachePolicy(lifetimeOverride: override)
            for control in ["max-age=60", "no-store"] {
                #expect(effect(control, policy: policy) == .removed(.localConfiguration))
            }
            #expect(effect(status: .serviceUnavailable, policy: policy) == .removed(.localConfiguration))
        }
        let zero = CachePolicy(lifetimeOverride: .fixed(.zero))
        #expect(effect("max-age=60", policy: zero) == .stored(.maxAgeDirective))
        #expect(effect("no-store", policy: zero) == .removed(.noStore))
    }

    @Test("Too many fields are not stored")
    func manyFields() {
        func effect(_ count: Int) -> Effect {
            var fields = HTTPFields()
            for _ in 0..<count { fields.append(Sample.field(.via, "x")) }
            return self.effect(
                StorageDecision(status: .ok, fields: fields, request: Sample.request(), policy: CachePolicy()))
        }
        #expect(effect(1000) == .stored(.heuristicallyCacheable))
        #expect(effect(1001) == .passed(.tooManyFields))
        #expect(StorageDecision.maxFieldCount == 1000)
    }

    // MARK: private and shared caches

    @Test("RFC 9111 §5.2.2.7: private makes any final status storable in a private cache", .requirement("S08"))
    func privateStatus() {
        #expect(effect("private", status: .found) == .stored(.privateDirective))
        #expect(effect("private=\"x\"", status: .found) == .stored(.privateDirective))
        #expect(effect("private", status: .found, policy: .shared) == .passed(.privateInSharedCache))
    }

    @Test("RFC 9111 §5.2.2.7: private with field names limits only shared caches", .requirement("F10"))
    func privateFields() throws {
        let exchange = Sample.exchange(#"Cache-Control: private="set-cookie", max-age=60"#, "Set-Cookie: a=b", "X: y")
        let stored = try #require(Sample.decide(on: exchange).stored)
        #expect(Sample.decide(Sample.request(), stored, at: 59) == .hit(0, age: 59, isStale: false))
        #expect(stored.head(age: 59).headerFields[.setCookie] == "a=b")
        #expect(Sample.decide(on: exchange, policy: .shared) == .relay(removeStored: false))
    }

    @Test(
        "RFC 9111 §5.2.2.7: private with an invalid argument still restricts; a malformed one permits nothing",
        .requirement("S08", "P15"),
        arguments: [
            ("private=1", true), ("private=\"\"", true), ("PRIVATE=junk", true), ("private=\",\"", true),
            ("private=", false), ("private=\"x", false), ("private; x", false), ("private x", false),
        ])
    func privateWithJunk(control: String, isReadable: Bool) {
        #expect(effect("max-age=60, \(control)", policy: .shared) == .passed(.privateInSharedCache))
        let expected = isReadable ? Effect.stored(.privateDirective) : .passed(.nothingAllowsStoring)
        #expect(effect(control, status: .found) == expected)
    }

    @Test("RFC 9111 §5.2.2.10: s-maxage makes no response storable in a private cache", .requirement("S20"))
    func sharedMaxAge() {
        #expect(effect("s-maxage=60", status: .found) == .passed(.nothingAllowsStoring))
        #expect(effect("s-maxage=60") == .stored(.heuristicallyCacheable))
        #expect(effect("s-maxage=0, proxy-revalidate") == .stored(.heuristicallyCacheable))
    }

    @Test(
        "RFC 9111 §3.5: only a shared cache needs a permission to store the response to Authorization",
        .requirement("S19", "P07"),
        arguments: [
            (nil, .passed(.authorizationInSharedCache)), ("max-age=60", .passed(.authorizationInSharedCache)),
            ("public", .stored(.publicDirective)), ("must-revalidate, max-age=60", .stored(.maxAgeDirective)),
            ("s-maxage=60", .stored(.sharedMaxAgeDirective)),
            ("proxy-revalidate, max-age=60", .passed(.authorizationInSharedCache)),
            ("private", .passed(.privateInSharedCache)), ("public, private", .passed(.privateInSharedCache)),
            ("private=\"x\", public", .passed(.privateInSharedCache)),
        ] as [(String?, Effect)])
    fileprivate func authorization(control: String?, expected: Effect) {
        let request = Sample.request("Authorization: Basic eA==")
        #expect(effect(control, to: request, policy: .shared) == expected)
        #expect(effect(control, to: request) == effect(control))
    }

    // MARK: Permissions

    @Test(
        "RFC 9111 §3: explicit freshness information makes any final status storable", .requirement("S09"),
        arguments: [299, 302, 400, 403, 429, 499, 500, 503, 599])
    func explicit(code: Int) {
        let status = HTTPResponse.Status(code: code)
        #expect(effect("public", status: status) == .stored(.publicDirective))
        #expect(effect("max-age=60", status: status) == .stored(.maxAgeDirective))
        #expect(effect(nil, "Expires: Sun, 06 Nov 1994 08:49:37 GMT", status: status) == .stored(.expiresField))
        #expect(effect("s-maxage=60", status: status, policy: .shared) == .stored(.sharedMaxAgeDirective))
        #expect(effect("must-revalidate", status: status) == .passed(.nothingAllowsStoring))
    }

    @Test("RFC 9111 §3: otherwise, only statuses that are cacheable by default are storable", .requirement("S10"))
    func implicit() {
        let cacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
        for code in 100...999 {
            let decision = decide("ETag: \"a\"", status: HTTPResponse.Status(code: code))
            #expect(decision.isStorable == cacheable.contains(code), "\(code)")
            #expect(!decision.removesStored, "\(code)")
        }
    }

    @Test("A stored response names the most explicit permission", .requirement("S08", "S09", "S10", "S20"))
    func permissions() {
        #expect(effect("s-maxage=60, max-age=60, public", policy: .shared) == .stored(.sharedMaxAgeDirective))
        #expect(effect("s-maxage=60, max-age=60, public") == .stored(.maxAgeDirective))
        #expect(effect("public", "Expires: 0") == .stored(.expiresField))
        #expect(effect("max-age=x", "Expires: 0") == .stored(.expiresField))
        #expect(effect("public, private", status: .found) == .stored(.publicDirective))
        #expect(effect("private=\"x\"") == .stored(.privateDirective))
        #expect(effect("must-revalidate") == .stored(.heuristicallyCacheable))
    }

    @Test(
        "A malformed directive permits nothing", .requirement("S08", "S09", "S10"),
        arguments: [
            "max-age=x", "max-age=", "max-age=60; x", "x; max-age=60", "ext==max-age=60", #"ext==max-age=60, x", y"#,
            "private; x", "x; private", "ext==private", "public; x", "x; public", #"ext="public, max-age=60, private"#,
        ])
    func unreadable(control: String) {
        #expect(effect(control, status: .found) == .passed(.nothingAllowsStoring))
        #expect(effect(control) == .stored(.heuristicallyCacheable))
    }

    @Test(
        "A directive that is malformed for a shared cache permits nothing", .requirement("S09", "S10"),
        arguments: ["s-maxage=x", "x; s-maxage=60"])
    func unreadableForShared(control: String) {
        #expect(effect(control, status: .found, policy: .shared) == .passed(.nothingAllowsStoring))
        #expect(effect(control, policy: .shared) == .stored(.heuristicallyCacheable))
    }

    @Test("RFC 9111 §4.2.1: of conflicting directives the more restrictive wins", .requirement("P07"))
    func conflicts() {
        #expect(effect("public, no-store") == .removed(.noStore))
        #expect(effect("public, private", policy: .shared) == .passed(.privateInSharedCache))
    }

    @Test("no-store after an unclosed quote counts", .requirement("P13"))
    func unterminated() { #expect(effect(#"max-age=60, ext="x, no-store"#) == .removed(.noStore)) }

    @Test("Stores a response with neither freshness nor validator", .requirement("F07"))
    func nothingToGoBy() { #expect(effect(nil, "X: y") == .stored(.heuristicallyCacheable)) }

    @Test("Pragma and Warning of a response have no effect", .requirement("F12", "F13"))
    func pragma() {
        #expect(effect(nil, "Pragma: no-cache", "Warning: 110 - \"stale\"") == .stored(.heuristicallyCacheable))
    }

    @Test("RFC 9111 §3.1: fields for proxies do not prevent storing", .requirement("S13"))
    func proxyFields() {
        let answer = effect(nil, "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: x")
        #expect(answer == .stored(.heuristicallyCacheable))
        #expect(effect("max-age=60", to: Sample.request("Proxy-Authorization: x")) == .stored(.maxAgeDirective))
    }

    @Test("A rule has its section and its text")
    func description() {
        #expect(Rule.maxAgeDirective.description == "RFC 9111 §3: a max-age response directive")
        let rules: [Rule] = [
            .localConfiguration, .methodNotUnderstood, .statusNotFinal, .statusNotUnderstood, .mustUnderstand, .noStore,
            .requestNoStore, .privateInSharedCache, .authorizationInSharedCache, .preconditionFailed,
            .rangeNotSatisfiable, .nothingAllowsStoring, .tooManyFields, .postNotCacheable, .publicDirective,
            .privateDirective, .expiresField, .maxAgeDirective, .sharedMaxAgeDirective, .heuristicallyCacheable,
            .postCacheable,
        ]
        #expect(Set(rules).count == rules.count)
        #expect(rules.allSatisfy { $0.section.hasPrefix("RFC 911") && !$0.phrase.contains("\n") })
    }

    // MARK: POST

    private func post(
        _ lines: String..., location: String? = "/a?q", status: HTTPResponse.Status = .ok,
        policy: CachePolicy = CachePolicy(), path: String? = "/a?q", field: String? = nil
    ) -> Bool {
        var request = Sample.request(method: .post)
        request.path = path
        if let field { request.headerFields += Sample.fields([field]) }
        let fields = Sample.fields(lines + (location.map { ["Content-Location: \($0)"] } ?? []))
        let decision = StorageDecision(status: status, fields: fields, request: request, policy: policy)
        return decision.isStorable && decision.rule == .postCacheable
    }

    @Test(
        "RFC 9110 §9.3.3: a POST is storable if Content-Location is its target", .requirement("S15"),
        arguments: [
            ("/a?q", true), ("a?q", true), ("?q", true), ("https://example.com/a?q", true),
            ("HTTPS://EXAMPLE.com:443/a?q", true), ("//example.com/a?q", true), ("./a?q#f", true), ("/b/../a?q", true),
            ("", true), (" /a?q ", true), (nil, false), ("/a", false), ("/a?", false), ("/a?Q", false), ("/b?q", false),
            ("/a/?q", false), ("a", false), ("http://example.com/a?q", false), ("https://example.org/a?q", false),
            ("https://example.com:444/a?q", false), ("/a?q q", false), ("urn:a", false),
        ] as [(String?, Bool)])
    func postTarget(location: String?, expected: Bool) {
        #expect(post("Cache-Control: max-age=60", location: location) == expected)
    }

    @Test(
        "RFC 9110 §9.3.3: a POST needs explicit freshness", .requirement("S15"),
        arguments: [
            ("Cache-Control: max-age=60", true, true), ("Cache-Control: max-age=0", true, true),
            ("Expires: Sun, 06 Nov 1994 08:49:37 GMT", true, true), ("Expires: 0", true, true),
            ("Cache-Control: s-maxage=60", false, true),
            ("X: y", false, false), ("Cache-Control: public", false, false), ("Cache-Control: private", false, false),
            ("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", false, false), ("Cache-Control: max-age=x", false, false),
        ])
    func postFreshness(line: String, isPrivate: Bool, isShared: Bool) {
        #expect(post(line) == isPrivate)
        #expect(post(line, policy: .shared) == isShared)
    }

    @Test("RFC 9111 §5.3: max-age of a POST overrides Expires, even if malformed", .requirement("S15"))
    func postConflict() {
        for policy in [CachePolicy(), .shared] {
            #expect(post("Cache-Control: max-age=60", "Expires: 0", policy: policy))
            #expect(!post("Cache-Control: max-age=x", "Expires: 0", policy: policy))
        }
    }

    @Test("A missing or repeated Content-Location makes a POST unstorable", .requirement("S15"))
    func postWithoutTarget() {
        #expect(!post("Cache-Control: max-age=60", "Location: /a?q", location: nil))
        #expect(!post("Cache-Control: max-age=60", "Content-Location: /a?q"))
        for path in ["/", "", nil] { #expect(post("Cache-Control: max-age=60", location: "/", path: path)) }
    }

    @Test("RFC 9110 §8.7: only a 200 to a POST equals the answer to a GET", .requirement("S15"))
    func postStatus() {
        var request = Sample.request(method: .post)
        request.path = "/a?q"
        let location = "Content-Location: /a?q"
        for code in 100...599 {
            let status = HTTPResponse.Status(code: code)
            let expected = code == 200 ? Effect.stored(.postCacheable) : .passed(.postNotCacheable)
            #expect(effect("max-age=60", location, status: status, to: request) == expected, "\(code)")
            // A response that is not cacheable removes nothing.
            let forbidden = effect("no-store", location, status: status, to: request)
            #expect(forbidden == .passed(.postNotCacheable), "\(code)")
        }
        for control in ["max-age=60", "no-store"] {
            #expect(effect(control, to: Sample.request(method: .post)) == .passed(.postNotCacheable))
        }
    }

    @Test("Rules that forbid storing the response to a GET apply to a POST", .requirement("S15", "S04", "S06"))
    func postRefusals() {
        #expect(!post("Cache-Control: max-age=60, no-store"))
        #expect(!post("Cache-Control: max-age=60", field: "Cache-Control: no-store"))
        #expect(!post("Cache-Control: max-age=60, private", policy: .shared))
        #expect(!post("Cache-Control: max-age=60", policy: .shared, field: "Authorization: x"))
        #expect(!post("Cache-Control: max-age=60", policy: CachePolicy(lifetimeOverride: .doNotStore)))
        // PUT and PATCH have no such rule.
        var request = Sample.request(method: .put)
        request.path = "/a?q"
        #expect(!decide("Cache-Control: max-age=60", "Content-Location: /a?q", to: request).isStorable)
    }
}
